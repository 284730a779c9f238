#include "stoker/runtime/consumer.h"

#include <algorithm>

#include "stoker/core/interrupt.h"
#include "stoker/runtime/delivery.h"
#include "stoker/runtime/engine.h"
#include "stoker/runtime/pool.h"

namespace stoker {
namespace {

constexpr int64_t kSpinNs = 30'000;
// The consumer takes further runs under the same lock until it has this many bytes, 1/64 of the budget, or this many
// runs.
constexpr int64_t kMostReadyBytes = 64 << 10;
constexpr int64_t kReadyBudgetDivisor = 64;
constexpr size_t kMostReadyRuns = 16;

void hand_over(const Run& run) {
  for (const Column& column : run.columns) {
    if (column.dense()) {
      if (column.block().owner()) column.block().owner()->hand_over();
      continue;
    }
    for (const Array& row : column.rows())
      if (row.owner()) row.owner()->hand_over();
  }
}

}  // namespace

Consumer::Consumer(Engine& engine, EngineFlags& flags, EpochPasses epoch)
    : engine_(engine),
      flags_(flags),
      failures_(engine.plan(), {engine.options().skip_errors, engine.options().skip_at_most}, std::move(epoch)) {
  last_pass_.resize(engine.plan().sources.size(), -1);
}

// ---- delivery

// The lock is held, and this thread is marked as inside next(), until the destructor.
class STOKER_ANNOTATION(scoped_lockable) Consumer::Inside {
 public:
  explicit Inside(Consumer& consumer) STOKER_REQUIRES(consumer.mutex_) : consumer_(consumer) {
    consumer_.inside_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Inside() STOKER_RELEASE() {
    consumer_.inside_.store(std::thread::id(), std::memory_order_relaxed);
    consumer_.mutex_.unlock();
    if (consumer_.flags_.stopped) consumer_.drop_undelivered();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Consumer& consumer_;
};

Result<std::optional<Element>> Consumer::next() {
  if (inside_.load(std::memory_order_relaxed) == std::this_thread::get_id())
    return Error::precondition(
        "next() was called by a signal handler or callback that runs inside next() of the same iterator; "
        "call it after the outer next() has returned");
  if (!lock_unless_interrupted()) return Error::cancelled();
  const Inside inside(*this);
  try {
    return next_element();
  } catch (...) {
    return error_of_exception();
  }
}

// Returns false if the calling thread is interrupted while another thread is in next().
bool Consumer::lock_unless_interrupted() {
  if (mutex_.try_lock()) return true;
  if (!engine_.options().interrupted) {
    mutex_.lock();
    return true;
  }
  while (!mutex_.try_lock_for(kInterruptCheckInterval))
    if (is_interrupted_now()) return false;
  return true;
}

Result<std::optional<Element>> Consumer::next_element() {
  engine_.begin();
  receiver_.store(std::thread::id(), std::memory_order_relaxed);  // an error of the call belongs to no row
  bool is_first_refill = true;
  while (true) {
    if (failures_.has_given_up()) return std::optional<Element>();
    if (current_row_ < current_.size) {
      const int32_t row = current_row_++;
      delivered_rows_.store(delivered_rows_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (row >= pass_noted_until_ && engine_.options().counts_passes) note_pass_at(row);
      if (Buffer::any_backed()) fail_if_truncated(row);
      const Failure* failure = current_.failed.empty() ? nullptr : current_.failure_of(row);
      receiver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      last_elements_.store(failure ? 0 : current_.origins.elements_at(row), std::memory_order_relaxed);
      if (!failure) {
        failures_.add_delivered(last_elements_.load(std::memory_order_relaxed));
        return current_.take_element(row);
      }
      const auto number = static_cast<size_t>(failure - current_.failed.data());
      STOKER_TRY(add_failure(current_.failed[number], row));
    } else {
      if (std::exchange(is_first_refill, false)) asked_ns_ = now_ns();
      STOKER_TRY(const bool more, refill());
      if (!more && std::exchange(interrupted_, false)) return Error::cancelled();
      if (!more) break;
    }
    // Checked in every iteration, because a filter or an error policy can skip elements for a long time.
    if (must_stop_waiting()) {
      interrupted_ = false;
      return Error::cancelled();
    }
  }
  if (flags_.stopped) return std::optional<Element>();  // closed before the end: the failures are not judged
  STOKER_TRY(failures_.judge_end());
  return std::optional<Element>();
}

// Naming the record of an error may read the headers of many files. If the caller interrupts this, the row is not
// delivered.
Result<void> Consumer::add_failure(Failure& failure, int32_t row) {
  const InterruptScope scope(engine_.options().interrupted);
  try {
    return failures_.add(failure, current_.origins.at(row));
  } catch (...) {
    current_row_ = row;
    delivered_rows_.store(delivered_rows_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    throw;
  }
}

// Replaces a row with an error if the file that contains its bytes was truncated after the row was produced.
void Consumer::fail_if_truncated(int32_t row) {
  for (const Column& column : current_.columns) {
    Result<void> intact = column.check_intact(row);
    if (intact) continue;
    Error error = std::move(intact).error();
    annotate(error, *engine_.plan().node, current_.origins.at(row), &engine_.plan().sources);
    current_.fail(row, std::move(error));
  }
}

void Consumer::note_pass_at(int32_t row) {
  note_pass(current_.origins.at(row));
  pass_noted_until_ = current_.origins.end_of_pass_at(row);
}

// Records the passes that the consumer has started, so that later iterators continue with the next ones.
void Consumer::note_pass(const Origin& origin) {
  if (origin.parent) return note_pass(*origin.parent);
  if (origin.members) {
    for (const Origin& member : *origin.members) note_pass(member);
    return;
  }
  const auto source = static_cast<size_t>(origin.source);
  if (source >= last_pass_.size() || last_pass_[source] == origin.pass) return;
  last_pass_[source] = origin.pass;
  engine_.note_pass(origin.source, origin.pass);
}

void Consumer::drop_undelivered() {
  if (!mutex_.try_lock()) return;
  current_ = Run();
  current_row_ = 0;
  ready_.clear();
  mutex_.unlock();
}

void Consumer::withdraw() {
  if (receiver_ == std::this_thread::get_id() && !failures_.has_given_up()) withdrawn_ = {1, last_elements_};
}

int64_t Consumer::save(Json& checkpoint) const {
  const Withdrawn withdrawn = withdrawn_;
  failures_.save(checkpoint, withdrawn.elements);
  return delivered_rows_ - withdrawn.rows;
}

// ---- taking results

// Returns false at the end, if the engine is stopped, and if the consumer is interrupted. If a filter dropped every
// row, returns true without a new run.
Result<bool> Consumer::refill() {
  if (ready_.empty() && !take_ready()) return false;
  if (ready_.empty()) return true;
  prepare_to_read(ready_.front());
  STOKER_TRY(make_receivers_own(ready_.front()));
  current_ = std::move(ready_.front());
  ready_.pop_front();
  current_row_ = 0;
  pass_noted_until_ = 0;
  hand_over(current_);
  return true;
}

// Waits for the next run and takes it. Adds nothing to ready_ if a filter dropped every row. Returns false like
// refill().
bool Consumer::take_ready() {
  LineNode::Dropped dropped;  // like `left`, freed outside the lock
  Window::Leftovers left;
  bool refill_now = false;
  int waiting = 0;
  {
    const EngineLock lock(engine_.mutex());
    if (!wait_for_head()) return false;
    Segment& last = *engine_.last_segment();
    take_small_runs(last, left);
    // The last row is kept: another thread that received it may withdraw it.
    if (++takes_ % 16 == 0) last.prune(std::max<int64_t>(0, delivered_rows_ - 1), dropped);
    refill_now = last.needs_refill();
    if (refill_now) waiting = engine_.call_waiters();
  }
  if (waiting > 0) Pool::process().request_waiters(1);
  if (refill_now) Pool::process().wake();
  return true;
}

// Takes the next run, and further finished runs while they are small, so that a consumer of small elements rarely needs
// the lock.
void Consumer::take_small_runs(Segment& last, Window::Leftovers& left) {
  const auto most_bytes = std::min<int64_t>(kMostReadyBytes, Budget::process().limit() / kReadyBudgetDivisor);
  int64_t bytes = 0;
  do {
    Run run = engine_.take_head(last, kMostRunRows, left);
    if (run.size == 0) break;
    bytes += run.byte_size();
    ready_.push_back(std::move(run));
  } while (bytes < most_bytes && ready_.size() < kMostReadyRuns);
}

// ---- waiting

// Waits until the head of the last window can be taken. Returns false like refill().
bool Consumer::wait_for_head() {
  const int64_t started = now_ns();
  bool waited = false;
  while (true) {
    const Segment* const last = engine_.last_segment();
    if (flags_.stopped || !last) return stop_waiting();
    if (last->head_ready()) break;
    if (last->at_end()) return stop_waiting();
    waited = true;
    flags_.consumer_waiting = true;
    waiting_since_ = waiting_since_ == 0 ? started : waiting_since_;
    if (Piece piece = engine_.pick_demand()) {
      if (!run_piece(std::move(piece))) return stop_waiting();
    } else if (!wait_for_wakeup()) {
      return stop_waiting();
    }
  }
  flags_.consumer_waiting = false;
  waiting_since_ = 0;
  stall_reported_ = false;
  if (waited) {
    const int64_t took = now_ns() - started;
    wait_ns_.fetch_add(took, std::memory_order_relaxed);
    usual_wait_ns_ = (usual_wait_ns_ * 7 + took) / 8;
  }
  return true;
}

// Returns false if this thread is interrupted.
bool Consumer::run_piece(Piece piece) {
  const EngineUnlock unlocked(engine_.mutex());
  // The piece is moved: it may own the last reference to a child, and closing a child acquires the lock.
  engine_.run(std::move(piece), ThreadKind::kConsumer);
  return !must_stop_waiting();
}

// Polls, then sleeps, until there may be a result. Sleeps for kInterruptCheckInterval at most: if the pool has lost its
// threads, this thread has to do the work. Returns false if this thread is interrupted. The check runs at most once per
// kInterruptCheckInterval, because it may wait for the interpreter's lock.
bool Consumer::wait_for_wakeup() {
  engine_.last_segment()->note_empty();
  result_ready_.store(false, std::memory_order_relaxed);
  bool ready = false;
  {
    const EngineUnlock unlocked(engine_.mutex());
    Pool::process().wake_all();
    ready = spin();
  }
  if (ready || result_ready_.load(std::memory_order_relaxed) || flags_.stopped) return true;
  const Segment& last = *engine_.last_segment();
  if (last.head_ready() || last.at_end()) return true;
  asleep_ = true;
  engine_.mutex().wait_for(wakes_, kInterruptCheckInterval);
  asleep_ = false;
  const EngineUnlock unlocked(engine_.mutex());
  return !must_stop_waiting();
}

bool Consumer::stop_waiting() {
  flags_.consumer_waiting = false;
  stall_reported_ = false;
  if (const int64_t since = std::exchange(waiting_since_, 0); since > 0)
    wait_ns_.fetch_add(now_ns() - since, std::memory_order_relaxed);
  return false;
}

// Polls for a result for up to 30 µs if recent waits were short: small batches arrive faster than a thread can sleep
// and wake up. Returns true if a result is ready or the engine is stopped.
bool Consumer::spin() const {
  if (usual_wait_ns_ > kSpinNs) return false;
  const int64_t until = now_ns() + kSpinNs;
  while (!result_ready_.load(std::memory_order_acquire) && !flags_.stopped) {
    if (now_ns() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

void Consumer::wake() {
  result_ready_.store(true, std::memory_order_release);
  if (asleep_) wakes_.notify_all();
}

int64_t Consumer::stalled_ns(int64_t now, int64_t at_least_ns) {
  if (waiting_since_ == 0 || stall_reported_ || now - waiting_since_ < at_least_ns) return 0;
  stall_reported_ = true;
  return now - waiting_since_;
}

// Reports that the consumer waits, and returns whether it is interrupted. Must be called without the engine's lock.
// Calls the callbacks at most once per kInterruptCheckInterval.
bool Consumer::must_stop_waiting() {
  const EngineOptions& options = engine_.options();
  if (!options.interrupted && !options.waiting) return false;
  const int64_t now = now_ns();
  if (now - asked_ns_ < kInterruptCheckInterval.count() * 1'000'000) return false;
  asked_ns_ = now;
  try {
    if (options.waiting) options.waiting(engine_.stats());
  } catch (...) {
    return interrupted_ = true;
  }
  return interrupted_ = is_interrupted_now();
}

bool Consumer::is_interrupted_now() const {
  const std::function<bool()>& interrupted = engine_.options().interrupted;
  try {
    return interrupted && interrupted();
  } catch (...) {
    return true;
  }
}

}  // namespace stoker
