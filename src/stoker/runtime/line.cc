#include "stoker/runtime/line.h"

#include <algorithm>
#include <atomic>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// A state larger than this is written less often, in proportion.
constexpr int64_t kSmallState = 4096;
// The maximum number of entries. A longer log drops every second one.
constexpr size_t kMostEntries = 1024;
constexpr int64_t kLeastFrequent = 1 << 16;  // entries are written at this multiple of the pace, at least

std::atomic<int64_t> pace_pulls = LogPace{}.pulls, pace_ns = LogPace{}.ns, pace_draws = LogPace{}.draws;

}  // namespace

int64_t saved_count(const Json& json, std::string_view key, int64_t missing) {
  const Json* found = json.find(key);
  if (!found || !found->as<int64_t>()) return missing;
  // Every valid count or position is below kEndless. Others come from a damaged checkpoint and must not overflow
  // anything before it is rejected.
  const int64_t value = *found->as<int64_t>();
  return value < -1 || value > kEndless ? -1 : value;
}

const Json& saved_part(const Json& json, std::string_view key) {
  static const Json none;
  const Json* found = json.find(key);
  return found ? *found : none;
}

Run extra_errors(const Run& run) {
  std::vector<int32_t> rows;
  for (const Failure& failure : run.failed)
    if (failure.error.is_extra()) rows.push_back(failure.row);
  return rows.empty() ? Run() : run.select(rows);
}

void set_log_pace(LogPace pace) {
  pace_pulls = pace.pulls;
  pace_ns = pace.ns;
  pace_draws = pace.draws;
}

LogPace log_pace() { return {pace_pulls, pace_ns, pace_draws}; }

LineNode::LineNode(const LinePlan& plan, Instance& instance)
    : instance_(instance), rank_(instance.rank_in_making), line_plan_(plan) {}

Pulled LineNode::pull(int64_t most) {
  if (!logged_) log_now();
  if (skip_ > 0)
    if (std::optional<Pulled> instead = skip_rows()) return *std::move(instead);
  Pulled pulled = produce(most);
  if (pulled.kind != Pulled::Kind::kRun) return pulled;
  if (!pulled.run.failed.empty()) note_errors(pulled.run);
  out_ += pulled.run.size;
  ++pulls_since_entry_;
  return pulled;
}

std::optional<Pulled> LineNode::skip_rows() {
  const int64_t begun = now_ns();
  while (skip_ > 0) {
    if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
    Pulled dropped = produce(std::min(skip_, kPullRows));
    Run errors;
    if (dropped.kind == Pulled::Kind::kEnd) {
      skip_ = 0;
      std::optional<Run> error = ended_early();
      if (!error) return dropped;
      errors = *std::move(error);
    } else if (dropped.kind == Pulled::Kind::kRun) {
      skip_ -= dropped.run.size - extra_errors(dropped.run).size;
      errors = unexpected_errors(dropped.run);
    } else {
      return dropped;
    }
    if (errors.size == 0) continue;
    note_errors(errors);
    out_ += errors.size;
    return Pulled::of(std::move(errors));
  }
  return std::nullopt;
}

Run LineNode::unexpected_errors(const Run& skipped) {
  std::vector<int32_t> rows;
  for (const Failure& failure : skipped.failed)
    if (is_returned(failure.error)) rows.push_back(failure.row);
  if (rows.empty()) return {};
  input_failed_ = true;
  Run errors = skipped.select(rows);
  for (Failure& failure : errors.failed) failure.set_extra();
  return errors;
}

std::optional<Run> LineNode::ended_early() {
  if (std::exchange(input_failed_, true)) return std::nullopt;
  Error error = Error::corrupt(
      "the input ended before the position of the checkpoint; it has changed since the checkpoint was saved");
  error.set_unskippable().set_extra();
  Origin end{.position = kEndPosition, .parent = instance_.make.parent};
  const auto sources = static_cast<int32_t>(instance_.make.sources->size());
  if (!end.parent)
    while (end.source + 1 < sources && !line_plan_.reads(end.source)) ++end.source;
  if (line_plan_.node) annotate(error, *line_plan_.node, end, instance_.make.sources);
  return Run::failure(std::move(error), end);
}

// Must be called before the rows are added to `out_`.
void LineNode::note_errors(const Run& run) {
  const EngineLock lock(instance_.engine->mutex());
  errors_.note(run, out_);
}

void LineNode::set_may_end(const Json& cut) { may_end_ = saved_part(cut, "ended") == Json(true); }

Numbers LineNode::cursors() const {
  Numbers all;
  for (const auto& input : inputs_) all.push_back(input->out());
  return all;
}

bool LineNode::log_is_due(int64_t state_bytes) const {
  if (skip_ > 0 || pulls_since_entry_ < pace_pulls) return false;
  return now_ns() - entry_ns_ >= pace_ns * rareness_ * std::max<int64_t>(1, state_bytes / kSmallState);
}

void LineNode::log_if_due(int64_t state_bytes) {
  if (log_is_due(state_bytes)) log_now();
}

void LineNode::log_now() {
  Dropped dropped;  // freed outside the lock
  logged_ = true;
  Entry entry = snapshot();
  pulls_since_entry_ = 0;
  entry_ns_ = now_ns();
  const EngineLock lock(instance_.engine->mutex());
  log_.push_back(std::move(entry));
  if (log_.size() > kMostEntries) thin_out(dropped);
}

// Drops every second entry and makes later ones half as frequent. A cut then skips more rows.
void LineNode::thin_out(Dropped& dropped) {
  decltype(log_) kept;
  for (size_t i = 0; i < log_.size(); ++i)
    if (i % 2 == 0)
      kept.push_back(std::move(log_[i]));
    else
      dropped.push_back(std::move(log_[i].state));
  log_ = std::move(kept);
  rareness_ = std::min(rareness_ * 2, kLeastFrequent);
}

Result<Json> LineNode::cut(int64_t cursor, DeferredParts& deferred) const {
  Json json = Json::dict();
  auto entry = std::ranges::find_if(log_.rbegin(), log_.rend(), [&](const Entry& e) { return e.out <= cursor; });
  if (entry == log_.rend() && !log_.empty())
    return Error::internal("the position of the iterator was dropped; call save() again after the next element");
  if (entry == log_.rend()) {  // never pulled
    if (Json state = unpulled(); !state.is_null()) json.set("state", std::move(state));
    json.set("skip", cursor);
    Json inputs = Json::list();
    for (const auto& input : inputs_) {
      STOKER_TRY(Json below, input->cut(0, deferred));
      inputs.push(std::move(below));
    }
    json.set("inputs", std::move(inputs));
    return json;
  }
  STOKER_TRY(Json state, entry_json(*entry, deferred));
  json.set("state", std::move(state));
  json.set("skip", cursor - entry->out - extras_in(entry->out, cursor));
  if (has_ended(cursor)) json.set("ended", true);
  Json inputs = Json::list();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    STOKER_TRY(Json below, inputs_[i]->cut(entry->cursors[i], deferred));
    inputs.push(std::move(below));
  }
  json.set("inputs", std::move(inputs));
  return json;
}

Result<void> LineNode::restore(const Json& json) {
  const Json& inputs = saved_part(json, "inputs");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Json::List* list = inputs.as<Json::List>();
    if (!list || i >= list->size()) return Error::invalid("the checkpoint is damaged: an input is missing");
    STOKER_TRY(inputs_[i]->restore((*list)[i]));
  }
  if (const Json* state = json.find("state")) STOKER_TRY(restore_state(*state));
  set_may_end(json);
  skip_ = saved_count(json, "skip");
  if (skip_ < 0) return Error::invalid("the checkpoint is damaged: skip ", skip_);
  Entry entry = snapshot();
  entry.out = -skip_;
  logged_ = true;
  const EngineLock lock(instance_.engine->mutex());
  log_.push_back(std::move(entry));
  return {};
}

void LineNode::prune(int64_t cursor, Dropped& dropped) {
  while (log_.size() > 1 && log_[1].out <= cursor) {
    dropped.push_back(std::move(log_.front().state));
    log_.pop_front();
    front_pruned_ = false;
  }
  if (log_.empty() || std::exchange(front_pruned_, true)) return;
  errors_.prune(log_.front().out);
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->prune(log_.front().cursors[i], dropped);
  prune_entry(log_.front(), dropped);
}

bool LinePlan::reads(int32_t source) const {
  return std::ranges::any_of(inputs, [&](const auto& input) { return input->reads(source); });
}

bool LinePlan::calls_user() const {
  return (node && node->stage->calls_user()) ||
         std::ranges::any_of(inputs, [](const auto& input) { return input->calls_user(); });
}

std::string LinePlan::describe() const {
  std::string text = node->name;
  for (size_t i = 0; i < inputs.size(); ++i) text += (i ? " and " : " over ") + inputs[i]->describe();
  if (opens_each_pass()) text += " over the segment above, opened for each pass";
  return text;
}

Recomputed only_if_lost(Recomputed made) {
  made.complete &= made.is_lost();
  return made;
}

Recomputed recompute(const Plan& plan, const Origin& origin, const MakeContext& context) {
  return plan.root->recompute(origin, context);
}

}  // namespace stoker
