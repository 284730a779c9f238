#include "stoker/watch/recorder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "stoker/runtime/machine.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/meter.h"

namespace stoker {
namespace {

constexpr int64_t kStartUpSteps = 3;
constexpr int64_t kSilentFor = 600'000'000'000;  // before the same finding is reported again
constexpr int64_t kCheckingShare = 200;          // values are checked for at most 1/200 of the time
constexpr int64_t kIntervalsBetweenProbes = 10;

double seconds_of(int64_t ns) { return static_cast<double>(ns) * 1e-9; }
double each_of(double seconds, int64_t steps) { return steps > 0 ? seconds / static_cast<double>(steps) : 0; }

std::string key_of(const Verdict& verdict) { return verdict.code + " " + verdict.about; }

bool is_python_suspect(const RunFacts& facts) {
  if (facts.workers == 0) return false;
  return facts.stages.empty() || std::ranges::any_of(facts.stages, &StageFacts::python);
}

std::string bar_of(const StageFacts& stage) {
  const auto tenths = static_cast<size_t>(std::lround(10 * stage.working));
  return fmt::format("  {} {:.0f} %|{:.<10}", stage.name, 100 * stage.working, std::string(tenths, '#'));
}

Json stage_json(const StageFacts& stage) {
  Json json = Json::dict();
  json.set("name", stage.name);
  json.set("threads", stage.threads);
  json.set("working", stage.working);
  json.set("starved", stage.starved);
  json.set("blocked", stage.blocked);
  json.set("batch_seconds", stage.batch_seconds);
  json.set("python", stage.python);
  json.set("on_cpu", stage.on_cpu ? Json(*stage.on_cpu) : Json());
  return json;
}

// The sources with their places in the program: "list_files (train.cc:12), range
// (train.cc:13)".
std::string sources_of(const Node& root) {
  std::string text;
  for (const Node* node : nodes_of(root)) {
    if (!node->inputs.empty()) continue;
    text += (text.empty() ? "" : ", ") + node->name;
    if (node->location.line > 0) text += " (" + node->location.describe() + ")";
  }
  return text;
}

}  // namespace

Supply Supply::of(const Dataset& dataset) {
  if (dataset.error()) return {};
  Supply supply{.source = sources_of(*dataset.node()), .restarts = Restarts::of(*dataset.node())};
  if (const Result<int64_t> there = dataset.cardinality(Counting::kAsKnown); there && *there >= 0)
    supply.batches = *there;
  return supply;
}

Recorder::Recorder(WatchOptions options, Supply supply)
    : options_(std::move(options)),
      supply_(std::move(supply)),
      clock_(options_.clock ? options_.clock : now_ns),
      restarts_(supply_.restarts ? supply_.restarts : std::make_shared<Restarts>()),
      cores_(read_machine().cores) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    created_ns_ = epoch_ns_ = clock_();
    written_at_ = supply_.begun_at;
    messages = judge_events();
  }
  report_messages(messages);
}

// ---- called by the loop

void Recorder::begin_epoch(std::string written_at) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    if (!supply_.restarts && epoch_given_ > 0) restarts_->note(epoch_given_, ended_, seconds_of(first_ns_ - epoch_ns_));
    written_at_ = std::move(written_at);
    epoch_given_ = 0;
    epoch_ns_ = clock_();
    ended_ = false;
    is_start_up_ = true;
    messages = judge_events();
  }
  report_messages(messages);
}

int64_t Recorder::ask() {
  const MutexLock lock(mutex_);
  return asked_ns_ = clock_();
}

void Recorder::give(int64_t asked) {
  const MutexLock lock(mutex_);
  const int64_t now = clock_();
  ++given_;
  if (++epoch_given_ == 1) first_ns_ = now;
  silence_ = {};
  if (!is_start_up_ && given_ > kStartUpSteps)
    for (Times* times : {&all_, &interval_}) {
      ++times->steps;
      times->ns += now - last_ns_;
      times->wait_ns += now - asked;
    }
  is_start_up_ = false;
  last_ns_ = now;
}

void Recorder::end() {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    if (!ended_) last_ns_ = clock_();
    ended_ = true;
    is_start_up_ = true;
    messages = judge_events();
  }
  report_messages(messages);
}

void Recorder::fail(std::string message, std::string path) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    if (failures_.failed == 0 || failures_.skipped) failures_ = {.first = std::move(message), .path = std::move(path)};
    ++failures_.failed;
    messages = judge_events();
  }
  report_messages(messages);
}

bool Recorder::wants_values() const {
  const MutexLock lock(mutex_);
  return intervals_ == 0 || checking_ns_ * kCheckingShare <= last_ns_ - created_ns_;
}

void Recorder::note_values(const std::vector<NonFinite>& found, int64_t looked_since) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    checking_ns_ += clock_() - looked_since;
    for (const NonFinite& bad : found) add_non_finite(bad);
    if (!found.empty()) messages = judge_events();
  }
  report_messages(messages);
}

void Recorder::add_non_finite(const NonFinite& bad) {
  const std::string component = bad.component.empty() ? "the batch" : bad.component;
  const auto known = std::ranges::find(non_finite_, component, &NonFiniteFacts::component);
  if (known != non_finite_.end()) {
    known->values += bad.values;
    return;
  }
  const std::string file = bad.path.empty() ? "" : ", " + bad.path;
  non_finite_.push_back(
      {component, bad.values,
       fmt::format("batch {} of the epoch, row {}, counted from 0{}", epoch_given_ - 1, bad.row, file)});
}

// ---- the loader's counters

bool Recorder::interval_is_over() const {
  return interval_.steps >= options_.window_steps && seconds_of(interval_.ns) >= options_.window_seconds;
}

bool Recorder::is_due() const {
  const MutexLock lock(mutex_);
  return (!begun_ && given_ >= kStartUpSteps) || interval_is_over();
}

void Recorder::see(const LoaderStats& stats) {
  if (!stats.empty()) latest_ = Seen{stats, last_ns_, given_};
}

void Recorder::look(const LoaderStats& stats) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    see(stats);
    const Seen seen = latest_.value_or(Seen{{}, last_ns_, given_});
    if (!begun_) begun_ = interval_begun_ = seen;
    if (interval_is_over()) {
      messages = judge_interval();
      interval_ = {};
      interval_begun_ = seen;
    }
  }
  report_messages(messages);
}

void Recorder::note_stats(const LoaderStats& stats) {
  const MutexLock lock(mutex_);
  see(stats);
}

void Recorder::look_while_waiting(const LoaderStats& stats, SilenceFacts silence) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    see(stats);
    if (given_ == 0 && !ended_ && !is_filling()) {
      silence_ = std::move(silence);
      silence_.seconds = seconds_of(clock_() - asked_ns_);
    }
    messages = judge_events();
  }
  report_messages(messages);
}

// While a shuffle or cache is filling, the source does produce elements.
bool Recorder::is_filling() const {
  return latest_ && std::ranges::any_of(latest_->stats.held, [](const HeldStats& held) { return held.elements > 0; });
}

void Recorder::note_skipped(int64_t skipped, std::string first, std::string path) {
  Messages messages;
  {
    const MutexLock lock(mutex_);
    if (failures_.failed > 0 && !failures_.skipped) return;  // an error that reached the loop is more severe
    failures_ = {.failed = skipped, .skipped = true, .first = std::move(first), .path = std::move(path)};
    messages = judge_events();
  }
  report_messages(messages);
}

// ---- evaluation

RunFacts Recorder::facts_of(const Times& times, const std::optional<Seen>& since) const {
  RunFacts facts;
  facts.steps = times.steps;
  facts.seconds = seconds_of(times.ns);
  facts.wait_seconds = std::min(facts.seconds, seconds_of(times.wait_ns));
  facts.workers = supply_.workers;
  facts.cores = cores_;
  facts.interpreter_probe_seconds = probe_seconds_;
  if (latest_) {
    facts.workers = static_cast<int>(latest_->stats.workers);
    facts.memory_limit = latest_->stats.budget_bytes;
    facts.held = held_facts(latest_->stats);
    if (since)
      facts.stages = stages_between(since->stats, latest_->stats, seconds_of(latest_->at_ns - since->at_ns),
                                    latest_->batches - since->batches, options_.python);
  }
  const Restarts::Row restarts = restarts_->row();
  facts.iterators = {restarts.iterators, 1, restarts.start_seconds, written_at_};
  facts.steps_asked = options_.steps;
  facts.batches_there = supply_.batches;
  facts.batches_given = epoch_given_;
  facts.ended = ended_;
  facts.silence = silence_;
  facts.source = supply_.source;
  facts.failures = failures_;
  facts.non_finite = non_finite_;
  return facts;
}

Gates Recorder::gates() const {
  Gates gates;
  gates.seconds = std::min(gates.seconds, options_.window_seconds);
  gates.silence_seconds = options_.silence_seconds;
  return gates;
}

Recorder::Messages Recorder::judge_events() { return messages_for(judge(facts_of({}, std::nullopt), gates())); }

Recorder::Messages Recorder::judge_interval() {
  ++intervals_;
  const RunFacts facts = facts_of(interval_, interval_begun_);
  const std::vector<Verdict> found = judge(facts, gates());
  std::vector<Verdict> certain;
  std::set<std::string> slow;
  for (const Verdict& verdict : found) {
    if (verdict.speed) slow.insert(verdict.about);
    if (!verdict.speed || slow_.contains(verdict.about)) certain.push_back(verdict);
  }
  suspects_python_ = options_.python && !slow.empty() && is_python_suspect(facts);
  slow_ = std::move(slow);
  return messages_for(certain);
}

Recorder::Messages Recorder::messages_for(const std::vector<Verdict>& found) {
  Messages messages;
  for (const Verdict& verdict : found) {
    if (!is_news(verdict)) continue;
    messages.push_back(describe(verdict));
    messages.back().pop_back();  // the final line break
  }
  return messages;
}

// A loop that creates its iterator in every step may also create the recorder in
// every step. Whether ITER_RECREATED was reported is therefore stored with the
// dataset.
bool Recorder::is_news(const Verdict& verdict) {
  if (verdict.code == "ITER_RECREATED" && !restarts_->reaches(kIteratorsRecreated)) return false;
  const int64_t now = clock_();
  const auto [reported, first] = reported_.try_emplace(key_of(verdict), now);
  if (!first && now - reported->second < kSilentFor) return false;
  reported->second = now;
  return true;
}

void Recorder::report_messages(const Messages& messages) const {
  for (const std::string& text : messages) {
    if (options_.on_message)
      options_.on_message(text);
    else
      report_message(text);
  }
}

bool Recorder::wants_probe() const {
  const MutexLock lock(mutex_);
  return suspects_python_ && (probed_interval_ < 0 || intervals_ - probed_interval_ >= kIntervalsBetweenProbes);
}

void Recorder::note_probe(double median_seconds) {
  const MutexLock lock(mutex_);
  probe_seconds_ = median_seconds;
  probed_interval_ = intervals_;
}

// ---- the whole run

std::vector<Verdict> Recorder::verdicts(const LoaderStats& stats) {
  const MutexLock lock(mutex_);
  see(stats);
  return judge(whole_run(), gates());
}

std::string Recorder::report(const LoaderStats& stats) {
  const MutexLock lock(mutex_);
  see(stats);
  const RunFacts facts = whole_run();
  const double step = each_of(facts.seconds, facts.steps);
  const double wait = each_of(facts.wait_seconds, facts.steps);
  std::string text = fmt::format("{} steps of {:.3g} ms: {:.3g} ms waiting for data, {:.3g} ms training\n", facts.steps,
                                 1e3 * step, 1e3 * wait, 1e3 * (step - wait));
  for (const StageFacts& stage : facts.stages) text += bar_of(stage);
  if (!facts.stages.empty()) text += "\n";
  const std::vector<Verdict> found = judge(facts, gates());
  for (const Verdict& verdict : found) text += describe(verdict);
  if (found.empty()) text += "No problems found in the input.\n";
  return text;
}

Json Recorder::to_json(const LoaderStats& stats) {
  const MutexLock lock(mutex_);
  see(stats);
  const RunFacts facts = whole_run();
  Json json = Json::dict();
  Json window = Json::dict();
  window.set("steps", facts.steps);
  window.set("seconds", facts.seconds);
  json.set("window", std::move(window));
  Json step = Json::dict();
  step.set("batch_time", facts.steps > 0 ? Json(each_of(facts.seconds, facts.steps)) : Json());
  step.set("data_time", facts.steps > 0 ? Json(each_of(facts.wait_seconds, facts.steps)) : Json());
  json.set("step", std::move(step));
  json.set("input_bound_percent", facts.seconds > 0 ? Json(100 * facts.wait_seconds / facts.seconds) : Json());
  Json stages = Json::list();
  for (const StageFacts& stage : facts.stages) stages.push(stage_json(stage));
  json.set("stages", std::move(stages));
  Json verdicts = Json::list();
  for (const Verdict& verdict : judge(facts, gates())) verdicts.push(stoker::to_json(verdict));
  json.set("verdicts", std::move(verdicts));
  return json;
}

}  // namespace stoker
