#include "stoker/watch/stage_facts.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

// For a stage on waiting threads, the number of threads is the number in use.
int threads_of(const StageStats& stage, int64_t workers, double in_use) {
  if (workers == 0) return 1;
  const int64_t there = stage.waits ? std::max<int64_t>(1, std::llround(std::ceil(in_use))) : workers;
  return static_cast<int>(stage.at_once > 0 ? std::min(stage.at_once, there) : there);
}

}  // namespace

std::vector<StageFacts> stages_between(const LoaderStats& begun, const LoaderStats& now, double seconds,
                                       int64_t batches, bool python) {
  std::vector<StageFacts> all;
  if (seconds <= 0 || batches <= 0) return all;
  for (const StageStats& stage : now.stages) {
    const auto found = std::ranges::find(begun.stages, stage.stage, &StageStats::stage);
    const StageStats before = found == begun.stages.end() ? StageStats{} : *found;
    const double busy = stage.busy_seconds - before.busy_seconds;
    if (busy <= 0) continue;
    StageFacts facts{.name = stage.stage, .threads = threads_of(stage, now.workers, busy / seconds)};
    facts.working = std::min(1.0, busy / seconds / facts.threads);
    facts.starved = std::min(stage.starved, 1 - facts.working);
    facts.blocked = std::min(stage.blocked, 1 - facts.working - facts.starved);
    facts.batch_seconds = busy / static_cast<double>(batches);
    facts.python = python && stage.user;
    const double measured = stage.measured_seconds - before.measured_seconds;
    if (measured > 0) facts.on_cpu = (stage.on_cpu_seconds - before.on_cpu_seconds) / measured;
    all.push_back(std::move(facts));
  }
  return all;
}

std::vector<HeldFacts> held_facts(const LoaderStats& stats) {
  std::vector<HeldFacts> all;
  for (const HeldStats& held : stats.held)
    all.push_back({held.stage, held.elements, held.bytes, held.elements_in_all, held.drops});
  return all;
}

}  // namespace stoker
