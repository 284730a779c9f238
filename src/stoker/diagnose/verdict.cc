#include "stoker/diagnose/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace stoker {
namespace {

// A stage that is working for this share of the time is at its limit.
constexpr double kAtCapacity = 0.85;
// A stage that can produce this multiple of the demand does not limit the loop.
constexpr double kEnough = 1.1;
// The interpreter lock is contended if a probe waits for it this many seconds.
constexpr double kProbeContended = 1e-3;
constexpr double kOnCpu = 0.9;
// The mean size of this many elements is accurate to about 6 %.
constexpr int64_t kElementsForSizes = 64;
constexpr double kMemoryShare = 0.8;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string rate(double per_second) { return fmt::format("{:.{}f}", per_second, per_second < 10 ? 1 : 0); }
std::string size_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  return bytes >= 1e6 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.1f} kB", bytes / 1e3);
}

double capacity_of(const StageFacts& stage) {
  return stage.batch_seconds > 0 ? stage.threads / stage.batch_seconds : std::numeric_limits<double>::infinity();
}

// The stage with the lowest capacity.
const StageFacts* narrowest(const RunFacts& facts) {
  const auto found = std::ranges::min_element(facts.stages, {}, capacity_of);
  return found == facts.stages.end() ? nullptr : &*found;
}

bool holds_the_interpreter(const StageFacts& stage, const RunFacts& facts) {
  return stage.python && stage.threads == 1 && stage.working >= kAtCapacity && stage.on_cpu.value_or(0) >= kOnCpu &&
         facts.interpreter_probe_seconds.value_or(0) >= kProbeContended;
}

void explain_interpreter(const StageFacts& stage, const RunFacts& facts, Verdict& verdict) {
  verdict.code = "GIL";
  verdict.about = stage.name;
  verdict.confidence = Confidence::kProbable;
  verdict.because.push_back(fmt::format(
      "`{}` runs Python code: it is on the CPU for {} of its time, and a probe waits {:.1f} ms for the interpreter "
      "lock (GIL) [limit 1 ms]",
      stage.name, percent(*stage.on_cpu), 1e3 * *facts.interpreter_probe_seconds));
  verdict.fix = fmt::format(
      "write `{}` with Stoker's operations, which run natively; if it mostly calls functions that release the GIL, run "
      "it on threads (num_parallel_calls)",
      stage.name);
}

// The share of the time that the workers are busy, over all stages.
double pool_working(const RunFacts& facts) {
  double threads = 0;
  for (const StageFacts& stage : facts.stages) threads += stage.working * stage.threads;
  return facts.workers.value_or(0) > 0 ? threads / *facts.workers : 0;
}

bool is_pool_full(const StageFacts& stage, const RunFacts& facts) {
  return stage.threads > 1 && pool_working(facts) >= kAtCapacity;
}

bool is_at_its_limit(const StageFacts& stage, const RunFacts& facts, double demand) {
  return stage.working >= kAtCapacity || is_pool_full(stage, facts) || capacity_of(stage) < kEnough * demand;
}

std::string count_of(int n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); }

// No stage is at its limit, so either some elements are slow, or other programs
// use the cores.
void explain_unevenness(const StageFacts& stage, double demand, Verdict& verdict) {
  verdict.code = "INPUT_SLOW";
  verdict.confidence = Confidence::kProbable;
  verdict.because.push_back(
      fmt::format("the load is uneven: `{}`, the slowest stage, is {} busy and could produce {} batches/s; training "
                  "could consume {}",
                  stage.name, percent(stage.working), rate(capacity_of(stage)), rate(demand)));
  verdict.fix = "increase prefetch, look for elements that take long, and for other programs on these cores";
}

void explain_stage(const StageFacts& stage, const RunFacts& facts, double demand, Verdict& verdict) {
  verdict.because.push_back(fmt::format("`{}` is {} busy on {} and can produce {} batches/s; training could consume {}",
                                        stage.name, percent(stage.working), count_of(stage.threads, "thread"),
                                        rate(capacity_of(stage)), rate(demand)));
  const bool pool_is_full = is_pool_full(stage, facts);
  if (pool_is_full)
    verdict.because.push_back(fmt::format("the pool of {} is {} busy [limit {}]", count_of(*facts.workers, "worker"),
                                          percent(std::min(1.0, pool_working(facts))), percent(kAtCapacity)));
  if (stage.working < kAtCapacity && !pool_is_full) verdict.confidence = Confidence::kProbable;
  if (stage.threads == 1)
    verdict.fix = fmt::format("run `{}` in parallel (num_parallel_calls; interleave for a source), or make it cheaper",
                              stage.name);
  else
    verdict.fix = fmt::format("make `{}` cheaper, cache its output, or use more cores", stage.name);
}

// The training thread produces its own batches; workers would produce them while
// it trains.
void explain_loop(const StageFacts* stage, const RunFacts& facts, double demand, Verdict& verdict) {
  const auto steps = static_cast<double>(facts.steps);
  const double making = facts.wait_seconds / steps;
  const double training = std::max(1e-9, (facts.seconds - facts.wait_seconds) / steps);
  verdict.because.push_back(
      fmt::format("the input is produced in the training thread: {:.3g} ms of a step of {:.3g} ms", 1e3 * making,
                  1e3 * facts.seconds / steps));
  if (stage && stage->batch_seconds > 0)
    verdict.because.push_back(fmt::format("`{}` takes {:.3g} ms of it", stage->name, 1e3 * stage->batch_seconds));
  const int most = facts.cores > 0 ? facts.cores : std::numeric_limits<int>::max();
  const int workers = static_cast<int>(std::clamp(std::ceil(making / training), 1.0, static_cast<double>(most)));
  const double reachable = std::min(demand, workers / making), now = steps / facts.seconds;
  verdict.fix = fmt::format("{}: {} would produce {} of the {} batches/s that training could consume, instead of {}",
                            stage ? "let workers prefetch the input (STOKER_WORKERS, configure)"
                                  : "prefetch the batches in a dataset with workers",
                            count_of(workers, "worker"), rate(reachable), rate(demand), rate(now));
  verdict.lost_share = std::clamp(1 - now / reachable, 0.0, verdict.lost_share);  // what the fix can recover
}

void explain_unseen(const RunFacts& facts, Verdict& verdict) {
  verdict.code = "INPUT_SLOW";
  verdict.confidence = Confidence::kProbable;
  verdict.because.push_back("the cause is unknown: this iterable reports no stages");
  if (facts.interpreter_probe_seconds.value_or(0) >= kProbeContended)
    verdict.because.push_back(
        fmt::format("Python threads hold the interpreter lock (GIL): a probe waits {:.1f} ms for it [limit 1 ms]",
                    1e3 * *facts.interpreter_probe_seconds));
  verdict.fix = "prefetch the batches in parallel with sk.from_sequence or sk.Dataset";
}

void judge_input(const RunFacts& facts, const Gates& gates, std::vector<Verdict>& found) {
  if (facts.steps < gates.steps || facts.seconds < gates.seconds || facts.seconds <= 0) return;
  const double share = std::min(1.0, facts.wait_seconds / facts.seconds);
  if (share < gates.shown) return;
  Verdict verdict{.code = "INPUT_STAGE",
                  .severity = share >= gates.severe ? Severity::kSevere : Severity::kModerate,
                  .lost_share = share,
                  .speed = true};
  verdict.headline = fmt::format("input-bound: {} of each step is spent waiting for data [limit {}]", percent(share),
                                 percent(gates.shown));
  const double demand = static_cast<double>(facts.steps) / std::max(1e-9, facts.seconds - facts.wait_seconds);
  const StageFacts* stage = narrowest(facts);
  if (stage) verdict.about = stage->name;
  if (facts.workers == 0) {
    explain_loop(stage, facts, demand, verdict);
  } else if (!stage) {
    explain_unseen(facts, verdict);
  } else if (!is_at_its_limit(*stage, facts, demand)) {
    explain_unevenness(*stage, demand, verdict);
  } else {
    explain_stage(*stage, facts, demand, verdict);
    if (holds_the_interpreter(*stage, facts)) explain_interpreter(*stage, facts, verdict);
  }
  found.push_back(std::move(verdict));
}

void judge_iterators(const RunFacts& facts, std::vector<Verdict>& found) {
  const IteratorFacts& made = facts.iterators;
  if (made.made < kIteratorsRecreated || made.batches_each > 1) return;
  const double total = made.start_seconds * static_cast<double>(made.made);
  Verdict verdict{.code = "ITER_RECREATED", .severity = Severity::kSevere};
  verdict.headline = fmt::format("a new iterator is created in every step{}: every step gets the first batch",
                                 made.written_at.empty() ? "" : " (" + made.written_at + ")");
  verdict.because.push_back(
      fmt::format("{} iterators delivered {:.0f} batch each [limit {} iterators], and took {:.0f} ms each to start",
                  made.made, made.batches_each, kIteratorsRecreated, 1e3 * made.start_seconds));
  verdict.fix = "create the iterator once, before the loop, and request the next batch from it in every step";
  verdict.lost_share = facts.seconds > 0 ? std::min(1.0, total / facts.seconds) : 0;
  found.push_back(std::move(verdict));
}

Verdict nothing_came(const RunFacts& facts, std::string headline) {
  Verdict verdict{.code = "SOURCE_EMPTY", .severity = Severity::kSevere};
  verdict.headline = std::move(headline);
  if (!facts.source.empty()) verdict.because.push_back("the source is " + facts.source);
  verdict.fix = "check the file pattern and the files, and whether a filter drops every element";
  return verdict;
}

void judge_silence(const RunFacts& facts, const Gates& gates, std::vector<Verdict>& found) {
  const SilenceFacts& silence = facts.silence;
  if (silence.seconds < gates.silence_seconds) return;
  Verdict verdict = nothing_came(facts, fmt::format("the source has produced no batch for {:.0f} s [limit {:.0f} s]",
                                                    silence.seconds, gates.silence_seconds));
  if (!silence.where.empty()) verdict.because.push_back("it is executing " + silence.where);
  if (silence.on_cpu)
    verdict.because.push_back(fmt::format("it is {}: on the CPU for {} of this time",
                                          *silence.on_cpu >= 0.5 ? "computing" : "waiting", percent(*silence.on_cpu)));
  found.push_back(std::move(verdict));
}

void judge_end(const RunFacts& facts, std::vector<Verdict>& found) {
  const bool known = facts.batches_there.has_value();
  if (!facts.ended && !known) return;
  const int64_t there = facts.ended ? facts.batches_given : *facts.batches_there;
  if (there == 0 && facts.failures.failed == 0) {
    found.push_back(nothing_came(facts, facts.ended ? "the source produced no elements" : "the dataset is empty"));
    return;
  }
  if (!facts.steps_asked || *facts.steps_asked <= there) return;
  Verdict verdict{.code = "DATA_EXHAUSTED", .severity = Severity::kSevere};
  verdict.headline =
      fmt::format("the data {}: {} steps {} requested, and an epoch has {} batches",
                  facts.ended ? "ran out" : "will run out", *facts.steps_asked, facts.ended ? "were" : "are", there);
  verdict.fix = fmt::format("request {} steps per epoch, or repeat the data with ds.repeat()", there);
  found.push_back(std::move(verdict));
}

void judge_failures(const RunFacts& facts, std::vector<Verdict>& found) {
  const FailureFacts& failures = facts.failures;
  if (failures.failed == 0) return;
  Verdict verdict{.code = "ELEMENT_FAILED",
                  .about = failures.path,
                  .severity = failures.skipped ? Severity::kNote : Severity::kSevere};
  const bool one = failures.failed == 1;
  verdict.headline = fmt::format("{}{} {} failed{}", failures.failed,
                                 failures.elements > 0 ? fmt::format(" of {}", failures.elements) : "",
                                 one && failures.elements == 0 ? "element" : "elements",
                                 !failures.skipped ? ""
                                 : one             ? " and was skipped"
                                                   : " and were skipped");
  verdict.because.push_back((failures.path.empty() ? "" : failures.path + ": ") + failures.first);
  verdict.fix = failures.skipped ? "check the files that skipped() lists"
                                 : "repair or remove it, or skip failed elements with ds.on_error(\"skip\")";
  found.push_back(std::move(verdict));
}

void judge_memory(const RunFacts& facts, std::vector<Verdict>& found) {
  for (const HeldFacts& held : facts.held) {
    if (facts.memory_limit <= 0 || held.elements < kElementsForSizes || held.elements_in_all <= held.elements) continue;
    const double each = static_cast<double>(held.bytes) / static_cast<double>(held.elements);
    const double in_all = each * static_cast<double>(held.elements_in_all);
    if (in_all <= kMemoryShare * static_cast<double>(facts.memory_limit)) continue;
    Verdict verdict{.code = "HELD_EXCEEDS_MEMORY", .about = held.stage, .severity = Severity::kSevere};
    verdict.headline =
        fmt::format("`{}` will need {}, and the memory budget is {} [limit {} of it]", held.stage, size_text(in_all),
                    size_text(static_cast<double>(facts.memory_limit)), percent(kMemoryShare));
    verdict.because.push_back(fmt::format("{} of {} elements take {}, {} each", held.elements, held.elements_in_all,
                                          size_text(static_cast<double>(held.bytes)), size_text(each)));
    verdict.fix =
        held.drops
            ? "move it before decoding, where elements are small; elements that do not fit are recomputed in each epoch"
            : "move it before decoding, where elements are small, reduce buffer_size, or use shuffle() without a size";
    found.push_back(std::move(verdict));
  }
}

void judge_values(const RunFacts& facts, std::vector<Verdict>& found) {
  for (const NonFiniteFacts& bad : facts.non_finite) {
    Verdict verdict{.code = "NON_FINITE", .about = bad.component, .severity = Severity::kSevere};
    verdict.headline = bad.values == 1
                           ? fmt::format("`{}` contains a value that is NaN or infinite", bad.component)
                           : fmt::format("`{}` contains {} values that are NaN or infinite", bad.component, bad.values);
    if (!bad.origin.empty()) verdict.because.push_back("the first is in " + bad.origin);
    verdict.fix = "inspect that element, and repair it or filter it out before training";
    found.push_back(std::move(verdict));
  }
}

bool costs_more(const Verdict& a, const Verdict& b) {
  return a.severity != b.severity ? a.severity > b.severity : a.lost_share > b.lost_share;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kModerate: return "moderate";
    case Severity::kSevere: return "severe";
  }
  return "";
}

std::vector<Verdict> judge(const RunFacts& facts, const Gates& gates) {
  std::vector<Verdict> found;
  judge_failures(facts, found);
  judge_silence(facts, gates, found);
  judge_end(facts, found);
  judge_values(facts, found);
  judge_memory(facts, found);
  judge_iterators(facts, found);
  judge_input(facts, gates, found);
  for (auto at = found.begin(); at != found.end(); ++at)  // a stable insertion sort
    std::rotate(std::upper_bound(found.begin(), at, *at, costs_more), at, at + 1);
  return found;
}

std::string describe(const Verdict& verdict) {
  std::string text = fmt::format("{} ({}): {}.\n", verdict.code, name_of(verdict.severity), verdict.headline);
  const char* lead = verdict.confidence == Confidence::kCertain ? "Because" : "Probably";
  for (const std::string& reason : verdict.because) text += fmt::format("  {}: {}.\n", lead, reason);
  text += fmt::format("  Do:      {}.\n", verdict.fix);
  if (verdict.lost_share > 0 && verdict.lost_share < 1)
    text += fmt::format("  At best: {:.1f} times as fast.\n", 1 / (1 - verdict.lost_share));
  return text;
}

Json to_json(const Verdict& verdict) {
  Json json = Json::dict();
  json.set("code", verdict.code);
  json.set("about", verdict.about.empty() ? Json() : Json(verdict.about));
  json.set("severity", name_of(verdict.severity));
  json.set("confidence", verdict.confidence == Confidence::kCertain ? "certain" : "probable");
  json.set("headline", verdict.headline);
  Json because = Json::list();
  for (const std::string& reason : verdict.because) because.push(reason);
  json.set("because", std::move(because));
  Json fix = Json::dict();
  fix.set("text", verdict.fix);
  fix.set("expected_speedup_max",
          verdict.lost_share > 0 && verdict.lost_share < 1 ? Json(1 / (1 - verdict.lost_share)) : Json());
  json.set("fix", std::move(fix));
  return json;
}

}  // namespace stoker
