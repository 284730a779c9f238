#include "stoker/runtime/lists.h"

#include "stoker/core/permutation.h"
#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/origin_text.h"

namespace stoker {

EngineParams shuffle_params(const Node& node) {
  return node.stage->type().form == Form::kEngine ? node.stage->engine() : node.stage->order().value_or(EngineParams{});
}

SeedPair shuffle_seeds(const Node& node, uint64_t drawn, int64_t pass, const std::shared_ptr<const Origin>& parent) {
  const EngineParams params = shuffle_params(node);
  SeedPair seeds{};
  if (params.seed) {
    seeds = tf_seeds(std::nullopt, params.seed);
  } else {
    seeds = {drawn, mix_bits(drawn)};
    if (parent) {  // a drawn order differs from child to child
      const auto [hi, lo] = parent->key();
      seeds = {mix_bits(drawn ^ hi), mix_bits(drawn + lo)};
    }
  }
  return params.each_pass ? epoch_pair(seeds, pass) : seeds;
}

int64_t Listed::most_calls() const {
  int64_t most = list->most_calls();
  for (const StepPlan& step : steps)
    if (step.user) most = stricter(most, step.parallel);
  return most;
}

Run joined(Runs parts) {
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
    std::vector<Origin> members;
    for (const Run& part : parts) members.push_back(part.origins.at(row));
    origins[static_cast<size_t>(row)].members = std::make_shared<const std::vector<Origin>>(std::move(members));
  }
  run.origins = Origins(std::move(origins));
  return run;
}

Run Listed::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = list->make(positions, passes, context);
  for (const StepPlan& step : steps) run_step(step, run, context);
  return run;
}

Remade stepped(Remade made, const std::vector<StepPlan>& steps, const MakeContext& context) {
  for (const StepPlan& step : steps) {
    if (!made.complete || made.run.size == 0 || !made.run.failed.empty()) break;
    if (step.kind != StepPlan::Kind::kFetch) run_step(step, made.run, context);
  }
  return made;
}

Remade Listed::remake(const Origin& origin, const MakeContext& context) const {
  return stepped(list->remake(origin, context), steps, context);
}

namespace {

// Without a way out in the middle the compiler takes several at a time.
bool rising_by_one(const Numbers& positions) {
  int64_t differs = 0;
  for (size_t i = 1; i < positions.size(); ++i) differs |= (positions[i] - positions[i - 1]) ^ 1;
  return differs == 0;
}

}  // namespace

Run SourceList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = fetched(positions, context);
  run.origins = origins_of(positions, passes, context);
  for (Failure& failure : run.failed) annotate(failure.error, *node_, run.origins.at(failure.row), context.sources);
  return run;
}

Remade SourceList::remake(const Origin& origin, const MakeContext& context) const {
  if (origin.members || origin.position < 0 || origin.position >= length_) return {Run(), false};
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
    Result<Run> run = node_->stage->fetch(positions, stage_context);
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
  for (int64_t& pass : passes) pass += base;
  Origins origins = passes.size() == 1 && rising_by_one(positions)
                        ? Origins(source_, passes[0], positions[0], static_cast<int64_t>(positions.size()))
                        : Origins(source_, std::move(passes), positions);
  if (context.parent) origins.set_parent(context.parent);
  return origins;
}

Run PositionList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  if (ops_.empty()) return base_->make(positions, passes, context);
  Numbers below = positions;
  Numbers below_passes = passes;
  for (auto op = ops_.rbegin(); op != ops_.rend(); ++op) go_below(*op, below, below_passes, context);
  if (std::ranges::all_of(below_passes, [&](int64_t pass) { return pass == below_passes[0]; })) below_passes.resize(1);
  return base_->make(below, below_passes, context);
}

void PositionList::go_below(const Op& op, Numbers& positions, Numbers& passes, const MakeContext& context) {
  switch (op.kind) {
    case Op::Kind::kSelect:
      for (int64_t& position : positions) position = op.node->stage->select(position);
      return;
    case Op::Kind::kRepeat:
      if (passes.size() == 1) passes.resize(positions.size(), passes[0]);
      for (size_t i = 0; i < positions.size(); ++i) {
        passes[i] = passes[i] * op.stride + positions[i] / op.below;
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
      const SeedPair seeds = shuffle_seeds(*op.node, op.seed, base + of_row, context.parent);
      permutation.emplace(seeds.seed << 32 ^ seeds.seed2, op.below);
      pass = of_row;
    }
    positions[i] = (*permutation)(positions[i]);
  }
}

Run ZipList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Runs runs;
  for (const Listed& part : parts_) runs.push_back(part.make(positions, passes, context));
  return joined(std::move(runs));
}

// A member that failed or was dropped is all that is made again of the tuple.
Remade ZipList::remake(const Origin& origin, const MakeContext& context) const {
  if (!origin.members || origin.members->size() != parts_.size()) return {Run(), false};
  Runs runs;
  for (size_t i = 0; i < parts_.size(); ++i) {
    Remade part = parts_[i].remake((*origin.members)[i], context);
    if (!part.complete || part.run.size == 0 || !part.run.failed.empty()) return part;
    runs.push_back(std::move(part.run));
  }
  return {joined(std::move(runs))};
}

Run ConcatenateList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run;
  const int64_t border = first_.list->length();
  for (size_t i = 0; i < positions.size();) {
    const bool behind = positions[i] >= border;
    Numbers part, part_passes;
    for (; i < positions.size() && (positions[i] >= border) == behind; ++i) {
      part.push_back(positions[i] - (behind ? border : 0));
      part_passes.push_back(passes.size() == 1 ? passes[0] : passes[i]);
    }
    if (passes.size() == 1) part_passes.resize(1);
    run.append((behind ? second_ : first_).make(part, part_passes, context));
  }
  return run;
}

Remade ConcatenateList::remake(const Origin& origin, const MakeContext& context) const {
  return (first_.list->reads(outermost(origin).source) ? first_ : second_).remake(origin, context);
}

Run EnumerateList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = input_.make(positions, passes, context);
  Numbers numbers(positions);
  for (int64_t& number : numbers) number += start_;
  run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
  run.nest = Nest::tuple({Nest::leaf(), run.nest});
  return run;
}

// Its number depends on the elements before it.
Remade EnumerateList::remake(const Origin& origin, const MakeContext& context) const {
  Remade made = input_.remake(origin, context);
  made.complete &= made.run.size == 0 || !made.run.failed.empty();
  return made;
}

Run CacheList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run;
  for (size_t i = 0; i < positions.size();) {
    if (std::optional<Run> kept = store_->find(positions[i])) {
      kept->origins = renamed(kept->origins, first_source_, context.parent);
      run.append(*std::move(kept));
      ++i;
      continue;
    }
    Numbers missing{positions[i++]};
    while (i < positions.size() && !store_->find(positions[i])) missing.push_back(positions[i++]);
    Run made = input_.make(missing, {0}, context);
    for (int32_t row = 0; row < made.size; ++row) {
      if (made.failure_of(row)) continue;
      Run one = made.slice(row, 1);
      one.origins = renamed(one.origins, -first_source_, context.parent);
      store_->put(missing[static_cast<size_t>(row)], one);
    }
    run.append(std::move(made));
  }
  run.origins = running(run.origins, passes, context);
  return run;
}

Origins CacheList::running(const Origins& origins, const Numbers& passes, const MakeContext& context) const {
  const bool own = context.parent != nullptr;
  const int64_t base = context.passes->base(*node_, place_);
  if (passes.size() == 1) return in_running_pass(origins, passes[0] + base, stride_, own);
  Origins all;
  for (int64_t i = 0; i < origins.size(); ++i)
    all.append(in_running_pass(origins.slice(i, 1), passes[static_cast<size_t>(i)] + base, stride_, own));
  return all;
}

Remade CacheList::remake(const Origin& origin, const MakeContext& context) const {
  Remade made = input_.remake(in_first_pass(origin, stride_), context);
  made.run.origins = in_running_pass(made.run.origins, outermost(origin).pass / stride_, stride_, false);
  return made;
}

}  // namespace stoker
