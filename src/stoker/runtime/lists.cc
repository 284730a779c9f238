#include "stoker/runtime/lists.h"

#include <span>

#include "stoker/core/permutation.h"
#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/origin_text.h"

namespace stoker {

std::optional<ShuffleParams> shuffle_params(const Stage& stage) {
  const ListStage* list = if_form<ListStage>(stage);
  return list ? list->order() : engine_params<ShuffleParams>(stage);
}

SeedPair shuffle_seeds(const ShuffleParams& params, uint64_t drawn, int64_t pass,
                       const std::shared_ptr<const Origin>& parent) {
  SeedPair seeds{};
  if (params.seed) {
    seeds = tf_seeds(std::nullopt, params.seed);
  } else {
    seeds = {drawn, mix_bits(drawn)};
    if (parent) {  // each opened dataset has its own order
      const auto [hi, lo] = parent->key();
      seeds = {mix_bits(drawn ^ hi), mix_bits(drawn + lo)};
    }
  }
  return params.each_pass ? epoch_pair(seeds, pass) : seeds;
}

int64_t MappedList::most_calls() const {
  int64_t most = list->most_calls();
  for (const StepPlan& step : steps)
    if (step.user) most = stricter(most, step.parallel);
  return most;
}

Run zip_rows(Runs parts) {
  Run run;
  run.size = parts[0].size;
  std::vector<const Nest*> nests;
  for (Run& part : parts) {
    nests.push_back(part.nest);
    for (Column& column : part.columns) run.columns.push_back(std::move(column));
    for (Failure& failure : part.failed) run.fail(failure.row, std::move(failure.error));
  }
  run.nest = Nest::tuple(std::move(nests));
  RecycledVector<Origin> origins(static_cast<size_t>(run.size));
  for (int32_t row = 0; row < run.size; ++row) {
    Origin& origin = origins[static_cast<size_t>(row)];
    std::vector<Origin> members;
    for (const Run& part : parts) {
      members.push_back(part.origins.at(row));
      origin.elements = std::max(origin.elements, members.back().elements);
    }
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(members));
  }
  run.origins = Origins(std::move(origins));
  return run;
}

Run MappedList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = list->make(positions, passes, context);
  for (const StepPlan& step : steps) run_step(step, run, context);
  return run;
}

Recomputed run_steps(Recomputed made, const std::vector<StepPlan>& steps, const MakeContext& context) {
  for (const StepPlan& step : steps) {
    if (!made.complete || made.is_lost()) break;
    if (step.kind != StepPlan::Kind::kFetch) run_step(step, made.run, context);
  }
  return made;
}

Recomputed MappedList::recompute(const Origin& origin, const MakeContext& context) const {
  return run_steps(list->recompute(origin, context), steps, context);
}

namespace {

// Without an early return, the compiler vectorizes the loop.
bool rising_by_one(const Numbers& positions) {
  int64_t differs = 0;
  for (size_t i = 1; i < positions.size(); ++i) differs |= (positions[i] - positions[i - 1]) ^ 1;
  return differs == 0;
}

void select(const SelectionStage& selection, Numbers& positions) {
  for (int64_t& position : positions) position = selection.at(position);
}

}  // namespace

Run SourceList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = fetched(positions, context);
  run.origins = origins_of(positions, passes, context);
  for (Failure& failure : run.failed) annotate(failure.error, *node_, run.origins.at(failure.row), context.sources);
  return run;
}

Recomputed SourceList::recompute(const Origin& origin, const MakeContext& context) const {
  if (origin.parent || origin.members || origin.position < 0 || origin.position >= length_)
    return Recomputed::impossible();
  Run run = fetched({origin.position}, context);
  run.origins = Origins(source_, origin.pass, origin.position, 1);
  if (context.parent) run.origins.set_parent(context.parent);
  for (Failure& failure : run.failed) annotate(failure.error, *node_, run.origins.at(0), context.sources);
  return {std::move(run)};
}

Run SourceList::fetched(const Numbers& positions, const MakeContext& context) const {
  Context stage_context(0, 0, context.stopped);
  std::optional<Error> error;
  try {
    Result<Run> run = as_form<ListStage>(*node_->stage).fetch(positions, stage_context);
    if (run) return *std::move(run);
    error = std::move(run).error();
  } catch (...) {
    error = error_of_exception();
  }
  RunBuilder all;
  for (size_t i = 0; i < positions.size(); ++i) all.add_failure(*error, Origin{}, false);
  return all.take();
}

Origins SourceList::origins_of(const Numbers& positions, Numbers passes, const MakeContext& context) const {
  const int64_t base = context.passes->base(*node_, place_);
  for (int64_t& pass : passes) pass = pass_after(base, pass);
  Origins origins = passes.size() == 1 && rising_by_one(positions)
                        ? Origins(source_, passes[0], positions[0], static_cast<int64_t>(positions.size()))
                        : Origins(source_, std::move(passes), positions);
  if (context.parent) origins.set_parent(context.parent);
  return origins;
}

namespace {

// Sets how many passes of each repeat in the list one full pass of the list starts.
std::vector<PositionList::Op> with_strides(std::vector<PositionList::Op> ops) {
  if (ops.empty()) return ops;
  int64_t last = ops.back().length - 1;
  for (auto op = ops.rbegin(); op != ops.rend() && last >= 0; ++op) {
    if (op->kind == PositionList::Op::Kind::kSelect) last = as_form<SelectionStage>(*op->node->stage).at(last);
    if (op->kind == PositionList::Op::Kind::kPermute) last = op->below - 1;
    if (op->kind == PositionList::Op::Kind::kRepeat) {
      op->stride = std::min(last / op->below + 1, kPassesOfEndlessRepeat);
      last = op->below - 1;
    }
  }
  return ops;
}

}  // namespace

PositionList::PositionList(std::shared_ptr<const ListPlan> base, std::vector<Op> ops)
    : base_(std::move(base)), ops_(with_strides(std::move(ops))) {}

Run PositionList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  if (ops_.empty()) return base_->make(positions, passes, context);
  Numbers below = positions;
  Numbers below_passes = passes;
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) map_to_input(*op, below, below_passes, context);
  if (std::ranges::all_of(below_passes, [&](int64_t pass) { return pass == below_passes[0]; })) below_passes.resize(1);
  return base_->make(below, below_passes, context);
}

void PositionList::map_to_input(const Op& op, Numbers& positions, Numbers& passes, const MakeContext& context) {
  switch (op.kind) {
    case Op::Kind::kSelect: select(as_form<SelectionStage>(*op.node->stage), positions); return;
    case Op::Kind::kRepeat:
      if (passes.size() == 1) passes.resize(positions.size(), passes[0]);
      for (size_t i = 0; i < positions.size(); ++i) {
        passes[i] = pass_number(passes[i], op.stride, positions[i] / op.below);
        positions[i] %= op.below;
      }
      return;
    case Op::Kind::kPermute: return permute(op, positions, passes, context);
  }
}

void PositionList::permute(const Op& op, Numbers& positions, const Numbers& passes, const MakeContext& context) {
  const int64_t base = context.passes->base(*op.node, op.place);
  int64_t pass = -1;
  std::optional<Permutation> permutation;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int64_t of_row = passes.size() == 1 ? passes[0] : passes[i];
    if (!permutation || of_row != pass) {
      const SeedPair seeds = shuffle_seeds(op.order, op.seed, pass_after(base, of_row), context.parent);
      permutation.emplace(seeds.seed << 32 ^ seeds.seed2, op.below);
      pass = of_row;
    }
    positions[i] = (*permutation)(positions[i]);
  }
}

Run ZipList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Runs runs;
  for (const MappedList& part : parts_) runs.push_back(part.make(positions, passes, context));
  return zip_rows(std::move(runs));
}

// If a member failed or was dropped, the result is that member.
Recomputed ZipList::recompute(const Origin& origin, const MakeContext& context) const {
  if (!origin.members || origin.members->size() != parts_.size()) return Recomputed::impossible();
  Runs runs;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Recomputed part = parts_[i].recompute((*origin.members)[i], context);
    if (!part.complete || part.is_lost()) return part;
    runs.push_back(std::move(part.run));
  }
  return {zip_rows(std::move(runs))};
}

ConcatenateList::ConcatenateList(std::vector<MappedList> parts) : parts_(std::move(parts)) {
  int64_t end = 0;
  for (const MappedList& part : parts_) {
    end = std::min(kEndless, end + std::min(kEndless - end, part.list->length()));
    ends_.push_back(end);
  }
}

int64_t ConcatenateList::most_calls() const {
  int64_t most = 0;
  for (const MappedList& part : parts_) most = stricter(most, part.most_calls());
  return most;
}

size_t ConcatenateList::part_of(int64_t position) const {
  const auto part = std::ranges::upper_bound(ends_, position) - ends_.begin();
  return std::min(static_cast<size_t>(part), parts_.size() - 1);
}

Run ConcatenateList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run;
  for (size_t i = 0; i < positions.size();) {
    const size_t part = part_of(positions[i]);
    const int64_t begin = part == 0 ? 0 : ends_[part - 1];
    const int64_t end = ends_[part];
    Numbers own, own_passes;
    for (; i < positions.size() && positions[i] >= begin && positions[i] < end; ++i) {
      own.push_back(positions[i] - begin);
      own_passes.push_back(passes.size() == 1 ? passes[0] : passes[i]);
    }
    if (passes.size() == 1) own_passes.resize(1);
    run.append(parts_[part].make(own, own_passes, context));
  }
  return run;
}

Recomputed ConcatenateList::recompute(const Origin& origin, const MakeContext& context) const {
  const int32_t source = outermost(origin).source;
  const auto part = std::ranges::find_if(parts_, [&](const MappedList& one) { return one.list->reads(source); });
  return (part == parts_.end() ? parts_.back() : *part).recompute(origin, context);
}

Error no_number_left(int64_t start) {
  return Error::out_of_range("the number of this element is above ", INT64_MAX, "; use a start smaller than ", start);
}

Run EnumerateList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = input_.make(positions, passes, context);
  Numbers numbers(positions);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!__builtin_add_overflow(numbers[i], start_, &numbers[i])) continue;
    const auto row = static_cast<int32_t>(i);
    Error error = no_number_left(start_);
    annotate(error, *node_, run.origins.at(row), context.sources);
    run.fail(row, std::move(error));
  }
  run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
  run.nest = Nest::tuple({Nest::leaf(), run.nest});
  return run;
}

// The number of an element depends on the elements before it.
Recomputed EnumerateList::recompute(const Origin& origin, const MakeContext& context) const {
  Recomputed made = input_.recompute(origin, context);
  made.complete &= made.is_lost();
  return made;
}

Run CacheList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  const std::shared_ptr<const Level>& level = context.level_of(*node_);
  const std::shared_ptr<const Origin> parent = level ? level->parent : nullptr;  // of the elements in the store
  Run run;
  for (size_t i = 0; i < positions.size();) {
    const std::span<const int64_t> rest = std::span<const int64_t>(positions).subspan(i);
    if (std::optional<Run> kept = store_->find(rest)) {
      i += static_cast<size_t>(kept->size);
      kept->origins = renamed(kept->origins, source_shift_, parent, context.parent);
      run.append(*std::move(kept));
      continue;
    }
    const size_t n = 1 + store_->missing(rest.subspan(1));
    const Numbers missing(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(n));
    i += n;
    Run made = input_.make(missing, {0}, context.at(level));
    store_->put(missing, made);
    if (level != context.level || source_shift_ != 0) {
      made.origins = renamed(made.origins, source_shift_, parent, context.parent);
      rename_origins(made, context.sources);
    }
    run.append(std::move(made));
  }
  run.origins = running(run.origins, passes, context);
  return run;
}

Origins CacheList::running(const Origins& origins, const Numbers& passes, const MakeContext& context) const {
  const bool own = context.parent != nullptr;
  const int64_t base = context.passes->base(*node_, place_);
  if (passes.size() == 1) return in_running_pass(origins, pass_after(base, passes[0]), stride_, own);
  Origins all;
  for (int64_t i = 0; i < origins.size(); ++i) {
    const int64_t pass = pass_after(base, passes[static_cast<size_t>(i)]);
    all.append(in_running_pass(origins.slice(i, 1), pass, stride_, own));
  }
  return all;
}

Recomputed CacheList::recompute(const Origin& origin, const MakeContext& context) const {
  return recompute_cached(
      origin, source_shift_, stride_, [&](const Origin& upstream) { return input_.recompute(upstream, context); },
      context);
}

Recomputed recompute_cached(const Origin& origin, int32_t source_shift, int64_t stride,
                            const std::function<Recomputed(const Origin&)>& upstream, const MakeContext& context) {
  const Origins local =
      renamed(Origins(RecycledVector<Origin>{in_first_pass(origin, stride)}), -source_shift, nullptr, nullptr);
  Recomputed made = upstream(local.at(0));
  if (made.run.size == 0) return made;
  made.run.origins = renamed(made.run.origins, source_shift, nullptr, nullptr);
  made.run.origins = in_running_pass(made.run.origins, outermost(origin).pass / stride, stride, false);
  rename_origins(made.run, context.sources);
  return made;
}

}  // namespace stoker
