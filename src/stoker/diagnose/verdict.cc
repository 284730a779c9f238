#include "stoker/diagnose/verdict.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace stoker {
namespace {

// A stage that works so much of the time is at its limit.
constexpr double kAtCapacity = 0.85;
// Python's lock is contended when a probe waits for it as long as this.
constexpr double kProbeContended = 1e-3;
constexpr double kOnCpu = 0.9;
constexpr int64_t kIteratorsRecreated = 5;
// The mean size of so many elements is known to some 6 %.
constexpr int64_t kElementsForSizes = 64;
constexpr double kMemoryShare = 0.8;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string rate(double per_second) { return fmt::format("{:.{}f}", per_second, per_second < 10 ? 1 : 0); }
std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

double capacity_of(const StageFacts& stage) {
  return stage.batch_seconds > 0 ? stage.threads / stage.batch_seconds : std::numeric_limits<double>::infinity();
}

// The stage that bounds the chain.
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
  verdict.confidence = Confidence::kProbable;
  verdict.because.push_back(fmt::format(
      "`{}` is Python: on the CPU {} of its time, and a probe waits {:.1f} ms for the interpreter's lock [limit 1 ms]",
      stage.name, percent(*stage.on_cpu), 1e3 * *facts.interpreter_probe_seconds));
  verdict.fix =
      fmt::format("write `{}` on symbolic values, which run natively, or give it worker processes", stage.name);
}

void explain_stage(const StageFacts& stage, double demand, Verdict& verdict) {
  verdict.because.push_back(fmt::format(
      "`{}` is busy {} on {} {} and can give {} batches/s of the {} needed", stage.name, percent(stage.working),
      stage.threads, stage.threads == 1 ? "thread" : "threads", rate(capacity_of(stage)), rate(demand)));
  if (stage.working < kAtCapacity) verdict.confidence = Confidence::kProbable;
  if (stage.threads == 1)
    verdict.fix = fmt::format("let `{}` run in parallel (num_parallel_calls), or make it cheaper", stage.name);
  else
    verdict.fix = fmt::format("make `{}` cheaper, cache what it gives, or use more cores", stage.name);
}

void judge_input(const RunFacts& facts, const Gates& gates, std::vector<Verdict>& found) {
  if (facts.steps < gates.steps || facts.seconds < gates.seconds) return;
  const double share = facts.wait_seconds / facts.seconds;
  if (share < gates.shown) return;
  Verdict verdict{.code = "INPUT_STAGE",
                  .severity = share >= gates.severe ? Severity::kSevere : Severity::kModerate,
                  .lost_share = share};
  verdict.headline =
      fmt::format("input-bound: {} of each step waits for data [limit {}]", percent(share), percent(gates.shown));
  const double demand = static_cast<double>(facts.steps) / std::max(1e-9, facts.seconds - facts.wait_seconds);
  if (const StageFacts* stage = narrowest(facts); !stage) {
    verdict.code = "INPUT_SLOW";
    verdict.confidence = Confidence::kProbable;
    verdict.because.push_back("cause not visible: the iterable shows no stages");
    verdict.fix = "make batches ahead of the loop, in parallel: sk.from_sequence or sk.Dataset";
  } else {
    explain_stage(*stage, demand, verdict);
    if (holds_the_interpreter(*stage, facts)) explain_interpreter(*stage, facts, verdict);
  }
  found.push_back(std::move(verdict));
}

void judge_iterators(const RunFacts& facts, std::vector<Verdict>& found) {
  const IteratorFacts& made = facts.iterators;
  if (made.made < kIteratorsRecreated || made.batches_each > 1) return;
  const double total = made.start_seconds * static_cast<double>(made.made);
  Verdict verdict{.code = "ITER_RECREATED", .severity = Severity::kSevere};
  verdict.headline = fmt::format("a new iterator is made at every step{}: you always get the first batch",
                                 made.written_at.empty() ? "" : " (" + made.written_at + ")");
  verdict.because.push_back(
      fmt::format("{} iterators gave {:.0f} batch each [limit {} iterators], at {:.0f} ms to start one", made.made,
                  made.batches_each, kIteratorsRecreated, 1e3 * made.start_seconds));
  verdict.fix = "make the iterator once, before the loop: it = iter(ds), then next(it) in the loop";
  verdict.lost_share = facts.seconds > 0 ? std::min(1.0, total / facts.seconds) : 0;
  found.push_back(std::move(verdict));
}

void judge_end(const RunFacts& facts, std::vector<Verdict>& found) {
  if (!facts.ended) return;
  if (facts.batches_given == 0 && facts.failures.failed == 0) {
    Verdict verdict{.code = "SOURCE_EMPTY", .severity = Severity::kSevere};
    verdict.headline = "the source produced nothing";
    if (!facts.source.empty()) verdict.because.push_back("it is " + facts.source);
    verdict.fix = "look at its pattern or files; a filter that keeps nothing does the same";
    found.push_back(std::move(verdict));
    return;
  }
  if (!facts.steps_asked || *facts.steps_asked <= facts.batches_given) return;
  Verdict verdict{.code = "DATA_EXHAUSTED", .severity = Severity::kSevere};
  verdict.headline = fmt::format("the data ran out: {} steps were asked, there are {} batches", *facts.steps_asked,
                                 facts.batches_given);
  verdict.fix = fmt::format("ask for {} steps, or repeat the data: ds.repeat()", facts.batches_given);
  found.push_back(std::move(verdict));
}

void judge_failures(const RunFacts& facts, std::vector<Verdict>& found) {
  const FailureFacts& failures = facts.failures;
  if (failures.failed == 0) return;
  Verdict verdict{.code = "ELEMENT_FAILED", .severity = failures.skipped ? Severity::kNote : Severity::kSevere};
  verdict.headline = fmt::format("{} of {} elements failed{}", failures.failed, failures.elements,
                                 failures.skipped ? " and were skipped" : "");
  verdict.because.push_back((failures.path.empty() ? "" : failures.path + ": ") + failures.first);
  verdict.fix = failures.skipped ? "look at the files that skipped() lists"
                                 : "repair or remove it, or go on without it: ds.on_error(\"skip\")";
  found.push_back(std::move(verdict));
}

void judge_memory(const RunFacts& facts, std::vector<Verdict>& found) {
  for (const HeldFacts& held : facts.held) {
    if (facts.memory_limit <= 0 || held.elements < kElementsForSizes || held.elements_in_all <= held.elements) continue;
    const double each = static_cast<double>(held.bytes) / static_cast<double>(held.elements);
    const double in_all = each * static_cast<double>(held.elements_in_all);
    if (in_all <= kMemoryShare * static_cast<double>(facts.memory_limit)) continue;
    Verdict verdict{.code = "HELD_EXCEEDS_MEMORY", .severity = Severity::kSevere};
    verdict.headline = fmt::format("`{}` will need {}; {} are there [limit {} of it]", held.stage, gigabytes(in_all),
                                   gigabytes(static_cast<double>(facts.memory_limit)), percent(kMemoryShare));
    verdict.because.push_back(fmt::format("{} of {} elements take {}, {:.0f} kB each", held.elements,
                                          held.elements_in_all, gigabytes(static_cast<double>(held.bytes)),
                                          each / 1e3));
    verdict.fix =
        "put it before decoding, where elements are small; or a smaller buffer_size; or shuffle() without one";
    found.push_back(std::move(verdict));
  }
}

void judge_values(const RunFacts& facts, std::vector<Verdict>& found) {
  for (const NonFiniteFacts& bad : facts.non_finite) {
    Verdict verdict{.code = "NON_FINITE", .severity = Severity::kSevere};
    verdict.headline = fmt::format("`{}` holds {} values that are NaN or infinite", bad.component, bad.values);
    if (!bad.origin.empty()) verdict.because.push_back("in " + bad.origin);
    verdict.fix = "look at that element: stoker replay makes it again; filter or repair it before training";
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
  judge_end(facts, found);
  judge_values(facts, found);
  judge_memory(facts, found);
  judge_iterators(facts, found);
  judge_input(facts, gates, found);
  for (auto at = found.begin(); at != found.end(); ++at)  // equals stay in their order
    std::rotate(std::upper_bound(found.begin(), at, *at, costs_more), at, at + 1);
  return found;
}

std::string words_of(const Verdict& verdict) {
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
