#include "stoker/runtime/plan.h"

#include <algorithm>
#include <filesystem>

#include "stoker/core/interrupt.h"
#include "stoker/runtime/origin_text.h"

namespace stoker {
namespace {

void name_origin(Error::Place& place, const Origin& origin, const std::vector<std::string>* sources) {
  const Origin& first = outermost(origin);
  place.position = first.position;
  place.pass = first.pass;
  if (sources && static_cast<size_t>(first.source) < sources->size())
    place.source = (*sources)[static_cast<size_t>(first.source)];
  place.origin = origin_text(origin, sources ? *sources : std::vector<std::string>());
}

}  // namespace

void annotate(Error& error, const Node& node, const Origin& origin, const std::vector<std::string>* sources) {
  if (!error.place().origin.empty()) return;
  Error::Place& place = error.at();
  place.stage = node.name + (place.stage.empty() ? "" : ", " + place.stage);  // an operation adds its own name
  place.written_at = node.location.describe();
  name_origin(place, origin, sources);
}

void rename_origins(Run& run, const std::vector<std::string>* sources) {
  for (Failure& failure : run.failed)
    if (!failure.error.place().origin.empty()) name_origin(failure.error.at(), run.origins.at(failure.row), sources);
}

namespace {

// The owner of the rows' bytes; null if they do not belong to a file.
Buffer* owner_of(const Column& column) {
  if (column.size() == 0) return nullptr;
  if (!column.dense()) return column.rows()[0].owner();
  const Array& block = column.block();
  return block.type() == DType::kBytes && block.owner() ? block.owner()->characters() : nullptr;
}

// The file of a row's bytes, if one of its components has it.
std::optional<Buffer::Source> file_of(const Run& run, int32_t row) {
  for (const Column& column : run.columns) {
    if (!owner_of(column)) continue;
    if (auto source = column.row(row).source()) return source;
  }
  return std::nullopt;
}

// The file whose path is a component of the row.
std::optional<Buffer::Source> file_named(const Run& run, int32_t row) {
  for (const Column& column : run.columns) {
    const Array value = column.row(row);
    if (value.type() != DType::kBytes || value.count() != 1) continue;
    const std::string path(value.bytes_at(0));
    std::error_code no;
    if (path.find('\0') == std::string::npos && std::filesystem::is_regular_file(path, no)) return {{path}};
  }
  return std::nullopt;
}

const SourceStage* source_of(const Origin& first, const Plan& plan) {
  const auto number = static_cast<size_t>(first.source);
  return number < plan.source_nodes.size() ? if_source(*plan.source_nodes[number]->stage) : nullptr;
}

std::optional<Buffer::Source> file_of_record(const Origin& first, const SourceStage& source) {
  const ListStage* list = if_form<ListStage>(source);
  if (!list || list->calls_user()) return std::nullopt;
  Context context;
  const Result<int64_t> length = list->length(context);
  // An error at the end has no record, and neither has an origin from a damaged checkpoint.
  if (!length || first.position < 0 || first.position >= *length) return std::nullopt;
  const int64_t position[] = {first.position};
  const Result<Run> record = [&]() -> Result<Run> {
    try {
      return list->fetch(position, context);
    } catch (...) {
      return error_of_exception();
    }
  }();
  if (!record) stop_if_interrupted();
  if (!record || record->size != 1 || !record->failed.empty()) return std::nullopt;
  if (const auto file = file_of(*record, 0)) return file;
  return file_named(*record, 0);
}

// Whether the origin is of an error about two rows of a batch, such as rows of different shapes.
bool names_two_rows(const Origin& origin) {
  if (!origin.members || origin.members->size() != 2) return false;
  const Origin &a = (*origin.members)[0], &b = (*origin.members)[1];
  return a.source == b.source && !(a == b);
}

// Adds the passes of the epoch to the origin. A user function can raise the error of a loader of its own, whose origin
// does not change.
void name_epoch(Error& error, const Plan& plan, const EpochPasses& epoch) {
  if (epoch.empty()) return;
  const Result<OriginInEpoch> read = origin_from_text(error.place().origin, plan.sources);
  if (read && read->passes.empty()) error.at().origin += epoch_text(epoch);
}

}  // namespace

Error with_provenance(Error error, const Origin& origin, const Plan& plan, const EpochPasses& epoch) {
  name_epoch(error, plan, epoch);
  if (!error.place().path.empty() || !error.place().record.empty()) return error;
  const bool is_batch = origin.elements > 1 && !names_two_rows(origin);  // any of its elements may be the cause
  std::string all;
  const std::vector<Origin> one{origin};
  for (const Origin& part : origin.members ? *origin.members : one) {
    const Origin& first = outermost(part);
    const SourceStage* const source = source_of(first, plan);
    if (!source) continue;
    auto [record, path] = source->describe_record(first);
    if (!path.empty() && error.place().path.empty() && !is_batch) error.set_path(path);
    if (record.empty()) {
      const std::optional<Buffer::Source> file = file_of_record(first, *source);
      if (!file) continue;
      if (error.place().path.empty() && !is_batch) error.set_path(file->path, origin.members ? -1 : file->offset);
      if (!origin.members && !is_batch) return error;
      record = file->path + (file->offset < 0 ? "" : ", at byte " + std::to_string(file->offset));
    }
    all += (all.empty() ? "" : " and ") + record;
  }
  if (is_batch)
    all = "one of the " + std::to_string(origin.elements) + " elements of a batch" +
          (all.empty() ? "" : ", of which the first is " + all);
  if (!all.empty()) error.at().record = all;
  return error;
}

namespace {

void annotate_new_failures(Run& run, size_t before, const Run* input, const StepPlan& step,
                           const MakeContext& context) {
  if (run.failed.size() == before) return;
  for (Failure& failure : run.failed) {
    if (!failure.error.place().origin.empty()) continue;
    if (input && run.origins.elements_at(failure.row) == 1)
      if (const auto file = file_of(*input, failure.row); file && failure.error.place().path.empty())
        failure.error.set_path(file->path, file->offset);
    annotate(failure.error, *step.node, run.origins.at(failure.row), context.sources);
    if (const SourceStage* source = if_source(*step.node->stage)) {
      auto [record, path] = source->describe_record(run.origins.at(failure.row));
      if (!path.empty() && failure.error.place().path.empty()) failure.error.set_path(path);
      failure.error.at().record = std::move(record);
    }
  }
}

void fail_all(Run& run, const Error& error) {
  for (int32_t row = 0; row < run.size; ++row) run.fail(row, error);
}

void keep_rows(Run& run, const std::vector<uint8_t>& kept) {
  std::vector<int32_t> rows;
  for (int32_t row = 0; row < run.size; ++row)
    if (kept[static_cast<size_t>(row)] || run.failure_of(row)) rows.push_back(row);
  if (static_cast<int32_t>(rows.size()) < run.size) run = run.select(rows);
}

bool has_file(const Run& run) {
  return std::ranges::any_of(run.columns, [](const Column& column) {
    Buffer* owner = owner_of(column);
    return owner && owner->source();
  });
}

// Whether rows lose bytes if a file is truncated.
bool has_backing(const Run& run) {
  if (!Buffer::any_backed()) return false;
  return std::ranges::any_of(run.columns, [](const Column& column) {
    return column.dense() ? column.block().backing() != nullptr : std::ranges::any_of(column.rows(), &Array::backing);
  });
}

}  // namespace

void run_step(const StepPlan& step, Run& run, const MakeContext& context, const StepView& view) {
  Context stage_context(step.seed, step.key, context.stopped);
  stage_context.set_origins(&run.origins);
  stage_context.set_target(view.target);
  stage_context.show_row(view.row);
  stage_context.set_like(view.like);
  const size_t failed_before = run.failed.size();
  std::optional<Run> input;
  if (has_file(run) || has_backing(run)) input = run;
  const Stage& stage = *step.node->stage;
  try {
    if (step.kind == StepPlan::Kind::kFilter) {
      Result<std::vector<uint8_t>> kept = as_form<FilterStage>(stage).keep(run, stage_context);
      if (!kept) fail_all(run, kept.error());
      if (input) run.fail_truncated(*input);
      annotate_new_failures(run, failed_before, input ? &*input : nullptr, step, context);
      if (kept) keep_rows(run, *kept);
      return;
    }
    const Result<void> done = step.kind == StepPlan::Kind::kLoad ? if_source(stage)->load(run, stage_context)
                                                                 : as_form<MapStage>(stage).apply(run, stage_context);
    if (!done) fail_all(run, done.error());
  } catch (...) {
    fail_all(run, error_of_exception());
  }
  if (input) run.fail_truncated(*input);
  annotate_new_failures(run, failed_before, input ? &*input : nullptr, step, context);
}

}  // namespace stoker
