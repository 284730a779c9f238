// Compiling expressions: checks them, finds chains that can be fused, and splits off what waits.
#include <algorithm>
#include <unordered_map>

#include "stoker/graph/program_plan.h"
#include "stoker/graph/stage.h"

namespace stoker {

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
    if (height > kDeepestExpression)
      return Error::invalid("an expression is nested deeper than ", kDeepestExpression,
                            " levels; split the function into several maps");
    if (order.height.emplace(expr, height).second) order.nodes.push_back(expr);
    open.pop_back();
  }
  return order;
}

Error named(Error error, std::string_view op) {
  if (error.place().stage.empty()) error.at().stage = op;
  return error;
}

std::string argument_name(int i) {
  constexpr std::string_view first = "xyz";
  return i < 3 ? std::string(1, first[static_cast<size_t>(i)]) : "x" + std::to_string(i);
}

namespace {

Result<void> check_node(const Expr& expr, int arguments) {
  switch (expr.kind) {
    case Expr::Kind::kArgument:
      if (expr.argument < 0 || expr.argument >= arguments)
        return Error::invalid("argument ", expr.argument, " is used in a function of ", arguments,
                              " arguments; a value of another function may have been used");
      return {};
    case Expr::Kind::kConstant: return {};
    case Expr::Kind::kOp: {
      if (!expr.op) return Error::internal("an expression has a call without an operation");
      const OpType& type = expr.op->type();
      if (type.inputs < 0 || static_cast<size_t>(type.inputs) == expr.inputs.size()) return {};
      return Error::invalid(type.name, " takes ", type.inputs, type.inputs == 1 ? " input" : " inputs", ", got ",
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
        return Error::invalid("no field named '", expr.key, "'",
                              did_you_mean(expr.key, {from.keys.begin(), from.keys.end()}));
      }
      if (from.kind == Expr::Kind::kOp || from.kind == Expr::Kind::kConstant)
        return Error::invalid("a single component has no field '", expr.key, "'; use getitem for an item of an array");
      return {};
    }
  }
  return {};
}

// A constant exists once for a batch, not once for each item.
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
  if (!result) return Error::invalid("the function returned nothing, expected a value");
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

// The uses of a node's value. The result of the whole expression counts as a use without a user.
struct Uses {
  int count = 0;
  const Expr* user = nullptr;
};

// Returns nothing if the operation has inputs other than `from` and constants. A null `from` makes the first link.
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
    chains_.push_back({std::move(chain.op), std::move(exprs)});
  }
}

std::vector<std::string> Program::chains() const {
  std::vector<std::string> names;
  for (const FusedChain& chain : chains_) {
    std::string& line = names.emplace_back();
    for (const Expr* link : chain.links) line += (line.empty() ? "" : ", ") + std::string(link->op->type().name);
  }
  return names;
}

// ---- splitting

namespace {

// Rewrites an expression: each operation that waits becomes an additional argument.
class Cutter {
 public:
  explicit Cutter(int arguments) : arguments_(arguments) {}

  Expr::Ref rest_of(const Expr::Ref& expr) {
    if (const auto known = made_.find(expr.get()); known != made_.end()) return known->second;
    Expr::Ref made = expr->kind == Expr::Kind::kOp && expr->op->type().waits ? read(expr) : rebuilt(expr);
    made_.emplace(expr.get(), made);
    return made;
  }

  // The result of the first part: the arguments, then the values of the operations that wait.
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

}  // namespace stoker
