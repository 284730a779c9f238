#include "stoker/graph/expr.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "stoker/graph/promotion.h"
#include "stoker/graph/stage.h"

namespace stoker {
namespace {

constexpr int kDeepest = 1000;
// Deeper than this a saved expression is written in pieces: files are read
// with at most 512 levels, of which an operation takes two.
constexpr int kPiece = 100;

std::optional<size_t> field_of(const Expr& expr, std::string_view key) {
  if (expr.kind == Expr::Kind::kDict) {
    const auto at = std::ranges::find(expr.keys, key);
    if (at != expr.keys.end()) return static_cast<size_t>(at - expr.keys.begin());
  } else if (expr.kind == Expr::Kind::kTuple) {
    for (size_t i = 0; i < expr.inputs.size(); ++i)
      if (key == std::to_string(i)) return i;
  }
  return std::nullopt;
}

bool has_parts(const Expr& expr) { return expr.kind != Expr::Kind::kArgument && expr.kind != Expr::Kind::kConstant; }

std::string argument_name(int i) {
  constexpr std::string_view first = "xyz";
  return i < 3 ? std::string(1, first[static_cast<size_t>(i)]) : "x" + std::to_string(i);
}

Error named(Error error, std::string_view op) {
  if (error.place().stage.empty()) error.at().stage = op;
  return error;
}

}  // namespace

// ---- building

Expr::Ref Expr::of_argument(int i) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kArgument;
  expr->argument = i;
  return expr;
}

Expr::Ref Expr::of_constant(Array value, bool weak) {
  auto expr = std::make_shared<Expr>();
  expr->constant = std::move(value);
  expr->weak = weak;
  return expr;
}

Expr::Ref Expr::of_op(std::shared_ptr<const Op> op, std::vector<Ref> inputs) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kOp;
  expr->op = std::move(op);
  expr->inputs = std::move(inputs);
  return expr;
}

Expr::Ref Expr::of_tuple(std::vector<Ref> parts) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kTuple;
  expr->inputs = std::move(parts);
  return expr;
}

Expr::Ref Expr::of_dict(std::vector<std::string> keys, std::vector<Ref> parts) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kDict;
  expr->keys = std::move(keys);
  expr->inputs = std::move(parts);
  return expr;
}

Expr::Ref Expr::of_get(Ref from, std::string key) {
  if (const std::optional<size_t> field = field_of(*from, key)) return from->inputs[*field];
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kGet;
  expr->inputs.push_back(std::move(from));
  expr->key = std::move(key);
  return expr;
}

Expr::~Expr() {
  std::vector<Ref> loose = std::move(inputs);
  while (!loose.empty()) {
    const Ref last = std::move(loose.back());
    loose.pop_back();
    if (!last || last.use_count() > 1) continue;
    auto& inner = const_cast<Expr&>(*last).inputs;  // ours alone, and not const where it was made
    loose.insert(loose.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
    inner.clear();
  }
}

Value::Value(int64_t value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(double value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(bool value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(const char* text) : Value(Expr::of_constant(Array::of_bytes(text), false)) {}
Value::Value(Array value) : Value(Expr::of_constant(std::move(value), false)) {}

Value dict(std::vector<std::pair<std::string, Value>> fields) {
  std::vector<std::string> keys;
  std::vector<Expr::Ref> parts;
  for (auto& [key, value] : fields) {
    keys.push_back(std::move(key));
    parts.push_back(value.expr());
  }
  return Value(Expr::of_dict(std::move(keys), std::move(parts)));
}

// ---- compiling

namespace {

Result<void> check_node(const Expr& expr, int arguments) {
  switch (expr.kind) {
    case Expr::Kind::kArgument:
      if (expr.argument < 0 || expr.argument >= arguments)
        return Error::invalid("argument ", expr.argument, " is used in a function of ", arguments,
                              "; a value of another function may have been used");
      return {};
    case Expr::Kind::kConstant: return {};
    case Expr::Kind::kOp: {
      if (!expr.op) return Error::internal("an expression has a call without an operation");
      const OpType& type = expr.op->type();
      if (type.inputs < 0 || static_cast<size_t>(type.inputs) == expr.inputs.size()) return {};
      return Error::invalid(type.name, " takes ", type.inputs, type.inputs == 1 ? " input" : " inputs", ", found ",
                            expr.inputs.size());
    }
    case Expr::Kind::kTuple: return {};
    case Expr::Kind::kDict: {
      std::vector<std::string> keys = expr.keys;
      std::ranges::sort(keys);
      const auto twice = std::ranges::adjacent_find(keys);
      if (twice != keys.end()) return Error::invalid("a dict has the key '", *twice, "' twice");
      return {};
    }
    case Expr::Kind::kGet: {
      const Expr& from = *expr.inputs[0];
      if (from.kind == Expr::Kind::kTuple)
        return Error::invalid("no field '", expr.key, "' in a tuple of ", from.inputs.size());
      if (from.kind == Expr::Kind::kDict) {
        const std::vector<std::string_view> known(from.keys.begin(), from.keys.end());
        const std::string_view near = nearest(expr.key, known);
        return Error::invalid("no field named '", expr.key, "'",
                              near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
      }
      if (from.kind == Expr::Kind::kOp || from.kind == Expr::Kind::kConstant)
        return Error::invalid("field '", expr.key,
                              "' is asked of a single component; for an item of an array use getitem");
      return {};
    }
  }
  return {};
}

// Nodes reached from `root`, each once, inputs before users; and how deep each is.
struct Order {
  std::vector<const Expr*> nodes;
  std::unordered_map<const Expr*, int> height;
};

Result<Order> order_of(const Expr& root) {
  Order order;
  std::vector<std::pair<const Expr*, size_t>> open{{&root, 0}};
  while (!open.empty()) {
    auto& [expr, next] = open.back();
    if (next < expr->inputs.size()) {
      const Expr* input = expr->inputs[next++].get();
      if (!input) return Error::internal("an expression has an input that is null");
      if (!order.height.contains(input)) open.emplace_back(input, 0);
      continue;
    }
    int height = 1;
    for (const Expr::Ref& input : expr->inputs) height = std::max(height, order.height.at(input.get()) + 1);
    if (height > kDeepest)
      return Error::invalid("an expression is nested deeper than ", kDeepest, "; give parts of it to several maps");
    if (order.height.emplace(expr, height).second) order.nodes.push_back(expr);
    open.pop_back();
  }
  return order;
}

// A constant is there once for a batch, not once for each item.
bool works_by_item(const std::vector<const Expr*>& nodes) {
  bool any = false;
  for (const Expr* expr : nodes) {
    if (expr->kind == Expr::Kind::kConstant) return false;
    if (expr->kind != Expr::Kind::kOp) continue;
    if (!expr->op->type().by_item) return false;
    any = true;
  }
  return any;
}

}  // namespace

Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::compile(Expr::Ref result, int arguments) {
  if (arguments < 1) return Error::invalid("a function takes at least one argument");
  if (!result) return Error::invalid("a function gives a value back");
  STOKER_TRY(Order order, order_of(*result));
  std::shared_ptr<Program> program(new Program(std::move(result), arguments));
  for (const Expr* expr : order.nodes) {
    STOKER_TRY(check_node(*expr, arguments));
    if (expr->kind != Expr::Kind::kOp) continue;
    program->random_ = program->random_ || expr->op->type().random;
    program->waits_ = program->waits_ || expr->op->type().waits;
  }
  program->by_item_ = works_by_item(order.nodes);
  program->order_ = std::move(order.nodes);
  program->find_chains();
  return std::shared_ptr<const Program>(std::move(program));
}

// ---- chains

namespace {

// Who wants what a node gives; the result of the whole counts as one.
struct Uses {
  int count = 0;
  const Expr* user = nullptr;
};

// The operation as a link; nothing when it has other inputs than `from` and
// constants.
std::optional<ChainLink> link_of(const Expr& expr, const Expr* from, uint64_t draws) {
  ChainLink link{expr.op, 0, {}, draws};
  for (size_t i = 0; i < expr.inputs.size() && from; ++i) {
    const Expr& input = *expr.inputs[i];
    if (&input == from)
      link.input = i;
    else if (input.kind == Expr::Kind::kConstant)
      link.constants.push_back({input.constant, input.weak});
    else
      return std::nullopt;
  }
  return link;
}

}  // namespace

void Program::find_chains() {
  std::unordered_map<const Expr*, Uses> uses;
  std::unordered_map<const Expr*, uint64_t> draws;
  for (const Expr* expr : order_) {
    for (const Expr::Ref& input : expr->inputs) uses[input.get()] = {uses[input.get()].count + 1, expr};
    if (expr->kind == Expr::Kind::kOp && expr->op->type().random) draws.emplace(expr, draws.size());
  }
  ++uses[result_.get()].count;
  for (const Expr* first : order_) {
    if (first->kind != Expr::Kind::kOp || !first->op->type().chain) continue;
    std::vector<const Expr*> exprs{first};
    std::vector<ChainLink> links{*link_of(*first, nullptr, draws.contains(first) ? draws.at(first) : 0)};
    while (uses[exprs.back()].count == 1) {
      const Expr* user = uses[exprs.back()].user;
      if (!user || user->kind != Expr::Kind::kOp) break;
      std::optional<ChainLink> link = link_of(*user, exprs.back(), draws.contains(user) ? draws.at(user) : 0);
      if (!link) break;
      links.push_back(*std::move(link));
      exprs.push_back(user);
    }
    Chain chain = first->op->type().chain(links);
    if (!chain.op) continue;
    exprs.resize(chain.length);
    joined_.push_back({std::move(chain.op), std::move(exprs)});
  }
}

std::vector<std::string> Program::chains() const {
  std::vector<std::string> words;
  for (const Joined& joined : joined_) {
    std::string& line = words.emplace_back();
    for (const Expr* link : joined.links) line += (line.empty() ? "" : ", ") + std::string(link->op->type().name);
  }
  return words;
}

// ---- cutting

namespace {

// Rewrites an expression so that what waits is an argument more.
class Cutter {
 public:
  explicit Cutter(int arguments) : arguments_(arguments) {}

  Expr::Ref rest_of(const Expr::Ref& expr) {
    if (const auto known = made_.find(expr.get()); known != made_.end()) return known->second;
    Expr::Ref made = expr->kind == Expr::Kind::kOp && expr->op->type().waits ? read(expr) : rebuilt(expr);
    made_.emplace(expr.get(), made);
    return made;
  }

  // What the first part gives: the arguments, then what waited.
  Expr::Ref reads() const {
    std::vector<Expr::Ref> parts;
    for (int i = 0; i < arguments_; ++i) parts.push_back(Expr::of_argument(i));
    parts.insert(parts.end(), reads_.begin(), reads_.end());
    return Expr::of_tuple(std::move(parts));
  }
  int arguments() const { return arguments_ + static_cast<int>(reads_.size()); }

 private:
  Expr::Ref read(const Expr::Ref& expr) {
    reads_.push_back(expr);
    return Expr::of_argument(arguments() - 1);
  }
  Expr::Ref rebuilt(const Expr::Ref& expr) {
    std::vector<Expr::Ref> inputs;
    for (const Expr::Ref& input : expr->inputs) inputs.push_back(rest_of(input));
    if (inputs == expr->inputs) return expr;
    switch (expr->kind) {
      case Expr::Kind::kOp: return Expr::of_op(expr->op, std::move(inputs));
      case Expr::Kind::kDict: return Expr::of_dict(expr->keys, std::move(inputs));
      case Expr::Kind::kGet: return Expr::of_get(std::move(inputs[0]), expr->key);
      default: return Expr::of_tuple(std::move(inputs));
    }
  }

  const int arguments_;
  std::vector<Expr::Ref> reads_;
  std::unordered_map<const Expr*, Expr::Ref> made_;
};

}  // namespace

std::optional<Program::Parts> Program::cut() const {
  if (!waits_) return std::nullopt;
  Cutter cutter(arguments_);
  const Expr::Ref last = cutter.rest_of(result_);
  const auto reads = compile(cutter.reads(), arguments_), rest = compile(last, cutter.arguments());
  if (!reads || !rest || (*reads)->random()) return std::nullopt;
  if (std::ranges::none_of((*rest)->order_, [](const Expr* expr) { return expr->kind == Expr::Kind::kOp; }))
    return std::nullopt;
  return Parts{*reads, *rest};
}

// What an expression comes to once the element's structure is known: tuples,
// dicts and fields are gone, and what is left are calls on numbered columns.
// First come the element's own, then constants, then one for each call.
struct Program::Plan {
  static constexpr int kUnknownColumn = -1;  // of an element whose structure is not known

  struct Constant {
    Array value;
    Column column;  // of one row; of a plain number, as it would stand alone
    bool weak = false;
  };
  struct Call {
    const Op* op = nullptr;
    std::vector<int> inputs;
    const Op* run_op = nullptr;  // what runs for it: `op`, a whole chain for its last link, null for the other links
    std::vector<int> run_inputs;
    int result = 0;
    bool constant = false;       // made once for all rows
    std::optional<size_t> leaf;  // of the result, if it is one
    uint64_t salt = 0;           // its number among the calls that draw
    std::vector<int> last_uses;  // columns that nobody wants afterwards
  };

  int arguments = 0;  // columns of the element
  std::vector<Constant> constants;
  std::vector<Call> calls;
  const Nest* nest = nullptr;  // of the result; null: not known
  std::vector<int> results;    // its leaves

  const Constant* constant_at(int column) const {
    const int i = column - arguments;
    return i >= 0 && i < static_cast<int>(constants.size()) ? &constants[static_cast<size_t>(i)] : nullptr;
  }
  const Call* call_at(int column) const {
    const int i = column - arguments - static_cast<int>(constants.size());
    return i >= 0 ? &calls[static_cast<size_t>(i)] : nullptr;
  }
  bool is_plain(int column) const { return constant_at(column) && constant_at(column)->weak; }
  int columns() const { return arguments + static_cast<int>(constants.size() + calls.size()); }

  // Gives the plain numbers among a call's inputs their type.
  Result<void> settle_plain(const Call& call, std::vector<Column>& inputs, OpRows& rows) const;
  DType plain_type_at(const Call& call, size_t input, std::optional<DType> others) const;
  Result<Column> run(const Call& call, std::vector<Column>& columns, OpRows& rows, Context& context) const;
  Result<std::vector<Column>> results_of(Run& run, Context& context) const;
};

namespace {

// A value while the plan is made: its structure and its columns.
struct Shape {
  const Nest* nest = nullptr;  // null: not known
  std::vector<int> columns;

  static Shape leaf(int column) { return {Nest::leaf(), {column}}; }
};

Result<Shape> field_shape(const Shape& from, const std::string& key) {
  if (!from.nest) return Shape{};
  const std::optional<size_t> field = from.nest->find(key);
  if (!field && from.nest->kind() == Nest::Kind::kLeaf)
    return Error::invalid("field '", key, "' is asked of a single component; for an item of an array use getitem");
  if (!field) {
    std::vector<std::string_view> known;
    for (const auto& [name, part] : from.nest->fields()) known.push_back(name);
    const std::string_view near = nearest(key, known);
    return Error::invalid("no field named '", key, "' in ", from.nest->words(),
                          near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
  }
  const Nest* part = from.nest->fields()[*field].second;
  const auto first = from.columns.begin() + static_cast<ptrdiff_t>(from.nest->first_leaf(*field));
  return Shape{part, {first, first + static_cast<ptrdiff_t>(part->leaf_count())}};
}

Shape joined(const Expr& expr, const std::vector<const Shape*>& parts) {
  Shape shape;
  std::vector<const Nest*> nests;
  for (const Shape* part : parts) {
    if (!part->nest) return {};
    nests.push_back(part->nest);
  }
  if (expr.kind == Expr::Kind::kTuple) {
    shape.nest = Nest::tuple(nests);
  } else {
    std::vector<Nest::Field> fields;
    for (size_t i = 0; i < nests.size(); ++i) fields.emplace_back(expr.keys[i], nests[i]);
    shape.nest = Nest::dict(std::move(fields));
  }
  shape.columns.resize(shape.nest->leaf_count());
  for (size_t i = 0; i < parts.size(); ++i)
    std::ranges::copy(parts[i]->columns, shape.columns.begin() + static_cast<ptrdiff_t>(shape.nest->first_leaf(i)));
  return shape;
}

Column one_row(const Array& value) {
  std::vector<int64_t> dims{1};
  dims.insert(dims.end(), value.dims().begin(), value.dims().end());
  return Column(value.reshaped(dims));
}

}  // namespace

Result<std::shared_ptr<const Program::Plan>> Program::make_plan(const Nest* input) const {
  auto plan = std::make_shared<Plan>();
  Shape element{input, {}};
  if (input) plan->arguments = static_cast<int>(input->leaf_count());
  for (int i = 0; i < plan->arguments; ++i) element.columns.push_back(i);
  if (input && arguments_ > 1 && input->fields().size() != static_cast<size_t>(arguments_))
    return Error::invalid(
        "the function takes ", arguments_, " arguments and the element ", input->words(), " has ",
        input->fields().size() < 2 ? "1 component" : std::to_string(input->fields().size()) + " components");

  for (const Expr* expr : order_) {
    if (expr->kind != Expr::Kind::kConstant) continue;
    STOKER_TRY(Array alone, expr->weak ? plain_as(expr->constant, plain_type(expr->constant), Plain::kOwn)
                                       : Result<Array>(expr->constant));
    plan->constants.push_back({expr->constant, one_row(alone), expr->weak});
  }

  std::unordered_map<const Expr*, Shape> shapes;
  int next_constant = plan->arguments;
  int next_result = plan->arguments + static_cast<int>(plan->constants.size());
  uint64_t draws = 0;
  for (const Expr* expr : order_) {
    Shape& shape = shapes[expr];
    std::vector<const Shape*> parts;
    for (const Expr::Ref& part : expr->inputs) parts.push_back(&shapes.at(part.get()));
    switch (expr->kind) {
      case Expr::Kind::kArgument:
        if (arguments_ == 1 || !input) {
          shape = element;
        } else {
          STOKER_TRY(shape, field_shape(element, input->fields()[static_cast<size_t>(expr->argument)].first));
        }
        break;
      case Expr::Kind::kConstant: shape = Shape::leaf(next_constant++); break;
      case Expr::Kind::kTuple:
      case Expr::Kind::kDict: shape = joined(*expr, parts); break;
      case Expr::Kind::kGet: {
        STOKER_TRY(shape, field_shape(*parts[0], expr->key));
        break;
      }
      case Expr::Kind::kOp: {
        Plan::Call call;
        call.op = expr->op.get();
        call.constant = !call.op->type().random;
        for (const Shape* part : parts) {
          if (part->nest && part->nest->kind() != Nest::Kind::kLeaf)
            return named(Error::invalid("wants one component, found ", part->nest->words()), call.op->type().name);
          call.inputs.push_back(part->nest ? part->columns[0] : Plan::kUnknownColumn);
          const Plan::Call* made_by = plan->call_at(call.inputs.back());
          call.constant = call.constant && (plan->constant_at(call.inputs.back()) || (made_by && made_by->constant));
        }
        if (call.op->type().random) call.salt = draws++;
        call.result = next_result++;
        shape = Shape::leaf(call.result);
        plan->calls.push_back(std::move(call));
        break;
      }
    }
  }
  const Shape& result = shapes.at(result_.get());
  plan->nest = result.nest;
  plan->results = result.columns;

  for (Plan::Call& call : plan->calls) {
    call.run_op = call.op;
    call.run_inputs = call.inputs;
  }
  const auto call_of = [&](const Expr* expr) -> Plan::Call& {
    return plan->calls[static_cast<size_t>(plan->call_at(shapes.at(expr).columns[0]) - plan->calls.data())];
  };
  for (const Joined& joined : joined_) {
    call_of(joined.links.back()).run_inputs = call_of(joined.links.front()).inputs;
    for (const Expr* link : joined.links) call_of(link).run_op = nullptr;
    call_of(joined.links.back()).run_op = joined.op.get();
  }

  std::vector<char> wanted(static_cast<size_t>(plan->columns()), 0);
  for (size_t leaf = 0; leaf < plan->results.size(); ++leaf) {
    wanted[static_cast<size_t>(plan->results[leaf])] = 1;
    for (Plan::Call& call : plan->calls)
      if (call.result == plan->results[leaf] && !call.constant && !call.leaf) call.leaf = leaf;
  }
  for (auto call = plan->calls.rbegin(); call != plan->calls.rend(); ++call) {
    if (!call->run_op) continue;
    for (int column : call->run_inputs)
      if (column >= 0 && !std::exchange(wanted[static_cast<size_t>(column)], 1)) call->last_uses.push_back(column);
  }
  return std::shared_ptr<const Plan>(std::move(plan));
}

Result<std::shared_ptr<const Program::Plan>> Program::plan_for(const Nest* input) const {
  std::lock_guard lock(mutex_);
  std::shared_ptr<const Plan>& plan = plans_[input];
  if (!plan) {
    STOKER_TRY(plan, make_plan(input));
  }
  return plan;
}

// ---- plain numbers

namespace {

// The type that several inputs are computed in; strings win, so that nothing
// is converted and the operation itself complains.
DType promoted(std::optional<DType> a, DType b) { return a ? promote(*a, b).value_or(DType::kBytes) : b; }

// The type of a column's rows; nothing when they differ.
std::optional<DType> type_of(const Column& column, const OpRows& rows) {
  if (column.dense()) return column.block().type();
  std::optional<DType> type;
  const bool single = column.size() == 1;
  for (int32_t i = 0; i < static_cast<int32_t>(column.size()); ++i) {
    if (!single && rows.any_failed() && rows.has_failed(i)) continue;
    const DType own = column.rows()[static_cast<size_t>(i)].type();
    if (type && *type != own) return std::nullopt;
    type = own;
  }
  return type ? type : DType::kBool;
}

}  // namespace

// `others`: what the inputs that are no plain numbers promote to; nothing when
// there are none.
DType Program::Plan::plain_type_at(const Call& call, size_t input, std::optional<DType> others) const {
  const Array& number = constant_at(call.inputs[input])->value;
  if (others) return plain_type_beside(number, *others);
  DType common = DType::kBool;  // of plain numbers alone: not 1 + 2.5 in float64
  for (int column : call.inputs) {
    const DType own = plain_type(constant_at(column)->value);
    common = is_float(own) || is_float(common) ? DType::kFloat32 : *promote(common, own);
  }
  return common;
}

Result<void> Program::Plan::settle_plain(const Call& call, std::vector<Column>& inputs, OpRows& rows) const {
  const Plain rule = call.run_op->type().plain;
  if (rule == Plain::kOwn || std::ranges::none_of(call.run_inputs, [&](int c) { return is_plain(c); })) return {};
  std::optional<DType> others;
  bool by_row = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (is_plain(call.run_inputs[i])) continue;
    const std::optional<DType> own = type_of(inputs[i], rows);
    by_row = by_row || !own;
    if (own) others = promoted(others, *own);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_plain(call.run_inputs[i])) continue;
    const Array& number = constant_at(call.run_inputs[i])->value;
    if (!by_row) {
      STOKER_TRY(Array typed, plain_as(number, plain_type_at(call, i, others), rule));
      inputs[i] = one_row(typed);
      continue;
    }
    std::vector<Array> typed(static_cast<size_t>(rows.size), number);
    for (int32_t row = 0; row < rows.size; ++row) {
      if (rows.has_failed(row)) continue;
      std::optional<DType> beside;
      for (size_t k = 0; k < inputs.size(); ++k)
        if (!is_plain(call.run_inputs[k])) beside = promoted(beside, input_row(inputs[k], row).type());
      Result<Array> value = plain_as(number, plain_type_at(call, i, beside), rule);
      if (value)
        typed[static_cast<size_t>(row)] = *std::move(value);
      else
        rows.fail(row, std::move(value).error());
    }
    inputs[i] = Column(std::move(typed));
  }
  return {};
}

// ---- types before running

Result<Spec> Program::spec(const Spec& input) const {
  STOKER_TRY(std::shared_ptr<const Plan> plan, plan_for(input.nest));
  std::vector<LeafSpec> leaves = input.leaves;
  for (const Plan::Constant& constant : plan->constants) leaves.push_back(Spec::of(constant.column.row(0)).leaves[0]);
  for (const Plan::Call& call : plan->calls) {
    const OpType& type = call.op->type();
    std::vector<LeafSpec> inputs;
    std::optional<DType> others;
    bool unknown = false;
    for (int column : call.inputs) {
      inputs.push_back(column < 0 ? LeafSpec{} : leaves[static_cast<size_t>(column)]);
      if (plan->is_plain(column)) continue;
      unknown = unknown || !inputs.back().type;
      if (inputs.back().type) others = promoted(others, *inputs.back().type);
    }
    for (size_t i = 0; i < inputs.size() && type.plain != Plain::kOwn; ++i) {
      if (!plan->is_plain(call.inputs[i])) continue;
      inputs[i].type.reset();
      if (unknown) continue;
      const Array& number = plan->constant_at(call.inputs[i])->value;
      Result<Array> typed = plain_as(number, plan->plain_type_at(call, i, others), type.plain);
      if (!typed) return named(std::move(typed).error(), type.name);
      inputs[i].type = typed->type();
    }
    Result<LeafSpec> made = call.op->spec(inputs);
    if (!made) return named(std::move(made).error(), type.name);
    leaves.push_back(*std::move(made));
  }
  Spec result{plan->nest, {}};
  for (int column : plan->results) result.leaves.push_back(leaves[static_cast<size_t>(column)]);
  return result;
}

// ---- running

namespace {

// A constant as a column of n rows with memory of their own.
Result<Column> repeated(const Column& constant, int32_t n, size_t leaf, const Context& context) {
  const Array value = constant.row(0);
  if (value.type() == DType::kBytes) return Column(std::vector<Array>(static_cast<size_t>(n), value));
  std::vector<int64_t> dims{n};
  dims.insert(dims.end(), value.dims().begin(), value.dims().end());
  STOKER_TRY(Array block, context.output_block(leaf, dims, value.type()));
  const auto bytes = static_cast<size_t>(value.byte_size());
  auto* to = static_cast<std::byte*>(block.raw());
  for (int32_t i = 0; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * bytes, value.raw(), bytes);
  return Column(std::move(block));
}

bool all_failed(const Run& run) { return static_cast<int32_t>(run.failed.size()) == run.size; }

// Columns for a run of which no row has a value.
void blank(Run& run) {
  run.nest = Nest::leaf();
  run.columns.clear();
  run.columns.emplace_back(std::vector<Array>(static_cast<size_t>(run.size)));
}

}  // namespace

namespace {

// Failures of an operation name the file that its inputs came from.
void name_files(OpRows& rows, const std::vector<int32_t>& failed_before, const std::vector<Column>& inputs) {
  for (Failure& failure : *rows.failed) {
    if (std::ranges::binary_search(failed_before, failure.row) || !failure.error.place().path.empty()) continue;
    for (const Column& input : inputs) {
      const std::optional<Buffer::Source> file = input_row(input, failure.row).source();
      if (!file) continue;
      failure.error.set_path(file->path, file->offset);
      break;
    }
  }
}

}  // namespace

Result<Column> Program::Plan::run(const Call& call, std::vector<Column>& columns, OpRows& rows,
                                  Context& context) const {
  // Moved in and back out: a copy would count every row of a ragged column.
  std::vector<Column> inputs(call.run_inputs.size());
  std::vector<bool> borrowed(call.run_inputs.size(), false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto earlier =
        static_cast<size_t>(std::ranges::find(call.run_inputs, call.run_inputs[i]) - call.run_inputs.begin());
    if (const Constant* constant = constant_at(call.run_inputs[i])) {
      inputs[i] = constant->column;
    } else if (earlier < i) {
      inputs[i] = inputs[earlier];
    } else {
      inputs[i] = std::move(columns[static_cast<size_t>(call.run_inputs[i])]);
      borrowed[i] = true;
    }
  }
  STOKER_TRY(settle_plain(call, inputs, rows));
  std::vector<int32_t> failed_before;
  for (const Failure& failure : *rows.failed) failed_before.push_back(failure.row);
  context.set_op(call.salt);
  context.set_leaf(call.leaf);
  Result<Column> made = [&]() -> Result<Column> {
    try {
      return call.run_op->apply(inputs, rows, context);
    } catch (...) {
      return error_of_exception();
    }
  }();
  context.set_op(0);
  context.set_leaf(std::nullopt);
  if (rows.failed->size() > failed_before.size()) name_files(rows, failed_before, inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (borrowed[i]) columns[static_cast<size_t>(call.run_inputs[i])] = std::move(inputs[i]);
  for (int column : call.last_uses) columns[static_cast<size_t>(column)] = Column();
  if (made && made->size() != rows.size) return Error::internal("gave ", made->size(), " rows for ", rows.size);
  return made;
}

// The columns of the result; none when every row has failed on the way.
Result<std::vector<Column>> Program::Plan::results_of(Run& run, Context& context) const {
  std::vector<Column> columns = std::move(run.columns);
  columns.resize(static_cast<size_t>(this->columns()));
  for (const Call& call : calls) {
    if (!call.run_op) continue;
    const OpType& type = call.op->type();
    std::vector<Failure> once;  // of what is made once for all rows
    OpRows rows{call.constant ? 1 : run.size, call.constant ? &once : &run.failed, type.name};
    Result<Column> made = this->run(call, columns, rows, context);
    if (!made) return named(std::move(made).error(), type.name);
    if (!once.empty()) return once[0].error;
    if (all_failed(run)) return std::vector<Column>();
    columns[static_cast<size_t>(call.result)] = *std::move(made);
  }
  std::vector<Column> made;
  for (size_t leaf = 0; leaf < results.size(); ++leaf) {
    const int column = results[leaf];
    const Constant* constant = constant_at(column);
    const Call* call = call_at(column);
    Column& from = columns[static_cast<size_t>(column)];
    if (constant || (call && call->constant)) {
      STOKER_TRY(Column rows, repeated(constant ? constant->column : from, run.size, leaf, context));
      made.push_back(std::move(rows));
      continue;
    }
    const auto later = results.begin() + static_cast<ptrdiff_t>(leaf) + 1;
    if (std::find(later, results.end(), column) == results.end())
      made.push_back(std::move(from));
    else
      made.push_back(from);
  }
  return made;
}

Result<void> Program::apply(Run& run, Context& context) const {
  if (all_failed(run)) return {};
  STOKER_TRY(std::shared_ptr<const Plan> plan, plan_for(run.nest));
  Result<std::vector<Column>> results = plan->results_of(run, context);
  if (!results || all_failed(run)) blank(run);
  if (!results) return std::move(results).error();
  if (all_failed(run)) return {};
  run.nest = plan->nest;
  run.columns = *std::move(results);
  return {};
}

// ---- JSON

namespace {

class Writer {
 public:
  Writer(const Expr& root, const Order& order, WriteContext& context) : context_(context) {
    std::unordered_map<const Expr*, int> uses;
    for (const Expr* expr : order.nodes)
      for (const Expr::Ref& input : expr->inputs) ++uses[input.get()];
    for (const Expr* expr : order.nodes) {
      if (!has_parts(*expr)) continue;
      const bool piece = expr != &root && order.height.at(expr) % kPiece == 0;
      if (piece) pieces_.push_back(expr);
      if (piece || uses[expr] > 1) ids_[expr] = kNotWritten;
    }
  }

  // A deep expression is the last item of a tuple whose other items are named
  // by id: {"get": {"tuple": [piece, piece, value]}, "key": "2"}.
  Result<Json> value(const Expr& root) {
    if (pieces_.empty()) return write(root);
    Json items = Json::list();
    for (const Expr* piece : pieces_) {
      STOKER_TRY(Json item, write(*piece));
      items.push(std::move(item));
    }
    STOKER_TRY(Json last, write(root));
    items.push(std::move(last));
    Json tuple = Json::dict(), get = Json::dict();
    tuple.set("tuple", std::move(items));
    get.set("get", std::move(tuple));
    get.set("key", std::to_string(pieces_.size()));
    return get;
  }

 private:
  static constexpr int64_t kNotWritten = -1;

  Result<Json> write(const Expr& expr) {
    const auto id = ids_.find(&expr);
    Json json = Json::dict();
    if (id == ids_.end()) {
      STOKER_TRY(write_new(expr, json));
      return json;
    }
    if (id->second != kNotWritten) {
      json.set("ref", id->second);
      return json;
    }
    STOKER_TRY(write_new(expr, json));
    json.set("id", id->second = next_id_++);
    return json;
  }
  Result<Json> write_all(const std::vector<Expr::Ref>& parts) {
    Json list = Json::list();
    for (const Expr::Ref& part : parts) {
      STOKER_TRY(Json item, write(*part));
      list.push(std::move(item));
    }
    return list;
  }
  Result<void> write_new(const Expr& expr, Json& json) {
    switch (expr.kind) {
      case Expr::Kind::kArgument: json = Json(argument_name(expr.argument)); return {};
      case Expr::Kind::kConstant: return write_constant(expr, json);
      case Expr::Kind::kOp: {
        json.set("op", expr.op->type().name);
        STOKER_TRY(Json in, write_all(expr.inputs));
        json.set("in", std::move(in));
        Result<Json> params = expr.op->params(context_);
        if (!params) return named(std::move(params).error(), expr.op->type().name);
        for (auto& [key, value] : std::get<Json::Dict>(params->value)) json.set(key, std::move(value));
        return {};
      }
      case Expr::Kind::kTuple: {
        STOKER_TRY(Json parts, write_all(expr.inputs));
        json.set("tuple", std::move(parts));
        return {};
      }
      case Expr::Kind::kDict: {
        Json fields = Json::dict();
        for (size_t i = 0; i < expr.keys.size(); ++i) {
          STOKER_TRY(Json part, write(*expr.inputs[i]));
          fields.set(expr.keys[i], std::move(part));
        }
        json.set("dict", std::move(fields));
        return {};
      }
      case Expr::Kind::kGet: {
        STOKER_TRY(Json from, write(*expr.inputs[0]));
        json.set("get", std::move(from));
        json.set("key", expr.key);
        return {};
      }
    }
    return {};
  }
  Result<void> write_constant(const Expr& expr, Json& json) {
    if (!expr.weak) {
      STOKER_TRY(json, array_to_json(expr.constant, context_));
      return {};
    }
    const bool finite = expr.constant.type() != DType::kFloat64 || std::isfinite(expr.constant.scalar<double>());
    if (finite) {
      json = values_to_json(expr.constant);
      return {};
    }
    json.set("const", values_to_json(expr.constant));  // "inf" alone would be an argument
    json.set("weak", true);
    return {};
  }

  WriteContext& context_;
  std::vector<const Expr*> pieces_;
  std::unordered_map<const Expr*, int64_t> ids_;
  int64_t next_id_ = 0;
};

class Reader {
 public:
  Reader(std::vector<std::string> arguments, ReadContext& context)
      : arguments_(std::move(arguments)), context_(context) {}

  Result<Expr::Ref> read(const Json& json, int depth) {
    if (depth > kDeepest) return Error::invalid("an expression is nested deeper than ", kDeepest);
    if (const bool* b = json.as<bool>()) return Value(*b).expr();
    if (const int64_t* i = json.as<int64_t>()) return Value(*i).expr();
    if (const double* d = json.as<double>()) return Value(*d).expr();
    if (const std::string* name = json.as<std::string>()) return argument(*name);
    if (json.is_null()) return Error::unimplemented("a component that is null is not supported");
    const Json::Dict* dict = json.as<Json::Dict>();
    if (!dict) return Error::invalid("an expression is no list; write {\"tuple\": […]} or {\"const\": […]}");
    if (const Json* id = json.find("ref")) return reference(*id, *dict);
    STOKER_TRY(Expr::Ref expr, read_new(json, *dict, depth));
    const Json* id = json.find("id");
    if (id && !ids_.emplace(id->text(), expr).second) return Error::invalid("the id ", id->text(), " stands twice");
    return expr;
  }

 private:
  // Finds a key that the form does not have.
  static Result<void> only(const Json::Dict& dict, std::initializer_list<std::string_view> keys) {
    for (size_t i = 0; i < dict.size(); ++i) {
      const std::string& key = dict[i].first;
      if (key != "id" && std::ranges::find(keys, key) == keys.end())
        return Error::invalid("an expression with '", *keys.begin(), "' has no '", key, "'");
      for (size_t k = 0; k < i; ++k)
        if (dict[k].first == key) return Error::invalid("'", key, "' stands twice in an expression");
    }
    return {};
  }

  Result<Expr::Ref> argument(const std::string& name) const {
    const auto at = std::ranges::find(arguments_, name);
    if (at != arguments_.end()) return Expr::of_argument(static_cast<int>(at - arguments_.begin()));
    std::string all;
    for (const std::string& known : arguments_) all += (all.empty() ? "" : ", ") + known;
    return Error::invalid("no argument named '", name, "'; there are ", all, " (text is {\"const\": \"…\"})");
  }
  Result<Expr::Ref> reference(const Json& id, const Json::Dict& dict) const {
    STOKER_TRY(only(dict, {"ref"}));
    const auto known = ids_.find(id.text());
    if (known == ids_.end()) return Error::invalid("nothing with the id ", id.text(), " stands before its use");
    return known->second;
  }
  Result<std::vector<Expr::Ref>> read_all(const Json& json, int depth) {
    const Json::List* list = json.as<Json::List>();
    if (!list) return wrong_kind("a list of expressions", json);
    std::vector<Expr::Ref> parts;
    for (const Json& item : *list) {
      STOKER_TRY(Expr::Ref part, read(item, depth + 1));
      parts.push_back(std::move(part));
    }
    return parts;
  }
  Result<Expr::Ref> read_new(const Json& json, const Json::Dict& dict, int depth) {
    if (const Json* name = json.find("op")) return operation(*name, json, depth);
    if (const Json* parts = json.find("tuple")) {
      STOKER_TRY(only(dict, {"tuple"}));
      STOKER_TRY(std::vector<Expr::Ref> read, read_all(*parts, depth));
      return Expr::of_tuple(std::move(read));
    }
    if (const Json* fields = json.find("dict")) {
      STOKER_TRY(only(dict, {"dict"}));
      if (!fields->as<Json::Dict>()) return wrong_kind("an object of expressions", *fields);
      std::vector<std::string> keys;
      std::vector<Expr::Ref> parts;
      for (const auto& [key, item] : *fields->as<Json::Dict>()) {
        STOKER_TRY(Expr::Ref part, read(item, depth + 1));
        keys.push_back(key);
        parts.push_back(std::move(part));
      }
      return Expr::of_dict(std::move(keys), std::move(parts));
    }
    if (const Json* from = json.find("get")) {
      STOKER_TRY(only(dict, {"get", "key"}));
      const Json* key = json.find("key");
      if (!key || !(key->as<std::string>() || key->as<int64_t>()))
        return Error::invalid("an expression with 'get' wants a 'key' that is a name or a number");
      STOKER_TRY(Expr::Ref read_from, read(*from, depth + 1));
      return Expr::of_get(std::move(read_from), key->as<std::string>() ? *key->as<std::string>() : key->text());
    }
    if (names_component(json)) {
      STOKER_TRY(Element part, component_of(json, context_));
      size_t next = 0;
      return constants_of(*part.nest, part, next);
    }
    if (json.find("const") || json.find("array")) return constant(json, dict);
    return Error::invalid("an expression has one of op, tuple, dict, get, const, array, ref; found ", json.text());
  }
  Result<Expr::Ref> operation(const Json& name, const Json& json, int depth) {
    if (!name.as<std::string>()) return wrong_kind("the name of an operation", name);
    if (!context_.registry) return Error::internal("operations are read without a table of them");
    const OpType* type = context_.registry->find_op(*name.as<std::string>());
    if (!type) {
      std::vector<std::string_view> known;
      for (const OpType* op : context_.registry->ops()) known.push_back(op->name);
      const std::string_view near = nearest(*name.as<std::string>(), known);
      return Error::invalid("no operation named '", *name.as<std::string>(), "'",
                            near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
    }
    std::vector<Expr::Ref> inputs;
    if (const Json* in = json.find("in")) {
      STOKER_TRY(inputs, read_all(*in, depth));
    }
    STOKER_TRY(std::shared_ptr<const Op> op, type->read(json, context_));
    return Expr::of_op(std::move(op), std::move(inputs));
  }
  Result<Expr::Ref> constant(const Json& json, const Json::Dict& dict) {
    const Json* given = json.find("const");
    const bool number = given && (given->as<bool>() || given->as<int64_t>() || given->as<double>());
    if (given && json.find("weak")) {
      STOKER_TRY(only(dict, {"const", "weak"}));
      double value = 0;
      STOKER_TRY(codec_of<double>().read(*given, context_, &value));
      return Value(value).expr();
    }
    if (number && !json.find("dtype") && !json.find("shape")) {
      STOKER_TRY(only(dict, {"const"}));
      return read(*given, 0);
    }
    Json array = Json::dict();
    for (const auto& [key, item] : dict)
      if (key != "id") array.set(key, item);
    STOKER_TRY(Array value, array_from_json(array, context_));
    return Expr::of_constant(std::move(value), false);
  }
  static Expr::Ref constants_of(const Nest& nest, const Element& element, size_t& next) {
    if (nest.kind() == Nest::Kind::kLeaf) return Expr::of_constant(element.leaves[next++], false);
    std::vector<std::string> keys;
    std::vector<Expr::Ref> parts;
    for (size_t i = 0; i < nest.fields().size(); ++i) {
      size_t leaf = next + nest.first_leaf(i);
      keys.push_back(nest.fields()[i].first);
      parts.push_back(constants_of(*nest.fields()[i].second, element, leaf));
    }
    next += nest.leaf_count();
    if (nest.kind() == Nest::Kind::kTuple) return Expr::of_tuple(std::move(parts));
    return Expr::of_dict(std::move(keys), std::move(parts));
  }

  std::vector<std::string> arguments_;
  ReadContext& context_;
  std::unordered_map<std::string, Expr::Ref> ids_;
};

}  // namespace

Result<Json> Program::to_json(WriteContext& context) const {
  STOKER_TRY(Order order, order_of(*result_));
  STOKER_TRY(Json value, Writer(*result_, order, context).value(*result_));
  Json names = Json::list();
  for (int i = 0; i < arguments_; ++i) names.push(argument_name(i));
  Json json = Json::dict();
  json.set("args", std::move(names));
  json.set("value", std::move(value));
  return json;
}

Result<std::shared_ptr<const Program>> Program::from_json(const Json& json, ReadContext& context) {
  const Json::Dict* dict = json.as<Json::Dict>();
  if (!dict) return wrong_kind("a function {\"args\": […], \"value\": …}", json);
  for (const auto& [key, item] : *dict)
    if (key != "args" && key != "value") return Error::invalid("a function has args and value, found '", key, "'");
  const Json *args = json.find("args"), *value = json.find("value");
  if (!args || !value || dict->size() != 2) return Error::invalid("a function has args and value, each once");
  std::vector<std::string> names;
  if (!args->as<Json::List>()) return wrong_kind("a list of arguments", *args);
  for (const Json& name : *args->as<Json::List>()) {
    if (!name.as<std::string>()) return wrong_kind("names of arguments", name);
    if (std::ranges::find(names, *name.as<std::string>()) != names.end())
      return Error::invalid("the argument '", *name.as<std::string>(), "' stands twice");
    names.push_back(*name.as<std::string>());
  }
  const auto count = static_cast<int>(names.size());
  STOKER_TRY(Expr::Ref result, Reader(std::move(names), context).read(*value, 0));
  return compile(std::move(result), count);
}

// ---- words

namespace {

constexpr size_t kLongest = 160;

struct Infix {
  std::string_view op;
  std::string_view sign;
  int binding;  // tighter is higher, as in Python
};
constexpr Infix kInfix[] = {
    {"logical_or", "or", 1},   {"logical_and", "and", 2}, {"equal", "==", 4},   {"not_equal", "!=", 4},
    {"less", "<", 4},          {"less_equal", "<=", 4},   {"greater", ">", 4},  {"greater_equal", ">=", 4},
    {"add", "+", 5},           {"subtract", "-", 5},      {"multiply", "*", 6}, {"divide", "/", 6},
    {"floor_divide", "//", 6}, {"mod", "%", 6},           {"power", "**", 8},
};
constexpr Infix kPrefix[] = {{"logical_not", "not ", 3}, {"negative", "-", 7}};

class Speaker {
 public:
  std::string text;

  void say(const Expr& expr, int outer) {
    if (text.size() > kLongest) return;
    switch (expr.kind) {
      case Expr::Kind::kArgument: text += argument_name(expr.argument); return;
      case Expr::Kind::kConstant: text += expr.constant.words(); return;
      case Expr::Kind::kOp: say_op(expr, outer); return;
      case Expr::Kind::kTuple:
        text += "(";
        say_all(expr.inputs, {});
        text += expr.inputs.size() == 1 ? ",)" : ")";
        return;
      case Expr::Kind::kDict:
        text += "{";
        say_all(expr.inputs, expr.keys);
        text += "}";
        return;
      case Expr::Kind::kGet:
        say(*expr.inputs[0], 9);
        text += "['" + expr.key + "']";
        return;
    }
  }

 private:
  void say_all(const std::vector<Expr::Ref>& parts, const std::vector<std::string>& keys) {
    for (size_t i = 0; i < parts.size() && text.size() <= kLongest; ++i) {
      if (i) text += ", ";
      if (!keys.empty()) text += "'" + keys[i] + "': ";
      say(*parts[i], 0);
    }
  }
  void say_op(const Expr& expr, int outer) {
    const std::string_view name = expr.op->type().name;
    if (const auto* infix = std::ranges::find(kInfix, name, &Infix::op);
        infix != std::end(kInfix) && expr.inputs.size() == 2) {
      if (infix->binding < outer) text += "(";
      const bool from_the_right = name == "power";
      say(*expr.inputs[0], infix->binding + (from_the_right ? 1 : 0));
      text += " " + std::string(infix->sign) + " ";
      say(*expr.inputs[1], infix->binding + (from_the_right ? 0 : 1));
      if (infix->binding < outer) text += ")";
      return;
    }
    if (const auto* prefix = std::ranges::find(kPrefix, name, &Infix::op);
        prefix != std::end(kPrefix) && expr.inputs.size() == 1) {
      if (prefix->binding < outer) text += "(";
      text += prefix->sign;
      say(*expr.inputs[0], prefix->binding);
      if (prefix->binding < outer) text += ")";
      return;
    }
    text += std::string(name) + "(";
    say_all(expr.inputs, {});
    say_params(*expr.op, expr.inputs.empty());
    text += ")";
  }
  // Those that are not as they would be without being said.
  void say_params(const Op& op, bool first) {
    WriteContext context;
    const Result<Json> params = op.params(context);
    if (!params) {
      text += first ? "…" : ", …";
      return;
    }
    for (const auto& [key, value] : *params->as<Json::Dict>()) {
      const auto doc = std::ranges::find(op.type().params, key, &ParamDoc::name);
      if (doc != op.type().params.end() && !doc->required && doc->standard == value) continue;
      const std::string* word = value.as<std::string>();
      text += (std::exchange(first, false) ? "" : ", ") + key + "=" + (word ? *word : value.text());
    }
  }
};

}  // namespace

std::string Program::words() const {
  Speaker speaker;
  speaker.say(*result_, 0);
  std::string text = std::move(speaker.text);
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

}  // namespace stoker
