#include "stoker/runtime/lists.h"

#include "stoker/core/permutation.h"
#include "stoker/runtime/cache_store.h"

namespace stoker {

EngineParams shuffle_params(const Node& node) {
  return node.stage->type().form == Form::kEngine ? node.stage->engine() : node.stage->order().value_or(EngineParams{});
}

SeedPair shuffle_seeds(const Node& node, int64_t pass, const std::shared_ptr<const Origin>& parent) {
  const EngineParams params = shuffle_params(node);
  SeedPair seeds{};
  if (params.seed) {
    seeds = tf_seeds(std::nullopt, params.seed);
  } else {
    const uint64_t drawn = node.state->seed.load();
    seeds = {drawn, mix_bits(drawn)};
    if (parent) {  // a drawn order differs from child to child
      const auto [hi, lo] = parent->key();
      seeds = {mix_bits(drawn ^ hi), mix_bits(drawn + lo)};
    }
  }
  return params.each_pass ? epoch_pair(seeds, pass) : seeds;
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
      const SeedPair seeds = shuffle_seeds(*op.node, base + of_row, context.parent);
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

Run EnumerateList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run = input_.make(positions, passes, context);
  Numbers numbers(positions);
  for (int64_t& number : numbers) number += start_;
  run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
  run.nest = Nest::tuple({Nest::leaf(), run.nest});
  return run;
}

Run CacheList::make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const {
  Run run;
  for (size_t i = 0; i < positions.size();) {
    if (std::optional<Run> kept = store_->find(positions[i])) {
      run.append(*std::move(kept));
      ++i;
      continue;
    }
    Numbers missing{positions[i++]};
    while (i < positions.size() && !store_->find(positions[i])) missing.push_back(positions[i++]);
    Run made = input_.make(missing, {0}, context);  // at the pass the cache was first filled in
    for (int32_t row = 0; row < made.size; ++row)
      if (!made.failure_of(row)) store_->put(missing[static_cast<size_t>(row)], made.slice(row, 1));
    run.append(std::move(made));
  }
  Numbers running = passes;
  for (int64_t& pass : running) pass += context.passes->base(*node_, place_);
  run.origins.set_passes(running, context.parent != nullptr);
  return run;
}

}  // namespace stoker
