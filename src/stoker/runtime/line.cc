#include "stoker/runtime/line.h"

#include <algorithm>
#include <atomic>

#include "stoker/graph/stage_of.h"
#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/origin_json.h"

namespace stoker {
namespace {

// Entries are rarer in proportion when the state is larger than this (HOUSE.md 7.3).
constexpr int64_t kSmallState = 4096;
constexpr int64_t kMostPasses = int64_t{1} << 40;
constexpr int64_t kMostRows = 4096;  // in one pull of a line's own

std::atomic<int64_t> log_pulls = LogPace{}.pulls, log_rows = LogPace{}.rows, log_draws = LogPace{}.draws;

int64_t integer(const Json& json, std::string_view key, int64_t standard = 0) {
  const Json* found = json.find(key);
  if (!found || !found->as<int64_t>()) return standard;
  // Counts and positions are below this; what is not came from a damaged file
  // and must not overflow anything on its way to being refused.
  const int64_t value = *found->as<int64_t>();
  return value < -1 || value > kEndless ? -1 : value;
}

const Json& part(const Json& json, std::string_view key) {
  static const Json none;
  const Json* found = json.find(key);
  return found ? *found : none;
}

}  // namespace

void set_log_pace(LogPace pace) {
  log_pulls = pace.pulls;
  log_rows = pace.rows;
  log_draws = pace.draws;
}

LineNode::LineNode(const LinePlan& plan, Instance& instance)
    : plan_(plan), instance_(instance), rank_(instance.rank_in_making) {}

Pulled LineNode::pull(int64_t most) {
  if (!logged_) log_now();
  while (skip_ > 0) {
    Pulled dropped = produce(std::min(skip_, kMostRows));
    if (dropped.kind != Pulled::Kind::kRun) return dropped;
    // What failed before has been told; that there is no room here has not.
    for (const Failure& failure : dropped.run.failed)
      if (failure.error.code() == Code::kResourceExhausted) return Pulled::of(dropped.run.slice(failure.row, 1));
    skip_ -= dropped.run.size;
  }
  Pulled pulled = produce(most);
  if (pulled.kind != Pulled::Kind::kRun) return pulled;
  out_ += pulled.run.size;
  ++pulls_since_entry_;
  rows_since_entry_ += pulled.run.size;
  return pulled;
}

std::vector<int64_t> LineNode::cursors() const {
  std::vector<int64_t> all;
  for (const auto& input : inputs_) all.push_back(input->out());
  return all;
}

void LineNode::log_if_due(int64_t state_bytes) {
  const int64_t factor = std::max<int64_t>(1, state_bytes / kSmallState);
  if (skip_ > 0 || pulls_since_entry_ < log_pulls * factor || rows_since_entry_ < log_rows * factor) return;
  log_now();
}

void LineNode::log_now() {
  logged_ = true;
  Entry entry = snapshot();
  pulls_since_entry_ = rows_since_entry_ = 0;
  std::lock_guard lock(instance_.engine->mutex());
  log_.push_back(std::move(entry));
}

Result<Json> LineNode::cut(int64_t cursor) const {
  Json json = Json::dict();
  auto entry = std::ranges::find_if(log_.rbegin(), log_.rend(), [&](const Entry& e) { return e.out <= cursor; });
  if (entry == log_.rend()) {  // never pulled: as it was made
    json.set("skip", cursor);
    Json inputs = Json::list();
    for (const auto& input : inputs_) {
      STOKER_TRY(Json below, input->cut(0));
      inputs.push(std::move(below));
    }
    json.set("inputs", std::move(inputs));
    return json;
  }
  STOKER_TRY(Json state, entry_json(*entry));
  json.set("state", std::move(state));
  json.set("skip", cursor - entry->out);
  Json inputs = Json::list();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    STOKER_TRY(Json below, inputs_[i]->cut(entry->cursors[i]));
    inputs.push(std::move(below));
  }
  json.set("inputs", std::move(inputs));
  return json;
}

Result<void> LineNode::restore(const Json& json) {
  const Json& inputs = part(json, "inputs");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Json::List* list = inputs.as<Json::List>();
    if (!list || i >= list->size()) return Error::invalid("the checkpoint is damaged: an input is missing");
    STOKER_TRY(inputs_[i]->restore((*list)[i]));
  }
  if (const Json* state = json.find("state")) STOKER_TRY(restore_state(*state));
  skip_ = integer(json, "skip");
  if (skip_ < 0) return Error::invalid("the checkpoint is damaged: skip ", skip_);
  Entry entry = snapshot();
  entry.out = -skip_;
  logged_ = true;
  log_.push_back(std::move(entry));
  return {};
}

void LineNode::prune(int64_t cursor, Dropped& dropped) {
  while (log_.size() > 1 && log_[1].out <= cursor) {
    dropped.push_back(std::move(log_.front().state));
    log_.pop_front();
  }
  if (log_.empty()) return;
  for (size_t i = 0; i < inputs_.size(); ++i) inputs_[i]->prune(log_.front().cursors[i], dropped);
  prune_entry(log_.front(), dropped);
}

namespace {

// Names of a list, in order.
class ListLine final : public LineNode {
 public:
  ListLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance), pass_(pass) {}

  Result<Json> cut(int64_t cursor) const override {
    Json json = Json::dict();
    json.set("at", start_ + cursor);
    return json;
  }
  Result<void> restore(const Json& json) override {
    start_ = at_ = integer(json, "at");
    if (at_ < 0 || at_ > plan_.list->length())
      return Error::invalid("the checkpoint is damaged: position ", at_, " of ", plan_.list->length());
    return {};
  }
  void prune(int64_t, Dropped&) override {}

 protected:
  Pulled produce(int64_t most) override {
    const int64_t n = std::min(most, plan_.list->length() - at_);
    if (n <= 0) return Pulled::end();
    Run run;
    run.size = static_cast<int32_t>(std::min<int64_t>(n, 1 << 20));
    run.positions.resize(static_cast<size_t>(run.size));
    for (int64_t& position : run.positions) position = at_++;
    run.passes = {pass_};
    return Pulled::of(std::move(run));
  }

 private:
  const int64_t pass_;
  int64_t start_ = 0;
  int64_t at_ = 0;
};

class StreamLine final : public LineNode {
 public:
  StreamLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), pass_(pass + instance.passes.base(*plan.node, plan.place)) {
    state_ = plan.node->stage->start(Pass{pass_, instance.make.parent});
  }

 protected:
  struct Saved {
    State state;
    int64_t ordinal;
    bool ended;
  };

  Pulled produce(int64_t most) override {
    if (ended_) return Pulled::end();
    if (plan_.node->stage->resumable()) log_if_due();
    const int64_t begun = now_ns();
    Context context(0, 0, instance_.make.stopped);
    RunBuilder rows;
    // Some 100 µs of reading is one run; a slow source gives single elements.
    while (rows.size() < most && (rows.empty() || now_ns() - begun < 100'000) && !context.stopped()) {
      Result<std::optional<Element>> next = plan_.node->stage->next(state_, context);
      Origin origin{plan_.source, pass_, ordinal_, instance_.make.parent, nullptr};
      if (next && !*next) {
        ended_ = true;
        break;
      }
      ++ordinal_;
      if (next) {
        rows.add(**std::move(next), std::move(origin));
        continue;
      }
      Error error = std::move(next).error();
      annotate(error, *plan_.node, origin, instance_.make.sources);
      rows.add_failure(std::move(error), std::move(origin), false);
      ended_ = !plan_.node->stage->type().goes_on;
      break;
    }
    if (rows.empty()) return ended_ ? Pulled::end() : Pulled::blocked(nullptr);
    Run run = rows.take();
    plan_.meter->add(run.size, now_ns() - begun, run.byte_size());
    return Pulled::of(std::move(run));
  }

  Entry snapshot() const override { return {out(), Saved{state_, ordinal_, ended_}, {}}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const Stage& stage = *plan_.node->stage;
    if (!stage.repeatable())
      return Error::precondition(plan_.node->name, " cannot repeat what it gave, so its place cannot be saved");
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    STOKER_TRY(Json state, stage.save(saved.state));
    json.set("state", std::move(state));
    json.set("ordinal", saved.ordinal);
    json.set("ended", saved.ended);
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, plan_.node->stage->restore(part(json, "state")));
    ordinal_ = integer(json, "ordinal");
    ended_ = part(json, "ended") == Json(true);
    return {};
  }

 private:
  const int64_t pass_;
  State state_;
  int64_t ordinal_ = 0;
  bool ended_ = false;
};

// Which of the rows that pass a selection keeps, by counting places.
class SelectLine final : public LineNode {
 public:
  SelectLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), stage_(*plan.node->stage), limit_(stage_.select_length(kEndless)) {
    inputs_.push_back(make_line(*plan.inputs[0], instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    while (taken_ < limit_) {
      log_if_due();
      // Not one row beyond the last it keeps.
      const int64_t last = limit_ < kEndless / 2 ? stage_.select(limit_ - 1) + 1 - seen_ : kEndless;
      Pulled pulled = inputs_[0]->pull(std::min(most, last));
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      std::vector<int32_t> kept;
      for (int32_t row = 0; row < pulled.run.size; ++row) {
        const Failure* failure = pulled.run.failed.empty() ? nullptr : pulled.run.failure_of(row);
        if (failure && failure->struck) {
          kept.push_back(row);
          continue;
        }
        if (taken_ < limit_ && seen_ == stage_.select(taken_)) {
          kept.push_back(row);
          ++taken_;
        }
        ++seen_;
      }
      if (kept.empty()) continue;
      if (static_cast<int32_t>(kept.size()) < pulled.run.size) pulled.run = pulled.run.select(kept);
      return pulled;
    }
    return Pulled::end();
  }

  using Counts = std::pair<int64_t, int64_t>;
  Entry snapshot() const override { return {out(), Counts{seen_, taken_}, cursors()}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& [seen, taken] = std::any_cast<const Counts&>(entry.state);
    Json json = Json::dict();
    json.set("seen", seen);
    json.set("taken", taken);
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    seen_ = integer(json, "seen");
    taken_ = integer(json, "taken");
    if (seen_ < 0 || taken_ < 0 || taken_ > limit_ || seen_ > kEndless ||
        (taken_ < limit_ && seen_ > stage_.select(taken_)))
      return Error::invalid("the checkpoint is damaged: ", taken_, " of ", seen_, " taken");
    return {};
  }

 private:
  const Stage& stage_;
  const int64_t limit_;
  int64_t seen_ = 0;
  int64_t taken_ = 0;
};

// tf.data's windowed shuffle over names or over made rows (tfdata 1.4.1).
class ShuffleLine final : public LineNode {
 public:
  ShuffleLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        buffer_(shuffle_params(*plan.node).buffer.value_or(kEndless)),
        numbers_(shuffle_seeds(*plan.node, pass + instance.passes.base(*plan.node, plan.place), instance.make.parent)) {
    inputs_.push_back(make_line(*plan.inputs[0], instance, pass));
  }

 protected:
  static constexpr int64_t kBytesToKeep = int64_t{4} << 20;

  struct Name {
    int64_t position;
    int64_t pass;
  };
  struct Saved {
    std::deque<Name> names;
    std::deque<Run> made;
    int64_t draws = 0;
    bool ended = false;
  };

  Pulled produce(int64_t most) override {
    log_if_worth_it();
    Run out;
    while (out.size < most) {
      Pulled filled = fill(out);
      if (filled.kind == Pulled::Kind::kBlocked) {
        if (out.size > 0) break;
        return filled;
      }
      if (filled.kind == Pulled::Kind::kRun) {  // an error of its own, or a row without a place
        out.append(std::move(filled.run));
        continue;
      }
      if (held() == 0) break;
      draw(out);
    }
    if (out.size == 0) return Pulled::end();
    return Pulled::of(std::move(out));
  }

 private:
  size_t held() const { return saved_.names.size() + saved_.made.size(); }
  int64_t waiting() const { return incoming_.size - incoming_row_; }

  // Ends when the buffer is full or the input is out; gives rows that pass by.
  Pulled fill(const Run& out) {
    while (static_cast<int64_t>(held()) < buffer_ && !saved_.ended) {
      if (waiting() == 0) {
        const int64_t want = std::min<int64_t>(buffer_ - static_cast<int64_t>(held()), kMostRows);
        Pulled pulled = inputs_[0]->pull(names_ ? kMostRows : want);
        if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
        if (pulled.kind == Pulled::Kind::kEnd) {
          saved_.ended = true;
          return Pulled::end();
        }
        names_ = pulled.run.names();
        incoming_ = std::move(pulled.run);
        incoming_row_ = 0;
      }
      if (names_) {
        take_names();
        continue;
      }
      const Failure* failure = incoming_.failure_of(incoming_row_);
      Run row = incoming_.slice(incoming_row_++, 1);
      if (failure && failure->struck) return Pulled::of(std::move(row));
      bytes_ += row.byte_size();
      saved_.made.push_back(std::move(row));
      if (bytes_ > Budget::process().limit()) return Pulled::of(refuse(out));
    }
    return Pulled::end();
  }

  void take_names() {
    const int64_t n = std::min<int64_t>(waiting(), buffer_ - static_cast<int64_t>(held()));
    for (int64_t i = 0; i < n; ++i, ++incoming_row_) {
      const auto row = static_cast<size_t>(incoming_row_);
      saved_.names.push_back({incoming_.positions[row], incoming_.passes[incoming_.passes.size() == 1 ? 0 : row]});
    }
  }

  // Nothing is made smaller in silence.
  Run refuse(const Run&) {
    const auto n = static_cast<int64_t>(saved_.made.size());
    Error error = Error::exhausted(
        "shuffle holds ", n, " elements of ", bytes_ / std::max<int64_t>(n, 1), " bytes each, and the budget is ",
        Budget::process().limit(),
        " bytes; shuffle before the maps or filters that make elements large, give a smaller "
        "buffer_size than ",
        buffer_ >= kEndless ? std::string("all") : std::to_string(buffer_), ", or raise STOKER_MEMORY");
    const Origin origin = saved_.made.front().origins.at(0);
    annotate(error, *plan_.node, origin, instance_.make.sources);
    saved_.made.clear();
    incoming_ = Run();
    incoming_row_ = 0;
    saved_.ended = true;
    return Run::failure(std::move(error), origin);
  }

  void draw(Run& out) {
    ++saved_.draws;
    const size_t i = numbers_.next() % held();
    if (names_) {
      add_name(out, saved_.names[i]);
      saved_.names[i] = saved_.names.front();
      saved_.names.pop_front();
      return;
    }
    bytes_ -= saved_.made[i].byte_size();
    out.append(std::move(saved_.made[i]));
    if (i > 0) saved_.made[i] = std::move(saved_.made.front());
    saved_.made.pop_front();
  }

  // Passes are spelt out only where names of several stand in one run.
  static void add_name(Run& out, const Name& name) {
    if (out.size == 0)
      out.passes = {name.pass};
    else if (out.passes.size() > 1 || out.passes[0] != name.pass)
      out.passes.resize(static_cast<size_t>(out.size), out.passes[0]), out.passes.push_back(name.pass);
    out.positions.push_back(name.position);
    ++out.size;
  }

  void log_if_worth_it() {
    const int64_t since = saved_.draws - logged_draws_;
    const bool due = names_ ? since >= log_draws
                            : since >= std::max(log_rows.load(), static_cast<int64_t>(held())) &&
                                  bytes_ <= kBytesToKeep && !incoming_has_failures();
    if (!due || skipping()) return;
    logged_draws_ = saved_.draws;
    log_now();
  }
  bool incoming_has_failures() const {
    return std::ranges::any_of(saved_.made, [](const Run& r) { return !r.failed.empty(); });
  }

  Entry snapshot() const override {
    std::vector<int64_t> below{inputs_[0]->out() - waiting()};
    return {out(), saved_, std::move(below)};
  }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    json.set("draws", saved.draws);
    json.set("ended", saved.ended);
    if (!saved.names.empty()) {
      const std::vector<Name> names(saved.names.begin(), saved.names.end());
      json.set("names", to_base64({reinterpret_cast<const char*>(names.data()), names.size() * sizeof(Name)}));
    }
    if (!saved.made.empty()) {
      Json held = Json::list();
      for (const Run& run : saved.made) {
        STOKER_TRY(Json row, row_to_json(run));
        held.push(std::move(row));
      }
      json.set("held", std::move(held));
    }
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    saved_.draws = logged_draws_ = integer(json, "draws");
    if (saved_.draws < 0) return Error::invalid("the checkpoint is damaged: ", saved_.draws, " draws");
    saved_.ended = part(json, "ended") == Json(true);
    numbers_.skip(static_cast<uint64_t>(saved_.draws));
    if (const auto* text = part(json, "names").as<std::string>()) {
      STOKER_TRY(std::string raw, from_base64(*text));
      names_ = true;
      for (size_t at = 0; at + sizeof(Name) <= raw.size(); at += sizeof(Name)) {
        Name name{};
        std::memcpy(&name, raw.data() + at, sizeof(name));
        saved_.names.push_back(name);
      }
    }
    if (const auto* held = part(json, "held").as<Json::List>())
      for (const Json& row : *held) {
        STOKER_TRY(Run run, row_from_json(row));
        bytes_ += run.byte_size();
        saved_.made.push_back(std::move(run));
      }
    return {};
  }

  const int64_t buffer_;
  Philox numbers_;
  bool names_ = false;
  Saved saved_;
  int64_t bytes_ = 0;
  int64_t logged_draws_ = 0;
  Run incoming_;
  int32_t incoming_row_ = 0;
};

// Its input again and again: an inline one is made anew, another is a child.
class RepeatLine final : public LineNode {
 public:
  RepeatLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), count_(plan.node->stage->engine().count), first_pass_(pass) {}
  ~RepeatLine() override {
    close_child(now_.child);
    close_child(ahead_.child);
  }

 protected:
  // One pass: a line of its own or a child, and how much of it was given.
  struct Begun {
    int64_t pass = -1;
    std::shared_ptr<LineNode> line;
    std::shared_ptr<Instance> child;
    int64_t cursor = 0;
    bool gave = false;  // anything at all, also before a restore
  };

  Pulled produce(int64_t most) override {
    while (!ended_) {
      if (now_.pass < 0 && !begin(0)) break;
      log_if_due();
      Pulled pulled = now_.line ? now_.line->pull(most) : instance_.engine->take(*now_.child->root, most);
      if (pulled.kind == Pulled::Kind::kRun) {
        now_.cursor += pulled.run.size;
        now_.gave = true;
        open_ahead();
        return pulled;
      }
      if (pulled.kind == Pulled::Kind::kBlocked) {
        open_ahead();
        return pulled;
      }
      if (!now_.gave && count_ < 0) break;  // an endless repeat of nothing is nothing
      const int64_t pass = now_.pass + 1;
      close_child(now_.child);
      now_ = {};
      if (!begin(pass)) break;
      log_now_unless_skipping();
    }
    ended_ = true;
    return Pulled::end();
  }

 private:
  bool begin(int64_t pass) {
    if (count_ >= 0 && pass >= count_) return false;
    if (ahead_.pass == pass) {
      now_ = std::exchange(ahead_, {});
      return true;
    }
    now_ = opened(pass);
    return true;
  }
  Begun opened(int64_t pass) {
    Begun begun{pass, nullptr, nullptr, 0, false};
    if (plan_.is_inline)
      begun.line = make_line(*plan_.inputs[0], instance_, pass_below(pass));
    else
      begun.child = instance_.engine->open(*plan_.child, instance_.plan, instance_, pass_below(pass),
                                           instance_.make.parent, instance_.path, rank_ + 1);
    return begun;
  }
  int64_t pass_below(int64_t pass) const { return first_pass_ * std::max<int64_t>(count_, 1) + pass; }
  // The next pass starts to fill while the last one drains.
  void open_ahead() {
    if (plan_.is_inline || ahead_.pass >= 0 || (count_ >= 0 && now_.pass + 1 >= count_)) return;
    if (!now_.gave || !instance_.engine->line_ended(*now_.child->root)) return;
    ahead_ = opened(now_.pass + 1);
  }
  void close_child(const std::shared_ptr<Instance>& child) {
    if (child) instance_.engine->close(*child);
  }
  void log_now_unless_skipping() {
    if (!skipping()) log_now();
  }

  Entry snapshot() const override { return {out(), now_, {}}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& begun = std::any_cast<const Begun&>(entry.state);
    Json json = Json::dict();
    json.set("pass", begun.pass);
    json.set("gave", begun.gave);
    if (begun.pass < 0) return json;
    STOKER_TRY(Json below, begun.line ? begun.line->cut(begun.cursor) : begun.child->root->cut(begun.cursor));
    json.set("below", std::move(below));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const int64_t pass = integer(json, "pass", -1);
    if (pass < 0) return {};
    if (pass > kMostPasses || (count_ >= 0 && pass >= count_))
      return Error::invalid("the checkpoint is damaged: pass ", pass);
    now_ = opened(pass);
    now_.gave = part(json, "gave") == Json(true);
    const Json& below = part(json, "below");
    return now_.line ? now_.line->restore(below) : now_.child->root->restore(below);
  }
  void prune_entry(const Entry& entry, Dropped& dropped) override {
    const auto& begun = std::any_cast<const Begun&>(entry.state);
    if (begun.line) begun.line->prune(begun.cursor, dropped);
    if (begun.child) begun.child->root->prune(begun.cursor, dropped);
  }

  const int64_t count_;
  const int64_t first_pass_;
  Begun now_;
  Begun ahead_;
  bool ended_ = false;
};

// What a cache over anything but a list keeps, and a child for the rest.
class CacheLine final : public LineNode {
 public:
  CacheLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        pass_(pass + instance.passes.base(*plan.node, plan.place)),
        store_(std::static_pointer_cast<CacheStore>(plan.node->state->cache)) {}
  ~CacheLine() override {
    if (child_) instance_.engine->close(*child_);
  }

  Result<Json> cut(int64_t cursor) const override {
    Json json = Json::dict();
    json.set("at", start_ + cursor);
    return json;
  }
  Result<void> restore(const Json& json) override {
    start_ = at_ = integer(json, "at");
    if (at_ < 0) return Error::invalid("the checkpoint is damaged: position ", at_);
    return {};
  }
  void prune(int64_t, Dropped&) override {}

 protected:
  Pulled produce(int64_t most) override {
    while (true) {
      if (!child_) {
        if (std::optional<Run> kept = store_->read(at_, most)) {
          at_ += kept->size;
          return running(*std::move(kept));
        }
        if (store_->length() == at_) return Pulled::end();
        child_ = instance_.engine->open(*plan_.child, instance_.plan, instance_, 0, instance_.make.parent,
                                        instance_.path, rank_ + 1);
      }
      const int64_t behind = at_ - child_at_;
      Pulled pulled = instance_.engine->take(*child_->root, behind > 0 ? behind : most);
      if (pulled.kind == Pulled::Kind::kEnd) store_->finish(child_at_);
      if (pulled.kind != Pulled::Kind::kRun) return pulled;
      {
        Dropped dropped;
        std::lock_guard lock(instance_.engine->mutex());
        child_->root->prune(child_at_ + pulled.run.size, dropped);
      }
      if (pulled.run.failed.empty())
        store_->append(child_at_, pulled.run);
      else
        store_->append(child_at_, pulled.run.slice(0, pulled.run.failed.front().row));
      child_at_ += pulled.run.size;
      if (behind > 0) continue;
      at_ = child_at_;
      return running(std::move(pulled.run));
    }
  }

 private:
  // Behind a cache origins carry the running pass.
  Pulled running(Run run) const {
    run.origins.set_passes({&pass_, 1}, instance_.make.parent != nullptr);
    return Pulled::of(std::move(run));
  }

  const int64_t pass_;
  const std::shared_ptr<CacheStore> store_;
  std::shared_ptr<Instance> child_;
  int64_t start_ = 0;
  int64_t at_ = 0;
  int64_t child_at_ = 0;
};

// Rows of several inputs side by side, until the first of them ends.
class ZipLine final : public LineNode {
 public:
  ZipLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
    have_.resize(inputs_.size());
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    int32_t n = static_cast<int32_t>(std::min<int64_t>(most, 1 << 20));
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (have_[k].size == 0) {
        Pulled pulled = inputs_[k]->pull(n);
        if (pulled.kind != Pulled::Kind::kRun) return pulled;
        have_[k] = std::move(pulled.run);
      }
      if (const auto first = std::ranges::find_if(have_[k].failed, &Failure::struck); first != have_[k].failed.end()) {
        if (first->row == 0) return Pulled::of(take(k, 1));
        n = std::min(n, first->row);
      }
      n = std::min(n, have_[k].size);
    }
    std::vector<Run> parts;
    for (size_t k = 0; k < inputs_.size(); ++k) parts.push_back(take(k, n));
    return Pulled::of(joined(std::move(parts)));
  }

 private:
  Run take(size_t k, int32_t n) {
    Run front = have_[k].slice(0, n);
    have_[k] = n == have_[k].size ? Run() : have_[k].slice(n, have_[k].size - n);
    return front;
  }
  Entry snapshot() const override {
    std::vector<int64_t> below = cursors();
    for (size_t k = 0; k < below.size(); ++k) below[k] -= have_[k].size;
    return {out(), {}, std::move(below)};
  }

  std::vector<Run> have_;
};

class ConcatenateLine final : public LineNode {
 public:
  ConcatenateLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    while (at_ < inputs_.size()) {
      Pulled pulled = inputs_[at_]->pull(most);
      if (pulled.kind != Pulled::Kind::kEnd) return pulled;
      ++at_;
    }
    return Pulled::end();
  }
  Entry snapshot() const override { return {out(), at_, cursors()}; }
  Result<Json> entry_json(const Entry& entry) const override {
    Json json = Json::dict();
    json.set("input", static_cast<int64_t>(std::any_cast<size_t>(entry.state)));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    at_ = static_cast<size_t>(integer(json, "input"));
    return {};
  }

 private:
  size_t at_ = 0;
};

class EnumerateLine final : public LineNode {
 public:
  EnumerateLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), count_(plan.node->stage->engine().count) {
    inputs_.push_back(make_line(*plan.inputs[0], instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    Pulled pulled = inputs_[0]->pull(most);
    if (pulled.kind != Pulled::Kind::kRun) return pulled;
    Run& run = pulled.run;
    std::vector<int64_t> numbers(static_cast<size_t>(run.size));
    for (int32_t row = 0; row < run.size; ++row) {
      const Failure* failure = run.failed.empty() ? nullptr : run.failure_of(row);
      numbers[static_cast<size_t>(row)] = failure && failure->struck ? 0 : next();
    }
    run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
    run.nest = Nest::tuple({Nest::leaf(), run.nest});
    return pulled;
  }
  Entry snapshot() const override { return {out(), count_, cursors()}; }
  Result<Json> entry_json(const Entry& entry) const override {
    Json json = Json::dict();
    json.set("count", std::any_cast<int64_t>(entry.state));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const Json& count = part(json, "count");  // any number: it may start below 0
    if (!count.as<int64_t>()) return Error::invalid("the checkpoint is damaged: a count");
    count_ = *count.as<int64_t>();
    return {};
  }

 private:
  int64_t next() {  // wraps, as any counter of 64 bits does
    const int64_t now = count_;
    count_ = static_cast<int64_t>(static_cast<uint64_t>(count_) + 1);
    return now;
  }

  int64_t count_;
};

// A plain struct's `step`, its inputs and the children it opens.
class SequenceLine final : public LineNode, private Emit {
 public:
  SequenceLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), stage_(*plan.node->stage) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
    state_ = stage_.start(Pass{pass, instance.make.parent});
  }
  ~SequenceLine() override {
    for (Slot& slot : slots_) close_slot(slot);
  }

 protected:
  struct Slot {
    std::shared_ptr<Instance> child;
    int64_t cursor = 0;
    Element element;
    Origin origin;
  };
  struct Saved {
    State state;
    std::vector<Slot> slots;
    bool done;
  };

  Pulled produce(int64_t most) override {
    while (pending_.empty() && !done_) {
      log_if_due(stage_.state_bytes(state_));
      const int input = stage_.input(state_);
      const int64_t want = std::min(stage_.appetite(state_), std::max<int64_t>(most, 1));
      Pulled pulled =
          input < static_cast<int>(inputs_.size())
              ? inputs_[static_cast<size_t>(input)]->pull(stage_.rows() > 0 ? stage_.appetite(state_) : want)
              : pull_slot(static_cast<size_t>(input) - inputs_.size(), want);
      if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
      advance(std::move(pulled), input);
    }
    if (pending_.empty()) return Pulled::end();
    Run run = std::move(pending_.front());
    pending_.pop_front();
    if (run.size > most) {
      pending_.push_front(run.slice(static_cast<int32_t>(most), run.size - static_cast<int32_t>(most)));
      run = run.slice(0, static_cast<int32_t>(most));
    }
    return Pulled::of(std::move(run));
  }

 private:
  Pulled pull_slot(size_t slot, int64_t most) {
    // Only a damaged checkpoint names a slot where nothing is open.
    if (slot >= slots_.size() || !slots_[slot].child) return Pulled::end();
    Pulled pulled = instance_.engine->take(*slots_[slot].child->root, most);
    if (pulled.kind == Pulled::Kind::kRun) slots_[slot].cursor += pulled.run.size;
    if (pulled.kind == Pulled::Kind::kEnd) close_slot(slots_[slot]);
    return pulled;
  }

  void advance(Pulled pulled, int input) {
    const int64_t begun = now_ns();
    SeedScope seeds(mix_bits(plan_.node->state->seed.load()));
    Context context(plan_.node->state->seed, 0, instance_.make.stopped);
    Result<Flow> flow = Flow::kMore;
    Origin last;
    if (pulled.kind == Pulled::Kind::kRun) {
      const Run& run = pulled.run;
      if (stage_.rows() > 0 && input == 0) inputs_[0]->note_lost(static_cast<int64_t>(run.failed.size()));
      const Origins origins = run.origins;
      last = origins.at(run.size - 1);
      context.set_origins(&origins);
      const int32_t rows = run.size;
      const int64_t bytes = run.byte_size();
      flow = guarded([&] { return stage_.step(state_, std::move(pulled.run), *this, context); });
      plan_.meter->add(rows, now_ns() - begun, bytes);
    } else {
      flow = guarded([&] { return stage_.finish(state_, *this, context); });
    }
    if (!flow) {
      Error error = flow.error();
      annotate(error, *plan_.node, last, instance_.make.sources);
      pending_.push_back(Run::failure(std::move(error), last));
      if (pulled.kind == Pulled::Kind::kEnd) done_ = true;
      return;
    }
    if (*flow == Flow::kDone) done_ = true;
  }

  template <typename Body>
  static Result<Flow> guarded(Body&& body) {
    try {
      return body();
    } catch (...) {
      return error_of_exception();
    }
  }

  void put(Run run) override {
    if (run.size == 0) return;
    for (Failure& failure : run.failed)
      if (failure.error.place().origin.empty())
        annotate(failure.error, *plan_.node, run.origins.at(failure.row), instance_.make.sources);
    if (!pending_.empty() && pending_.back().size < 1024 && run.size < 64 && pending_.back().nest == run.nest &&
        stage_.rows() == 0)
      pending_.back().append(std::move(run));
    else
      pending_.push_back(std::move(run));
  }

  void open(int slot, Graph graph, Element element, Origin origin) override {
    const auto at = static_cast<size_t>(slot);
    if (slots_.size() <= at) slots_.resize(at + 1);
    close_slot(slots_[at]);
    slots_[at] = {nullptr, 0, std::move(element), std::move(origin)};
    open_slot(slots_[at], graph);
  }
  void open_slot(Slot& slot, const Graph& graph) {
    Result<std::shared_ptr<const Plan>> plan = lower(graph.node(), instance_.engine->meters(), plan_.path);
    if (!plan) {  // the slot stays empty, which `input` must not name: an empty child stands in
      Error error = std::move(plan).error();
      annotate(error, *plan_.node, slot.origin, instance_.make.sources);
      pending_.push_back(Run::failure(std::move(error), slot.origin));
      static Meters none;
      plan = lower(nothing(), none, plan_.path);
    }
    const SegmentPlan& root = *(*plan)->root;
    slot.child = instance_.engine->open(root, *std::move(plan), instance_, 0,
                                        std::make_shared<const Origin>(slot.origin), plan_.path, rank_ + 1);
  }
  static std::shared_ptr<const Node> nothing();
  void close_slot(Slot& slot) {
    if (slot.child) instance_.engine->close(*slot.child);
    slot.child.reset();
  }

  Entry snapshot() const override { return {out(), Saved{state_, slots_, done_}, cursors()}; }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    STOKER_TRY(Json state, stage_.save(saved.state));
    json.set("state", std::move(state));
    json.set("done", saved.done);
    Json slots = Json::list();
    for (size_t i = 0; i < saved.slots.size(); ++i) {
      const Slot& slot = saved.slots[i];
      if (!slot.child) continue;
      Json one = Json::dict();
      one.set("slot", static_cast<int64_t>(i));
      STOKER_TRY(Json row, row_to_json(Run::of(slot.element, slot.origin)));
      one.set("element", std::move(row));
      STOKER_TRY(Json below, slot.child->root->cut(slot.cursor));
      one.set("below", std::move(below));
      slots.push(std::move(one));
    }
    if (!slots.as<Json::List>()->empty()) json.set("slots", std::move(slots));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    STOKER_TRY(state_, stage_.restore(part(json, "state")));
    done_ = part(json, "done") == Json(true);
    const auto* slots = part(json, "slots").as<Json::List>();
    if (!slots) return {};
    for (const Json& one : *slots) {
      const auto at = static_cast<size_t>(integer(one, "slot"));
      if (at > 1'000'000) return Error::invalid("the checkpoint is damaged: slot ", at);
      STOKER_TRY(Run row, row_from_json(part(one, "element")));
      SeedScope seeds(mix_bits(plan_.node->state->seed.load()));
      STOKER_TRY(Graph graph, stage_.open_graph(row.element(0)));
      open(static_cast<int>(at), graph, row.element(0), row.origins.at(0));
      STOKER_TRY(slots_[at].child->root->restore(part(one, "below")));
    }
    return {};
  }
  void prune_entry(const Entry& entry, Dropped& dropped) override {
    for (const Slot& slot : std::any_cast<const Saved&>(entry.state).slots)
      if (slot.child) slot.child->root->prune(slot.cursor, dropped);
  }

  const Stage& stage_;
  State state_;
  std::vector<Slot> slots_;
  std::deque<Run> pending_;
  bool done_ = false;
};

// A list of length 0, for a child whose graph could not be made.
struct Nothing {
  static constexpr std::string_view kName = "nothing";
  static constexpr std::string_view kDoc = "A data set without elements.";
  void describe(Fields&) {}
  Result<int64_t> length(Context&) const { return 0; }
  Result<Element> at(int64_t, Context&) const { return Error::internal("nothing has no elements"); }
};

std::shared_ptr<const Node> SequenceLine::nothing() {
  static const std::shared_ptr<const Node> node =
      make_node(std::make_shared<const StageOf<Nothing>>(Nothing{}), nullptr, Location{}).value();
  return node;
}

// What comes out of another segment's window.
class PortLine final : public LineNode {
 public:
  PortLine(const LinePlan& plan, Instance& instance)
      : LineNode(plan, instance), segment_(instance.add_segment(*plan.segment, rank_ + 1)) {}

  Result<Json> cut(int64_t cursor) const override { return segment_.cut(cursor); }
  Result<void> restore(const Json& json) override { return segment_.restore(json); }
  void prune(int64_t cursor, Dropped& dropped) override { segment_.prune(cursor, dropped); }
  void note_lost(int64_t rows) override {
    if (rows == 0) return;
    std::lock_guard lock(instance_.engine->mutex());
    segment_.lost += rows;
    // Rows that follow count anew: in the slab of those already issued they
    // would land on one another.
    segment_.slab.reset();
    segment_.slab_number = -1;
  }

 protected:
  Pulled produce(int64_t most) override { return instance_.engine->take(segment_, most); }

 private:
  Segment& segment_;
};

}  // namespace

std::unique_ptr<LineNode> make_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  switch (plan.kind) {
    case LinePlan::Kind::kList: return std::make_unique<ListLine>(plan, instance, pass);
    case LinePlan::Kind::kStream: return std::make_unique<StreamLine>(plan, instance, pass);
    case LinePlan::Kind::kSequence: return std::make_unique<SequenceLine>(plan, instance, pass);
    case LinePlan::Kind::kSelect: return std::make_unique<SelectLine>(plan, instance, pass);
    case LinePlan::Kind::kShuffle: return std::make_unique<ShuffleLine>(plan, instance, pass);
    case LinePlan::Kind::kRepeat: return std::make_unique<RepeatLine>(plan, instance, pass);
    case LinePlan::Kind::kCache: return std::make_unique<CacheLine>(plan, instance, pass);
    case LinePlan::Kind::kZip: return std::make_unique<ZipLine>(plan, instance, pass);
    case LinePlan::Kind::kConcatenate: return std::make_unique<ConcatenateLine>(plan, instance, pass);
    case LinePlan::Kind::kEnumerate: return std::make_unique<EnumerateLine>(plan, instance, pass);
    case LinePlan::Kind::kPort: return std::make_unique<PortLine>(plan, instance);
  }
  return nullptr;
}

}  // namespace stoker
