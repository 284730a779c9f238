// Plans of programs for elements of one structure: numbered columns, the types of plain numbers, specs.
#include <algorithm>
#include <unordered_map>

#include "stoker/graph/program_plan.h"
#include "stoker/graph/promotion.h"
#include "stoker/graph/stage.h"

namespace stoker {
namespace {

// The structure and the columns of a node's value.
struct Shape {
  const Nest* nest = nullptr;  // null: unknown
  std::vector<int> columns;

  static Shape leaf(int column) { return {Nest::leaf(), {column}}; }
};

Result<Shape> field_shape(const Shape& from, const std::string& key) {
  if (!from.nest) return Shape{};
  const std::optional<size_t> field = from.nest->find(key);
  if (!field && from.nest->kind() == Nest::Kind::kLeaf)
    return Error::invalid("a single component has no field '", key, "'; use getitem for an item of an array");
  if (!field) {
    std::vector<std::string_view> known;
    for (const auto& [name, part] : from.nest->fields()) known.push_back(name);
    return Error::invalid("no field named '", key, "' in ", from.nest->describe(), did_you_mean(key, known));
  }
  const Nest* part = from.nest->fields()[*field].second;
  const auto first = from.columns.begin() + static_cast<ptrdiff_t>(from.nest->first_leaf(*field));
  return Shape{part, {first, first + static_cast<ptrdiff_t>(part->leaf_count())}};
}

// The tuple or the dict of the parts.
Shape structure_of(const Expr& expr, const std::vector<const Shape*>& parts) {
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
  dims.insert(dims.end(), value.shape().begin(), value.shape().end());
  return Column(value.reshaped(dims));
}

}  // namespace

// Makes the plan for elements of one structure. A null `input` is an unknown structure.
class Program::Planner {
 public:
  Planner(const Program& program, const Nest* input)
      : program_(program), input_(input), plan_(std::make_shared<Plan>()), element_{input, {}} {}

  Result<std::shared_ptr<const Plan>> plan() {
    STOKER_TRY(add_arguments());
    STOKER_TRY(add_constants());
    for (const Expr* expr : program_.order_) {
      STOKER_TRY(Shape shape, shape_of(*expr));
      shapes_.emplace(expr, std::move(shape));
    }
    plan_->nest = shapes_.at(program_.result_.get()).nest;
    plan_->results = shapes_.at(program_.result_.get()).columns;
    set_operations();
    set_leaves();
    set_last_uses();
    return std::shared_ptr<const Plan>(std::move(plan_));
  }

 private:
  Result<void> add_arguments() {
    if (!input_) return {};
    const size_t fields = input_->fields().size();
    if (program_.arguments_ > 1 && fields != static_cast<size_t>(program_.arguments_))
      return Error::invalid("the function takes ", program_.arguments_, " arguments and the element ",
                            input_->describe(), " has ",
                            fields < 2 ? "1 component" : std::to_string(fields) + " components");
    plan_->arguments = static_cast<int>(input_->leaf_count());
    for (int i = 0; i < plan_->arguments; ++i) element_.columns.push_back(i);
    return {};
  }

  Result<void> add_constants() {
    for (const Expr* expr : program_.order_) {
      if (expr->kind != Expr::Kind::kConstant) continue;
      STOKER_TRY(Array alone, expr->weak ? plain_as(expr->constant, plain_type(expr->constant), Plain::kOwn)
                                         : Result<Array>(expr->constant));
      shapes_.emplace(expr, Shape::leaf(plan_->columns()));
      plan_->constants.push_back({expr->constant, one_row(alone), expr->weak});
    }
    return {};
  }

  // Requires the shapes of the inputs.
  Result<Shape> shape_of(const Expr& expr) {
    std::vector<const Shape*> parts;
    for (const Expr::Ref& part : expr.inputs) parts.push_back(&shapes_.at(part.get()));
    switch (expr.kind) {
      case Expr::Kind::kArgument:
        if (program_.arguments_ == 1 || !input_) return element_;
        return field_shape(element_, input_->fields()[static_cast<size_t>(expr.argument)].first);
      case Expr::Kind::kConstant: return shapes_.at(&expr);
      case Expr::Kind::kTuple:
      case Expr::Kind::kDict: return structure_of(expr, parts);
      case Expr::Kind::kGet: return field_shape(*parts[0], expr.key);
      case Expr::Kind::kOp: return add_call(*expr.op, parts);
    }
    return Shape{};
  }

  Result<Shape> add_call(const Op& op, const std::vector<const Shape*>& inputs) {
    Plan::Call call;
    call.op = &op;
    call.constant = !op.type().random;
    for (const Shape* input : inputs) {
      if (input->nest && input->nest->kind() != Nest::Kind::kLeaf)
        return named(Error::invalid("expected one component, got ", input->nest->describe()), op.type().name);
      const int column = input->nest ? input->columns[0] : Plan::kUnknownColumn;
      call.inputs.push_back(column);
      const Plan::Call* made_by = plan_->call_at(column);
      call.constant = call.constant && (plan_->constant_at(column) || (made_by && made_by->constant));
    }
    if (op.type().random) call.salt = draws_++;
    call.result = plan_->columns();
    plan_->calls.push_back(std::move(call));
    return Shape::leaf(plan_->calls.back().result);
  }

  // A fused chain runs in place of its last link.
  void set_operations() {
    for (Plan::Call& call : plan_->calls) {
      call.run_op = call.op;
      call.run_inputs = call.inputs;
    }
    for (const FusedChain& chain : program_.chains_) {
      call_of(chain.links.back()).run_inputs = call_of(chain.links.front()).inputs;
      for (const Expr* link : chain.links) call_of(link).run_op = nullptr;
      call_of(chain.links.back()).run_op = chain.op.get();
    }
  }

  void set_leaves() {
    for (size_t leaf = 0; leaf < plan_->results.size(); ++leaf)
      for (Plan::Call& call : plan_->calls)
        if (call.result == plan_->results[leaf] && !call.constant && !call.leaf) call.leaf = leaf;
  }

  void set_last_uses() {
    std::vector<char> needed(static_cast<size_t>(plan_->columns()), 0);
    for (int column : plan_->results) needed[static_cast<size_t>(column)] = 1;
    for (auto call = plan_->calls.rbegin(); call != plan_->calls.rend(); ++call) {
      if (!call->run_op) continue;
      for (int column : call->run_inputs)
        if (column >= 0 && !std::exchange(needed[static_cast<size_t>(column)], 1)) call->last_uses.push_back(column);
    }
  }

  Plan::Call& call_of(const Expr* expr) {
    return plan_->calls[static_cast<size_t>(plan_->call_at(shapes_.at(expr).columns[0]) - plan_->calls.data())];
  }

  const Program& program_;
  const Nest* const input_;
  std::shared_ptr<Plan> plan_;
  Shape element_;
  std::unordered_map<const Expr*, Shape> shapes_;
  uint64_t draws_ = 0;  // calls so far that draw random numbers
};

Result<std::shared_ptr<const Program::Plan>> Program::plan_for(const Nest* input) const {
  const MutexLock lock(mutex_);
  std::shared_ptr<const Plan>& plan = plans_[input];
  if (!plan) {
    STOKER_TRY(plan, Planner(*this, input).plan());
  }
  return plan;
}

// ---- plain numbers

namespace {

// The type in which several inputs are computed. If one of them is a string, the result is a string, so that nothing is
// converted and the operation reports the error.
DType promoted(std::optional<DType> a, DType b) { return a ? promote(*a, b).value_or(DType::kBytes) : b; }

// The type of the rows of a column; nothing if they differ.
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

DType Program::Plan::plain_type_at(const Call& call, size_t input, std::optional<DType> others) const {
  const Array& number = constant_at(call.inputs[input])->value;
  if (others) return plain_type_next_to(number, *others);
  DType common = DType::kBool;  // promote() would compute 1 + 2.5 in float64
  for (int column : call.inputs) {
    const DType own = plain_type(constant_at(column)->value);
    common = is_float(own) || is_float(common) ? DType::kFloat32 : *promote(common, own);
  }
  return common;
}

Result<void> Program::Plan::convert_plain(const Call& call, Columns& inputs, OpRows& rows) const {
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
    Arrays typed(static_cast<size_t>(rows.size), number);
    for (int32_t row = 0; row < rows.size; ++row) {
      if (rows.has_failed(row)) continue;
      std::optional<DType> others_in_row;
      for (size_t k = 0; k < inputs.size(); ++k)
        if (!is_plain(call.run_inputs[k])) others_in_row = promoted(others_in_row, input_row(inputs[k], row).type());
      Result<Array> value = plain_as(number, plain_type_at(call, i, others_in_row), rule);
      if (value)
        typed[static_cast<size_t>(row)] = *std::move(value);
      else
        rows.fail(row, std::move(value).error());
    }
    inputs[i] = Column(std::move(typed));
  }
  return {};
}

// ---- types and shapes before running

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

}  // namespace stoker
