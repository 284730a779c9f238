// Programs against the structure of an element: numbered columns, plain numbers' types, specs.
#include <algorithm>
#include <unordered_map>

#include "stoker/graph/program_plan.h"
#include "stoker/graph/promotion.h"
#include "stoker/graph/stage.h"

namespace stoker {
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
  const MutexLock lock(mutex_);
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

Result<void> Program::Plan::settle_plain(const Call& call, Columns& inputs, OpRows& rows) const {
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

}  // namespace stoker
