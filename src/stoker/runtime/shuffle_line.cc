#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "stoker/core/rng.h"
#include "stoker/runtime/budget.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/explain.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// An element of a list that has not been loaded.
struct Place {
  int64_t position;
  int64_t pass;
};

// Places in the order in which they arrived. Any of them can be drawn.
class PlaceRing {
 public:
  size_t size() const { return size_; }
  int64_t byte_size() const { return static_cast<int64_t>((positions_.size() + passes_.size()) * sizeof(int64_t)); }

  void push(Place place) {
    if (size_ == positions_.size()) grow();
    if (size_ == 0 && passes_.empty()) pass_ = place.pass;
    if (place.pass != pass_ && passes_.empty()) passes_.assign(positions_.size(), pass_);
    const size_t at = slot(size_++);
    positions_[at] = place.position;
    if (!passes_.empty()) passes_[at] = place.pass;
  }
  // Removes and returns place i. The first one moves to its slot.
  Place draw(size_t i) {
    const size_t at = slot(i);
    const Place drawn{positions_[at], passes_.empty() ? pass_ : passes_[at]};
    positions_[at] = positions_[first_];
    if (!passes_.empty()) passes_[at] = passes_[first_];
    first_ = slot(1);
    --size_;
    return drawn;
  }
  // The same as draw(i), without a result, and push. All places must have one pass.
  void replace(size_t i, int64_t position) {
    positions_[slot(i)] = positions_[first_];
    positions_[slot(size_)] = position;
    first_ = slot(1);
  }
  bool all_of_pass(int64_t pass) const { return passes_.empty() && size_ > 0 && pass == pass_; }
  // Fetches the memory of place i ahead of draw().
  void expect(size_t i) const { __builtin_prefetch(&positions_[slot(i)], 1); }
  Place operator[](size_t i) const { return {positions_[slot(i)], passes_.empty() ? pass_ : passes_[slot(i)]}; }

 private:
  using Numbers = std::vector<int64_t, BlockAllocator<int64_t>>;

  size_t slot(size_t i) const { return (first_ + i) & (positions_.size() - 1); }
  void grow() {
    const size_t more = std::max<size_t>(64, 2 * positions_.size());
    const auto moved = [&](const Numbers& from) {  // `from` is full
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

  Numbers positions_;  // the size is a power of two
  Numbers passes_;     // empty while all places have one pass
  int64_t pass_ = 0;
  size_t first_ = 0;
  size_t size_ = 0;
};

// Adds a place as a row of a run. `passes` has one number while all passes are equal.
void add_place(Run& out, Place place) {
  if (out.size == 0)
    out.passes = {place.pass};
  else if (out.passes.size() > 1 || out.passes[0] != place.pass)
    out.passes.resize(static_cast<size_t>(out.size), out.passes[0]), out.passes.push_back(place.pass);
  out.positions.push_back(place.position);
  ++out.size;
}

// tf.data's shuffle with a buffer, over places or over elements: fill the buffer, draw one, move the first one to its
// slot.
//
// A checkpoint has the number of draws. Over places that is enough: replaying draws is fast. Over elements, it also has
// the ordinals of the input rows in the buffer, and the cut of the input before the oldest of them: restoring reads
// from there and keeps the rows that were in the buffer.
class ShuffleLine final : public LineNode {
 public:
  ShuffleLine(const ShuffleLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance),
        plan_(plan),
        buffer_(plan.params.buffer.value_or(kEndless)),
        numbers_(shuffle_seeds(plan.params, plan.seed, pass_after(instance.passes.base(*plan.node, plan.place), pass),
                               instance.make.parent)) {
    inputs_.push_back(plan.inputs[0]->start(instance, pass));
  }
  ~ShuffleLine() override {
    rows_.clear();
    ring_ = {};
    count_held(0, 0);
  }

 protected:
  struct Row {
    Run run;
    int64_t ordinal = 0;  // among the elements of the input, which extra errors are not
    int64_t cursor = 0;   // rows of the input before it, with extra errors
  };
  struct Saved {
    PlaceRing places;
    Numbers ordinals;  // of the rows in the buffer, from the oldest of them
    int64_t read = 0;  // elements of the input from the oldest of them to the last one that was read
    int64_t draws = 0;
    bool ended = false;
  };

  Pulled produce(int64_t most) override {
    if (!to_restore_.empty())
      if (std::optional<Pulled> unfinished = restore_buffer()) return *std::move(unfinished);
    log_if_worth_it();
    Run out;
    while (out.size < most) {
      Pulled filled = fill();
      if (filled.kind == Pulled::Kind::kBlocked) {
        if (out.size > 0) break;
        return filled;
      }
      if (filled.kind == Pulled::Kind::kRun) {  // an error of the shuffle, or a row that takes no place
        out.append(std::move(filled.run));
        continue;
      }
      if (held() == 0) break;
      if (may_replay()) {
        replay_draws(out, most - out.size);
        break;
      }
      if (over_places_)
        draw_places(out, most - out.size);
      else
        draw_row(out);
    }
    if (out.size == 0) return Pulled::end();
    return Pulled::of(std::move(out));
  }

 private:
  int64_t held() const { return static_cast<int64_t>(ring_.size() + rows_.size()); }
  int64_t waiting() const { return incoming_.size - incoming_row_; }

  // Returns the end when the buffer is full or the input has ended, and rows that do not enter the buffer.
  Pulled fill() {
    const int64_t begun = now_ns();
    while (held() < buffer_ && !ended_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      if (waiting() == 0) {
        Pulled pulled = inputs_[0]->pull(over_places_ ? kPullRows : std::min(buffer_ - held(), kPullRows));
        if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
        if (pulled.kind == Pulled::Kind::kEnd) {
          ended_ = true;
          break;
        }
        over_places_ = pulled.run.names();
        incoming_ = std::move(pulled.run);
        incoming_row_ = 0;
      }
      if (over_places_) {
        for (int64_t n = std::min(waiting(), buffer_ - held()); n > 0; --n) ring_.push(next_place());
        count_held(ring_.byte_size(), ring_.byte_size());
      } else if (Run passing = hold_row(); passing.size > 0) {
        return Pulled::of(std::move(passing));
      }
      if (too_much()) return Pulled::of(refuse());
    }
    return Pulled::end();
  }

  Place next_place() {
    const auto row = static_cast<size_t>(incoming_row_++);
    return {incoming_.positions[row], incoming_.passes[incoming_.passes.size() == 1 ? 0 : row]};
  }
  // A struck row does not enter the buffer and is returned.
  Run hold_row() {
    const int64_t cursor = inputs_[0]->out() - waiting();
    const Failure* failure = incoming_.failure_of(incoming_row_);
    Run row = incoming_.slice(incoming_row_++, 1);
    if (!failure || !failure->error.is_extra()) ++read_;
    if (failure && failure->struck) return row;
    const int64_t bytes = row.byte_size();
    rows_.push_back({std::move(row), read_ - 1, cursor});
    count_held(held_bytes_ + bytes, 0);
    return {};
  }

  // Draws several numbers ahead and fetches their memory: the ring may be larger than the CPU cache.
  void draw_places(Run& out, int64_t most) {
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
        add_place(out, ring_.draw(at[static_cast<size_t>(k)]));
        if (refills) ring_.push(next_place());
      }
      done += some;
    }
    draws_ += n;
  }

  bool may_replay() const {
    return over_places_ && skipping() && waiting() > 0 && incoming_.passes.size() == 1 &&
           ring_.all_of_pass(incoming_.passes[0]);
  }
  // The same as draw_places with one new place for each that is drawn, but returns only the number of rows.
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

  // Counts the bytes in the buffer for the whole process. `own` bytes belong to no array and are counted in the budget.
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
  // Whether this buffer exceeds the budget, alone or as the larger part of all buffers.
  bool too_much() const {
    const Budget& budget = Budget::process();
    if (held() <= 1 || held_bytes_ <= budget.limit() / 2) return false;
    return std::max(held_bytes_, budget.held()) > budget.limit();
  }

  Run refuse() {
    const Budget& budget = Budget::process();
    Error error = Error::exhausted(
        "shuffle holds ", held(), " elements in ", held_bytes_, " bytes, all iterators together hold ", budget.held(),
        " bytes, and the memory budget is ", budget.limit(),
        " bytes; shuffle before the maps or filters that make elements large, give a smaller buffer_size than ",
        buffer_ >= kEndless ? std::string("all") : std::to_string(buffer_), ", or raise STOKER_MEMORY");
    return refused(std::move(error));
  }
  // Returns the error; the end follows.
  Run refused(Error error) {
    Origin origin;
    if (ring_.size() > 0)
      origin.position = ring_[0].position;
    else if (!rows_.empty() && rows_.front().run.size > 0)
      origin = rows_.front().run.origins.at(0);
    annotate(error, *plan_.node, origin, instance_.make.sources);
    give_up();
    return Run::failure(error.set_extra().set_unskippable(), origin);
  }
  // Drops the buffer and the rest of the input.
  void give_up() {
    ring_ = {};
    rows_.clear();
    to_restore_.clear();
    count_held(0, 0);
    incoming_ = Run();
    incoming_row_ = 0;
    ended_ = true;
  }

  // ---- checkpoints

  void log_if_worth_it() {
    const int64_t since = draws_ - logged_draws_;
    const bool due = over_places_ ? since >= log_pace().draws && !skipping()
                                  : since >= held() / 4 && log_is_due(held() * static_cast<int64_t>(sizeof(uint32_t)));
    if (!due) return;
    logged_draws_ = draws_;
    log_now();
  }

  Entry snapshot() const override {
    if (!to_restore_.empty())
      return {out(), Saved{ring_, {to_restore_.begin(), to_restore_.end()}, to_read_, draws_, ended_}, {0}};
    Saved saved{ring_, {}, 0, draws_, ended_};
    if (rows_.empty()) return {out(), std::move(saved), {inputs_[0]->out() - waiting()}};
    const Row& oldest = *std::ranges::min_element(rows_, {}, &Row::ordinal);
    saved.ordinals.reserve(rows_.size());
    for (const Row& row : rows_) saved.ordinals.push_back(row.ordinal - oldest.ordinal);
    saved.read = read_ - oldest.ordinal;
    return {out(), std::move(saved), {oldest.cursor}};
  }
  Result<Json> entry_json(const Entry& entry, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    const auto& saved = std::any_cast<const Saved&>(entry.state);
    Json json = Json::dict();
    json.set("draws", saved.draws);
    json.set("ended", saved.ended);
    if (saved.places.size() > 0) {
      std::vector<Place> places;
      for (size_t i = 0; i < saved.places.size(); ++i) places.push_back(saved.places[i]);
      json.set("names", to_base64({reinterpret_cast<const char*>(places.data()), places.size() * sizeof(Place)}));
    }
    if (!saved.ordinals.empty()) {
      const std::vector<uint32_t> held(saved.ordinals.begin(), saved.ordinals.end());
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
    STOKER_TRY(const std::vector<Place> places, values_of<Place>(json, "names"));
    for (const Place& place : places) {
      if (place.position < 0 || place.position >= kEndless || place.pass < 0 || place.pass > kMostPasses)
        return Error::invalid("the checkpoint is damaged: position ", place.position, " of pass ", place.pass);
      ring_.push(place);
    }
    over_places_ = !places.empty();
    STOKER_TRY(to_restore_, values_of<uint32_t>(json, "held"));
    to_read_ = saved_count(json, "read");
    if (to_read_ < 0 || std::max<int64_t>(std::ssize(places), std::ssize(to_restore_)) > buffer_)
      return Error::invalid("the checkpoint is damaged: shuffle holds more than ", buffer_, " elements");
    const bool over_positions = plan_.inputs[0]->yields_positions();
    if (!(over_positions ? to_restore_.empty() : places.empty()))
      return Error::invalid("the checkpoint is damaged: shuffle holds ", over_positions ? "rows" : "positions",
                            ", expected ", over_positions ? "positions" : "rows");
    if (std::ranges::any_of(to_restore_, [&](uint32_t ordinal) { return ordinal >= to_read_; }))
      return Error::invalid("the checkpoint is damaged: shuffle holds rows that were not read");
    by_ordinal_.resize(to_restore_.size());
    std::iota(by_ordinal_.begin(), by_ordinal_.end(), 0u);
    std::ranges::sort(by_ordinal_, {}, [&](uint32_t slot) { return to_restore_[slot]; });
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

  // Reads the input up to the position of the checkpoint and fills the buffer with the rows that were in it. Returns
  // nothing when this is done, otherwise what has to be returned first.
  std::optional<Pulled> restore_buffer() {
    rows_.resize(to_restore_.size());
    const int64_t begun = now_ns();
    while (read_ < to_read_) {
      if (now_ns() - begun > kLongestPullNs) return Pulled::blocked(nullptr);
      const int64_t first = inputs_[0]->out();
      Pulled pulled = inputs_[0]->pull(std::min(to_read_ - read_, kPullRows));
      if (pulled.kind == Pulled::Kind::kBlocked) return pulled;
      if (pulled.kind == Pulled::Kind::kEnd) break;
      Run errors = unexpected_errors(pulled.run);
      for (int32_t row = 0; row < pulled.run.size; ++row) {
        const Failure* failure = pulled.run.failed.empty() ? nullptr : pulled.run.failure_of(row);
        if (!failure || !is_returned(failure->error)) restore_row(pulled.run, row, first + row);
      }
      if (errors.size > 0) return Pulled::of(std::move(errors));
    }
    if (read_ < to_read_) {
      give_up();
      std::optional<Run> error = ended_early();
      return error ? std::optional(Pulled::of(*std::move(error))) : std::nullopt;
    }
    to_restore_.clear();
    by_ordinal_.clear();
    int64_t bytes = 0;
    for (const Row& row : rows_) bytes += row.run.byte_size();
    count_held(bytes, 0);
    if (too_much()) return Pulled::of(refuse());
    return std::nullopt;
  }
  // Puts the next row of the input into the slots that it was in.
  void restore_row(const Run& run, int32_t row, int64_t cursor) {
    for (; next_slot_ < by_ordinal_.size() && to_restore_[by_ordinal_[next_slot_]] == read_; ++next_slot_)
      rows_[by_ordinal_[next_slot_]] = {run.slice(row, 1), read_, cursor};
    ++read_;
  }

  const ShuffleLinePlan& plan_;
  const int64_t buffer_;
  Philox numbers_;
  bool over_places_ = false;
  PlaceRing ring_;
  std::deque<Row, RecycledAllocator<Row>> rows_;
  int64_t held_bytes_ = 0;  // in the buffer
  int64_t held_elements_ = 0;
  int64_t own_bytes_ = 0;  // of the ring
  int64_t draws_ = 0;
  bool ended_ = false;
  int64_t logged_draws_ = 0;
  int64_t read_ = 0;  // elements of the input so far, over elements
  Run incoming_;
  int32_t incoming_row_ = 0;
  // After a restore: the ordinal of the row for each slot, the slots in the order of their rows, and the number of
  // slots that are filled.
  std::vector<uint32_t> to_restore_;
  std::vector<uint32_t> by_ordinal_;
  size_t next_slot_ = 0;
  int64_t to_read_ = 0;  // elements of the input that had been read when the checkpoint was saved
};

}  // namespace

std::unique_ptr<LineNode> ShuffleLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<ShuffleLine>(*this, instance, pass);
}

Recomputed ShuffleLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return inputs[0]->recompute(origin, context);
}

std::string ShuffleLinePlan::describe() const {
  std::string text = node->name + " of " + (params.buffer ? std::to_string(*params.buffer) : std::string("all"));
  const std::string input = inputs[0]->describe();
  if (inputs[0]->yields_positions()) return text + " positions, before elements are loaded, over " + input;
  const int64_t bytes = bytes_of_element(node->spec);
  text += " elements";
  if (bytes > 0 && params.buffer) text += ", " + bytes_text(bytes * *params.buffer) + " in memory";
  return text + ", over " + input;
}

}  // namespace stoker
