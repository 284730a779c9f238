#include "stoker/watch/loader_counts.h"

#include <algorithm>
#include <cmath>

namespace stoker {
namespace {

template <typename T>
T value_at(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  if (!found) return T{};
  if constexpr (std::is_same_v<T, double>)
    if (const int64_t* whole = found->as<int64_t>()) return static_cast<double>(*whole);
  const T* value = found->as<T>();
  return value ? *value : T{};
}

LoaderCounts::Stage stage_of(const Json& json) {
  return {.name = value_at<std::string>(json, "stage"),
          .at_once = value_at<int64_t>(json, "at_once"),
          .user = value_at<bool>(json, "user"),
          .waits = value_at<bool>(json, "waits"),
          .busy_seconds = value_at<double>(json, "busy_seconds"),
          .measured_seconds = value_at<double>(json, "measured_seconds"),
          .on_cpu_seconds = value_at<double>(json, "on_cpu_seconds"),
          .starved = value_at<double>(json, "starved"),
          .blocked = value_at<double>(json, "blocked")};
}

HeldFacts held_of(const Json& json) {
  return {.stage = value_at<std::string>(json, "stage"),
          .elements = value_at<int64_t>(json, "elements"),
          .bytes = value_at<int64_t>(json, "bytes"),
          .elements_in_all = value_at<int64_t>(json, "elements_in_all"),
          .drops = value_at<bool>(json, "drops_what_does_not_fit")};
}

// Waiting threads are as many as were in use.
int threads_of(const LoaderCounts::Stage& stage, int workers, double in_use) {
  if (workers == 0) return 1;
  const int there = stage.waits ? std::max(1, static_cast<int>(std::ceil(in_use))) : workers;
  return stage.at_once > 0 ? static_cast<int>(std::min<int64_t>(stage.at_once, there)) : there;
}

}  // namespace

LoaderCounts LoaderCounts::of(const Json& stats) {
  LoaderCounts counts;
  counts.workers = static_cast<int>(value_at<int64_t>(stats, "workers"));
  counts.skipped = value_at<int64_t>(stats, "skipped");
  counts.budget_bytes = value_at<int64_t>(stats, "budget_bytes");
  for (const Json& stage : value_at<Json::List>(stats, "stages")) counts.stages.push_back(stage_of(stage));
  for (const Json& held : value_at<Json::List>(stats, "held")) counts.held.push_back(held_of(held));
  return counts;
}

std::vector<StageFacts> stages_between(const LoaderCounts& begun, const LoaderCounts& now, double seconds,
                                       int64_t batches, bool python) {
  std::vector<StageFacts> all;
  if (seconds <= 0 || batches <= 0) return all;
  for (const LoaderCounts::Stage& stage : now.stages) {
    const auto found = std::ranges::find(begun.stages, stage.name, &LoaderCounts::Stage::name);
    const LoaderCounts::Stage before = found == begun.stages.end() ? LoaderCounts::Stage{} : *found;
    const double busy = stage.busy_seconds - before.busy_seconds;
    if (busy <= 0) continue;
    StageFacts facts{.name = stage.name, .threads = threads_of(stage, now.workers, busy / seconds)};
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

}  // namespace stoker
