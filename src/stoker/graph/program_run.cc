// Running programs on columns.
#include <algorithm>
#include <cstring>

#include "stoker/graph/program_plan.h"

namespace stoker {
namespace {

// Repeats a constant as a column of n rows. Each row has memory of its own, because the caller may write into it.
Result<Column> repeated(const Column& constant, int32_t n, size_t leaf, const Context& context) {
  const Array value = constant.row(0);
  if (value.type() == DType::kBytes) return Column(Arrays(static_cast<size_t>(n), value));
  std::vector<int64_t> dims{n};
  dims.insert(dims.end(), value.shape().begin(), value.shape().end());
  STOKER_TRY(Array block, context.output_block(leaf, dims, value.type()));
  const auto bytes = static_cast<size_t>(value.byte_size());
  auto* to = static_cast<std::byte*>(block.mutable_raw());
  for (int32_t i = 0; i < n; ++i) std::memcpy(to + static_cast<size_t>(i) * bytes, value.raw(), bytes);
  return Column(std::move(block));
}

bool all_failed(const Run& run) { return static_cast<int32_t>(run.failed.size()) == run.size; }

// Replaces the columns of a run in which no row has a value.
void clear_values(Run& run) {
  run.nest = Nest::leaf();
  run.columns.clear();
  run.columns.emplace_back(Arrays(static_cast<size_t>(run.size)));
}

// Sets the path of new failures to the file that the failed inputs were read from.
void set_paths(OpRows& rows, const RecycledVector<int32_t>& failed_before, const Columns& inputs) {
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

Result<Column> Program::Plan::run(const Call& call, Columns& columns, OpRows& rows, Context& context) const {
  // Columns are moved and moved back: copying a column of separate arrays would count a reference for each row.
  Columns inputs(call.run_inputs.size());
  RecycledVector<bool> borrowed(call.run_inputs.size(), false);
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
  STOKER_TRY(convert_plain(call, inputs, rows));
  RecycledVector<int32_t> failed_before;
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
  if (rows.failed->size() > failed_before.size()) set_paths(rows, failed_before, inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (borrowed[i]) columns[static_cast<size_t>(call.run_inputs[i])] = std::move(inputs[i]);
  for (int column : call.last_uses) columns[static_cast<size_t>(column)] = Column();
  if (made && made->size() != rows.size) return Error::internal("returned ", made->size(), " rows for ", rows.size);
  return made;
}

Result<Columns> Program::Plan::results_of(Run& run, Context& context) const {
  Columns columns = std::move(run.columns);
  columns.resize(static_cast<size_t>(this->columns()));
  for (const Call& call : calls) {
    if (!call.run_op) continue;
    const OpType& type = call.op->type();
    std::vector<Failure> once;  // failures of a call that is computed once for all rows
    OpRows rows{call.constant ? 1 : run.size, call.constant ? &once : &run.failed, type.name};
    Result<Column> made = this->run(call, columns, rows, context);
    if (!made) return named(std::move(made).error(), type.name);
    if (!once.empty()) return once[0].error;
    if (all_failed(run)) return Columns();
    columns[static_cast<size_t>(call.result)] = *std::move(made);
  }
  Columns made;
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
  Result<Columns> results = plan->results_of(run, context);
  if (!results || all_failed(run)) clear_values(run);
  if (!results) return std::move(results).error();
  if (all_failed(run)) return {};
  run.nest = plan->nest;
  run.columns = *std::move(results);
  return {};
}

}  // namespace stoker
