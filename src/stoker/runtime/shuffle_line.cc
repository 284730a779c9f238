#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "stoker/core/rng.h"
#include "stoker/runtime/budget.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

struct Name {
  int64_t position;
  int64_t pass;
};

// Names in the order they came, of which any may be drawn.
class NameRing {
 public:
  size_t size() const { return size_; }
  int64_t byte_size() const { return static_cast<int64_t>((positions_.size() + passes_.size()) * sizeof(int64_t)); }

  void push(Name name) {
    if (size_ == positions_.size()) grow();
    if (size_ == 0 && passes_.empty()) pass_ = name.pass;
    if (name.pass != pass_ && passes_.empty()) passes_.assign(positions_.size(), pass_);
    const size_t at = slot(size_++);
    positions_[at] = name.position;
    if (!passes_.empty()) passes_[at] = name.pass;
  }
  // Takes the i-th out; the first takes its place.
  Name draw(size_t i) {
    const size_t at = slot(i);
    const Name drawn{positions_[at], passes_.empty() ? pass_ : passes_[at]};
    positions_[at] = positions_[first_];
    if (!passes_.empty()) passes_[at] = passes_[first_];
    first_ = slot(1);
    --size_;
    return drawn;
  }
  // draw(i) for nobody, then push: of one pass, into a ring of one pass.
  void replace(size_t i, int64_t position) {
    positions_[slot(i)] = positions_[first_];
    positions_[slot(size_)] = position;
    first_ = slot(1);
  }
  bool all_of_pass(int64_t pass) const { return passes_.empty() && size_ > 0 && pass == pass_; }
  // The i-th, counted from the first, will be drawn soon.
  void expect(size_t i) const { __builtin_prefetch(&positions_[slot(i)], 1); }
  Name operator[](size_t i) const { return {positions_[slot(i)], passes_.empty() ? pass_ : passes_[slot(i)]}; }

 private:
  using Numbers = std::vector<int64_t, BlockAllocator<int64_t>>;

  size_t slot(size_t i) const { return (first_ + i) & (positions_.size() - 1); }
  void grow() {
    const size_t more = std::max<size_t>(64, 2 * positions_.size());
    const auto moved = [&](const Numbers& from) {  // which is full
      Numbers to(more);
      const auto first = from.begin() + static_cast<ptrdiff_t>(first_);
      std::copy(from.begin(), first, std::copy(first, from.end(), to.begin()));
      return to;
    };
    Numbers positions = moved(positions_);
    if (!passes_.empty()) passes_ = moved(passes_);
    positions_ = std::move(positions);
    first_ = 0;
  }

  Numbers positions_;  // a power of two
  Numbers passes_;     // empty while all names have one pass
  int64_t pass_ = 0;
  size_t first_ = 0;
  size_t size_ = 0;
};

// Names as rows of a run; passes are spelt out only where they differ.
void add_name(Run& out, Name name) {
  if (out.size == 0)
    out.passes = {name.pass};
  else if (out.passes.size() > 1 || out.passes[0] != name.pass)
    out.passes.resize(static_cast<size_t>(out.size), out.passes[0]), out.passes.push_back(name.pass);
  out.positions.push_back(name.position);
  ++out.size;
}

// tf.data's windowed shuffle over names or over made rows (tfdata 1.4.1): the
// buffer is filled, one is drawn, the first takes its place.
//
// A checkpoint has the count of draws. Over names that is all: replaying draws
// on numbers is quick. Over rows it also has which rows of the input the buffer
// holds, and the input's own cut before the oldest of them: restoring reads on
// from there and keeps what was held.
class ShuffleLine final : public LineNode {
 public:
  ShuffleLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        buffer_(shuffle_params(*plan.node).buffer.value_or(kEndless)),
        numbers_(shuffle_seeds(*plan.node, plan.seed, pass + instance.passes.base(*plan.node, plan.place),
                               instance.make.parent)) {
    inputs_.push_back(make_line(*plan.inputs[0], instance, pass));
  }
  ~ShuffleLine() override {
    rows_.clear();
    ring_ = {};
    count_held(0, 0);
  }

 protected:
  struct Row {
    Run run;
    int64_t ordinal = 0;  // in the input
  };
  struct Saved {
    NameRing names;
    Numbers ordinals;  // of rows
    int64_t read = 0;  // rows of the input, from the oldest of them on
    int64_t draws = 0;
    bool ended = false;
  };

  Pulled produce(int64_t most) override {
    if (!again_.empty())
      if (std::optional<Pulled> unfinished = hold_again()) return *std::move(unfinished);
    log_if_worth_it();
    Run out;
    while (out.size < most) {
      Pulled filled = fill();
      if (filled.kind == Pulled::Kind::kBlocked) {
        if (out.size > 0) break;
        return filled;
      }
      if (filled.kind == Pulled::Kind::kRun) {  // an error of its own, or a row without a place
        out.append(std::move(filled.run));
        continue;
      }
      if (held() == 0) break;
      if (may_replay()) {
        replay_draws(out, most - out.size);
        break;
      }
      if (names_)
        draw_names(out, most - out.size);
      else
        draw_row(out);
    }
    if (out.size == 0) return Pulled::end();
    return Pulled::of(std::move(out));
  }

 private:
  int64_t held() const { return static_cast<int64_t>(ring_.size() + rows_.size()); }
  int64_t waiting() const { return incoming_.size - incoming_row_; }

  // Ends when the buffer is full or the input is out; gives rows that pass by.
  Pulled fill() {
    const int64_t begun = now_ns();
    while (held() < buffer_ && !ended_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      if (waiting() == 0) {
        Pulled pulled = inputs_[0]->pull(names_ ? kMostRows : std::min(buffer_ - held(), kMostRows));
        if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
        if (pulled.kind == Pulled::Kind::kEnd) {
          ended_ = true;
          break;
        }
        names_ = pulled.run.names();
        incoming_ = std::move(pulled.run);
        incoming_row_ = 0;
      }
      if (names_) {
        for (int64_t n = std::min(waiting(), buffer_ - held()); n > 0; --n) ring_.push(next_name());
        count_held(ring_.byte_size(), ring_.byte_size());
      } else if (Run passing = hold_row(); passing.size > 0) {
        return Pulled::of(std::move(passing));
      }
      if (too_much()) return Pulled::of(refuse());
    }
    return Pulled::end();
  }

  Name next_name() {
    const auto row = static_cast<size_t>(incoming_row_++);
    return {incoming_.positions[row], incoming_.passes[incoming_.passes.size() == 1 ? 0 : row]};
  }
  // What was struck out has no place here and is given back.
  Run hold_row() {
    const int64_t ordinal = inputs_[0]->out() - waiting();
    const Failure* failure = incoming_.failure_of(incoming_row_);
    Run row = incoming_.slice(incoming_row_++, 1);
    if (failure && failure->struck) return row;
    const int64_t bytes = row.byte_size();
    rows_.push_back({std::move(row), ordinal});
    count_held(held_bytes_ + bytes, 0);
    return {};
  }

  // Numbers a few ahead of their use: the ring may be larger than the cache.
  void draw_names(Run& out, int64_t most) {
    const bool refills = waiting() > 0;
    const int64_t n = std::min(most, refills ? waiting() : ended_ ? held() : 1);
    out.positions.reserve(out.positions.size() + static_cast<size_t>(n));
    std::array<size_t, 16> at;
    for (int64_t done = 0; done < n;) {
      const int64_t some = std::min<int64_t>(n - done, at.size());
      const size_t size = ring_.size();
      for (int64_t k = 0; k < some; ++k) {
        const auto ahead = static_cast<size_t>(k);
        at[ahead] = numbers_.next() % (refills ? size : size - ahead);
        ring_.expect(at[ahead] + ahead);
      }
      for (int64_t k = 0; k < some; ++k) {
        add_name(out, ring_.draw(at[static_cast<size_t>(k)]));
        if (refills) ring_.push(next_name());
      }
      done += some;
    }
    draws_ += n;
  }

  bool may_replay() const {
    return names_ && skipping() && waiting() > 0 && incoming_.passes.size() == 1 &&
           ring_.all_of_pass(incoming_.passes[0]);
  }
  // As draw_names does where one goes in for each that goes out, but gives only
  // the count of what it drew.
  void replay_draws(Run& out, int64_t most) {
    const int64_t n = std::min(most, waiting());
    const auto size = static_cast<uint32_t>(ring_.size());
    std::array<uint32_t, 16> at;
    for (int64_t done = 0; done < n;) {
      const auto some = static_cast<size_t>(std::min<int64_t>(n - done, at.size()));
      for (size_t k = 0; k < some; ++k) {
        at[k] = numbers_.next() % size;
        ring_.expect(at[k] + k);
      }
      for (size_t k = 0; k < some; ++k) ring_.replace(at[k], incoming_.positions[static_cast<size_t>(incoming_row_++)]);
      done += static_cast<int64_t>(some);
    }
    draws_ += n;
    out.size += static_cast<int32_t>(n);
  }

  void draw_row(Run& out) {
    ++draws_;
    const size_t i = numbers_.next() % rows_.size();
    const int64_t bytes = rows_[i].run.byte_size();
    out.append(std::move(rows_[i].run));
    if (i > 0) rows_[i] = std::move(rows_.front());
    rows_.pop_front();
    count_held(held_bytes_ - bytes, 0);
  }

  // What is held counts for all iterators; `own` bytes are in no array's account.
  void count_held(int64_t bytes, int64_t own) {
    Budget& budget = Budget::process();
    budget.hold(bytes - held_bytes_);
    plan_.meter->held_bytes += bytes - held_bytes_;
    plan_.meter->held_elements += held() - held_elements_;
    held_bytes_ = bytes;
    held_elements_ = held();
    if (own > own_bytes_) budget.take(own - own_bytes_);
    if (own < own_bytes_) budget.give_back(own_bytes_ - own);
    own_bytes_ = own;
  }
  // By itself, or as the larger part of all that is held.
  bool too_much() const {
    const Budget& budget = Budget::process();
    if (held() <= 1 || held_bytes_ <= budget.limit() / 2) return false;
    return std::max(held_bytes_, budget.held()) > budget.limit();
  }

  // Nothing is made smaller in silence.
  Run refuse() {
    const Budget& budget = Budget::process();
    Error error = Error::exhausted(
        "shuffle holds ", held(), " elements in ", held_bytes_, " bytes, all iterators together hold ", budget.held(),
        " bytes, and the memory budget is ", budget.limit(),
        " bytes; shuffle before the maps or filters that make elements large, give a smaller buffer_size than ",
        buffer_ >= kEndless ? std::string("all") : std::to_string(buffer_), ", or raise STOKER_MEMORY");
    return refused(std::move(error));
  }
  // The error, and then the end.
  Run refused(Error error) {
    Origin origin;
    if (ring_.size() > 0)
      origin.position = ring_[0].position;
    else if (!rows_.empty() && rows_.front().run.size > 0)
      origin = rows_.front().run.origins.at(0);
    annotate(error, *plan_.node, origin, instance_.make.sources);
    ring_ = {};
    rows_.clear();
    again_.clear();
    count_held(0, 0);
    incoming_ = Run();
    incoming_row_ = 0;
    ended_ = true;
    Run run = Run::failure(std::move(error), origin);
    run.failed[0].no_room = true;
    return run;
  }

  // ---- checkpoints

  void log_if_worth_it() {
    const int64_t since = draws_ - logged_draws_;
    const bool due = names_ ? since >= log_pace().draws && !skipping()
                            : since >= held() / 4 && log_is_due(held() * static_cast<int64_t>(sizeof(uint32_t)));
    if (!due) return;
    logged_draws_ = draws_;
    log_now();
  }

  Entry snapshot() const override {
    if (!again_.empty()) return {out(), Saved{ring_, {again_.begin(), again_.end()}, to_read_, draws_, ended_}, {0}};
    const int64_t cursor = inputs_[0]->out() - waiting();
    Saved saved{ring_, {}, 0, draws_, ended_};
    saved.ordinals.reserve(rows_.size());
    int64_t oldest = cursor;
    for (const Row& row : rows_) {
      saved.ordinals.push_back(row.ordinal);
      oldest = std::min(oldest, row.ordinal);
    }
    saved.read = cursor - oldest;
    return {out(), std::move(saved), {oldest}};
  }
  Result<Json> entry_json(const Entry& entry) const override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    json.set("draws", saved.draws);
    json.set("ended", saved.ended);
    if (saved.names.size() > 0) {
      std::vector<Name> names;
      for (size_t i = 0; i < saved.names.size(); ++i) names.push_back(saved.names[i]);
      json.set("names", to_base64({reinterpret_cast<const char*>(names.data()), names.size() * sizeof(Name)}));
    }
    if (!saved.ordinals.empty()) {
      std::vector<uint32_t> held;  // as the input will count after the restore
      for (const int64_t ordinal : saved.ordinals) held.push_back(static_cast<uint32_t>(ordinal - entry.cursors[0]));
      json.set("held", to_base64({reinterpret_cast<const char*>(held.data()), held.size() * sizeof(uint32_t)}));
      json.set("read", saved.read);
    }
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    draws_ = logged_draws_ = saved_count(json, "draws");
    if (draws_ < 0) return Error::invalid("the checkpoint is damaged: ", draws_, " draws");
    ended_ = saved_part(json, "ended") == Json(true);
    numbers_.skip(static_cast<uint64_t>(draws_));
    STOKER_TRY(const std::vector<Name> names, values_of<Name>(json, "names"));
    for (const Name& name : names) {
      if (name.position < 0 || name.position >= kEndless || name.pass < 0 || name.pass >= kEndless)
        return Error::invalid("the checkpoint is damaged: position ", name.position, " of pass ", name.pass);
      ring_.push(name);
    }
    names_ = !names.empty();
    STOKER_TRY(again_, values_of<uint32_t>(json, "held"));
    to_read_ = saved_count(json, "read");
    if (to_read_ < 0 || std::max<int64_t>(std::ssize(names), std::ssize(again_)) > buffer_)
      return Error::invalid("the checkpoint is damaged: shuffle holds more than ", buffer_, " elements");
    if (std::ranges::any_of(again_, [&](uint32_t ordinal) { return ordinal >= to_read_; }))
      return Error::invalid("the checkpoint is damaged: shuffle holds rows that were not read");
    by_ordinal_.resize(again_.size());
    std::iota(by_ordinal_.begin(), by_ordinal_.end(), 0u);
    std::ranges::sort(by_ordinal_, {}, [&](uint32_t slot) { return again_[slot]; });
    return {};
  }
  template <typename T>
  static Result<std::vector<T>> values_of(const Json& json, std::string_view key) {
    std::vector<T> values;
    const auto* text = saved_part(json, key).as<std::string>();
    if (!text) return values;
    STOKER_TRY(std::string raw, from_base64(*text));
    values.resize(raw.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(T));
    return values;
  }

  // Reads the input up to the place of the checkpoint and holds what was held
  // then. Nothing when that is done; else what stands in the way.
  std::optional<Pulled> hold_again() {
    rows_.resize(again_.size());
    while (read_ < to_read_) {
      const int64_t first = inputs_[0]->out();
      Pulled pulled = inputs_[0]->pull(std::min(to_read_ - read_, kMostRows));
      if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
      if (pulled.kind == Pulled::Kind::kEnd) break;
      if (pulled.extra) return pulled;
      for (int32_t row = 0; row < pulled.run.size; ++row) hold_if_held(pulled.run, row, first + row);
    }
    if (next_slot_ < by_ordinal_.size())
      return Pulled::of(refused(Error::corrupt("the checkpoint is damaged: shuffle held ", again_.size(),
                                               " rows of its input, and only ", next_slot_, " are there")));
    again_.clear();
    by_ordinal_.clear();
    int64_t bytes = 0;
    for (const Row& row : rows_) bytes += row.run.byte_size();
    count_held(bytes, 0);
    if (too_much()) return Pulled::of(refuse());
    return std::nullopt;
  }
  // The next row of the input: into the slots that held it.
  void hold_if_held(const Run& run, int32_t row, int64_t ordinal) {
    for (; next_slot_ < by_ordinal_.size() && again_[by_ordinal_[next_slot_]] == read_; ++next_slot_)
      rows_[by_ordinal_[next_slot_]] = {run.slice(row, 1), ordinal};
    ++read_;
  }

  const int64_t buffer_;
  Philox numbers_;
  bool names_ = false;
  NameRing ring_;
  std::deque<Row, RecycledAllocator<Row>> rows_;
  int64_t held_bytes_ = 0;  // of all that is held
  int64_t held_elements_ = 0;
  int64_t own_bytes_ = 0;  // of the ring
  int64_t draws_ = 0;
  bool ended_ = false;
  int64_t logged_draws_ = 0;
  Run incoming_;
  int32_t incoming_row_ = 0;
  // After a restore: the rows of the input to be held again, slot by slot, the
  // slots in the order in which their rows come, and how many have come.
  std::vector<uint32_t> again_;
  std::vector<uint32_t> by_ordinal_;
  size_t next_slot_ = 0;
  int64_t read_ = 0;     // rows of the input so far
  int64_t to_read_ = 0;  // when the checkpoint was saved
};

}  // namespace

std::unique_ptr<LineNode> make_shuffle_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<ShuffleLine>(plan, instance, pass);
}

}  // namespace stoker
