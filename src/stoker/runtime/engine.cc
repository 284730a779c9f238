#include "stoker/runtime/engine.h"

#include <algorithm>
#include <thread>

#include "stoker/batch/slab.h"
#include "stoker/core/hash.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/delivery.h"
#include "stoker/runtime/pool.h"
#include "stoker/runtime/task.h"

namespace stoker {
namespace {

constexpr int64_t kMostElements = INT32_MAX;  // so that products stay numbers
constexpr size_t kMostSkipped = 1000;         // that are listed

// How many elements one row of the last stage stands for: what batches put
// together.
int64_t elements_in_a_row(const Node& last) {
  int64_t elements = 1;
  int taken_apart = 0;
  for (const Node* node = &last; node; node = node->inputs.empty() ? nullptr : node->inputs[0].get()) {
    if (node->stage->type().name == "unbatch") {
      ++taken_apart;
    } else if (node->stage->rows() > 0 && taken_apart > 0) {
      --taken_apart;
    } else if (node->stage->rows() > 0) {
      elements = std::min(elements * std::min(node->stage->rows(), kMostElements), kMostElements);
    }
  }
  return elements;
}

// What a checkpoint says may be anything.
int64_t count_in(const Json* json) {
  const int64_t* count = json ? json->as<int64_t>() : nullptr;
  return count ? std::clamp<int64_t>(*count, 0, int64_t{1} << 60) : 0;
}

bool is_endless(const Node& node) {
  const Result<int64_t> cardinality = cardinality_of(node, Counting::kAsKnown);
  return cardinality && *cardinality == kInfinite;
}

int64_t pass_of(const Origin& origin) {
  if (origin.parent) return pass_of(*origin.parent);
  return origin.members && !origin.members->empty() ? pass_of(origin.members->front()) : origin.pass;
}

constexpr int64_t kSpinNs = 30'000;
constexpr std::chrono::milliseconds kAskInterrupted{100};
// What the consumer takes at once, beside the run it asked for: bytes, a share
// of the budget, runs.
constexpr int64_t kSmallReady = 64 << 10;
constexpr int64_t kReadyShare = 64;
constexpr size_t kMostReady = 16;

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

// A message may be as long as the function that raised it likes.
Error with_short_message(Error error) {
  constexpr size_t kMostBytes = 2000;
  if (error.message().size() <= kMostBytes) return error;
  Error shorter(error.code(), shortened(error.message(), kMostBytes));
  shorter.at() = error.place();
  return shorter;
}

}  // namespace

// ---- making and ending

Engine::Engine(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters, EngineOptions options)
    : plan_(std::move(plan)),
      meters_(std::move(meters)),
      options_(options),
      account_(std::make_shared<EngineAccount>()),
      elements_in_a_row_(elements_in_a_row(*plan_->node)) {
  begun_ns_ = last_tuned_ns_ = now_ns();
  last_pass_.resize(plan_->sources.size(), -1);
}

std::shared_ptr<Engine> Engine::make(std::shared_ptr<const Plan> plan, std::shared_ptr<Meters> meters,
                                     EngineOptions options, Passes passes) {
  std::shared_ptr<Engine> engine(new Engine(std::move(plan), std::move(meters), options));
  auto root = std::make_shared<Instance>();
  root->engine = engine.get();
  root->plan = engine->plan_;
  root->passes = std::move(passes);
  root->make = {&root->passes, nullptr, &engine->plan_->sources, &engine->stopped_};
  root->root = &root->add_segment(*engine->plan_->root, 0);
  const MutexLock lock(engine->mutex_);
  engine->root_ = root;
  engine->add_to_order(*root);
  return engine;
}

// Lines close their children in the engine: they go while all of it is there.
Engine::~Engine() {
  forget_segments();
  root_.reset();
  Budget::process().reserve(-reserved_);
}

void Engine::begin() {
  if (begun_.exchange(true) || options_.alone) return;
  Pool::process().add(shared_from_this());
}

void Engine::stop() {
  stopped_ = true;
  Pool::process().remove(this);
  const MutexLock lock(mutex_);
  for (Segment* segment : order_) {
    segment->queued.clear();
    segment->keep_tuning();
  }
  consumer_wakes_.notify_all();
}

void Engine::release_by(std::chrono::steady_clock::time_point deadline) {
  mutex_.lock();
  while (running_ > 0 && piece_done_.wait_until(mutex_, deadline) == std::cv_status::no_timeout) {
  }
  if (running_ == 0)
    release();
  else
    abandon();
}

// A call does not return: all that it has no hold of goes now, the rest when
// it ends.
void Engine::abandon() {
  std::vector<std::unique_ptr<Ticket>> tickets;
  std::vector<std::unique_ptr<LineNode>> lines;
  std::vector<std::shared_ptr<Slab>> slabs;
  for (Segment* segment : order_) {
    for (auto& ticket : segment->window) {
      if (ticket->state != Ticket::State::kRunning)
        tickets.push_back(std::move(ticket));
      else if (ticket->counts.exchange(false))  // other iterators share the meter and its limit of calls
        --segment->plan.steps[ticket->step].meter->calls;
    }
    std::erase_if(segment->window, [](const auto& ticket) { return !ticket; });
    slabs.push_back(std::move(segment->slab));
    if (!segment->line_busy) lines.push_back(std::move(segment->line));
  }
  mutex_.unlock();
  // They close their children, under the lock. Children stand behind the lines
  // that opened them and go first: their instance goes with that line.
  while (!lines.empty()) lines.pop_back();
  drop_undelivered();
}

void Engine::release_when_done() {
  mutex_.lock();
  while (running_ > 0) {
    piece_done_.wait_for(mutex_, kAskInterrupted);
    if (running_ == 0 || !options_.interrupted) continue;
    mutex_.unlock();
    const bool interrupted = is_interrupted_now();
    mutex_.lock();
    if (interrupted) return abandon();
  }
  release();
}

// Frees what the windows hold; children go with the lines that opened them.
void Engine::release() {
  if (std::exchange(released_, true)) return mutex_.unlock();
  std::shared_ptr<Instance> root = std::move(root_);
  forget_segments();
  mutex_.unlock();
  root.reset();
  drop_undelivered();
}

// Does nothing while a thread is inside next(): that thread calls this again
// when it leaves and finds the engine stopped.
void Engine::drop_undelivered() {
  if (!consumer_mutex_.try_lock()) return;
  current_ = Run();
  current_row_ = 0;
  ready_.clear();
  consumer_mutex_.unlock();
}

bool Engine::is_running_here() const { return RunningScope::covers(*this); }

std::shared_ptr<Instance> Engine::open(const SegmentPlan& root_plan, std::shared_ptr<const Plan> plan,
                                       const Instance& outer, int64_t pass, std::shared_ptr<const Origin> parent,
                                       std::string path, int rank) {
  auto child = std::make_shared<Instance>();
  child->engine = this;
  child->path = std::move(path);
  // A pass of a repeat shares its outer graph's bases; a nested graph counts
  // from 0 and takes its cache's.
  child->passes = plan == outer.plan ? outer.passes : Passes();
  if (plan == outer.plan) {
    const MutexLock lock(mutex_);
    child->begun = outer.begun;
  }
  child->pass = pass;
  child->plan = std::move(plan);
  child->make = {&child->passes, std::move(parent), &plan_->sources, &stopped_};
  child->root = &child->add_segment(root_plan, rank);
  const MutexLock lock(mutex_);
  add_to_order(*child);
  return child;
}

void Engine::add_to_order(const Instance& instance) {
  for (const auto& segment : instance.segments) {
    segment->number = ++numbered_;
    order_.insert(segment.get());
    note_work(*segment);
  }
}

// Before they go: closing one compares it with the others.
void Engine::forget_segments() {
  order_.clear();
  for_workers_.clear();
  for_waiters_.clear();
}

void Engine::close(Instance& instance) {
  std::vector<std::unique_ptr<Ticket>> dropped;  // freed outside the lock
  const MutexLock lock(mutex_);
  if (std::exchange(instance.closed, true)) return;
  for (const auto& segment : instance.segments) {
    segment->closed = true;
    segment->keep_tuning();
    segment->queued.clear();
    order_.erase(segment.get());
    for_workers_.erase(segment.get());
    for_waiters_.erase(segment.get());
    // A ticket that runs still belongs to its thread, which drops it.
    for (auto& ticket : segment->window)
      if (ticket->state != Ticket::State::kRunning) dropped.push_back(std::move(ticket));
    std::erase_if(segment->window, [](const auto& ticket) { return !ticket; });
  }
}

bool Engine::line_ended(const Segment& segment) {
  const MutexLock lock(mutex_);
  return segment.line_ended;
}

// ---- the consumer

Result<std::optional<Element>> Engine::next() {
  if (is_running_here())
    return Error::precondition(
        "next() was called by a function that this iterator is running, which would wait for itself; "
        "give the function a dataset of its own to iterate");
  if (consumer_thread_.load() == std::this_thread::get_id())
    return Error::precondition("next() was called by a signal handler or callback that runs inside next()");
  if (!lock_consumer()) return Error::cancelled();
  consumer_thread_ = std::this_thread::get_id();
  Result<std::optional<Element>> element = std::optional<Element>();
  try {
    element = next_element();
  } catch (...) {
    element = error_of_exception();
  }
  consumer_thread_ = std::thread::id();
  consumer_mutex_.unlock();
  if (stopped_) drop_undelivered();
  return element;
}

// False when the calling thread is interrupted while another one is in next().
bool Engine::lock_consumer() {
  if (!options_.interrupted) {
    consumer_mutex_.lock();
    return true;
  }
  while (!consumer_mutex_.try_lock_for(kAskInterrupted))
    if (is_interrupted_now()) return false;
  return true;
}

Result<std::optional<Element>> Engine::next_element() {
  begin();
  bool at_once = true;
  while (true) {
    if (too_many_failed_) return std::optional<Element>();
    if (current_row_ < current_.size) {
      const int32_t row = current_row_++;
      delivered_rows_.store(delivered_rows_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      note_pass(current_.origins.at(row));
      const Failure* failure = current_.failed.empty() ? nullptr : current_.failure_of(row);
      if (!failure) {
        delivered_elements_.fetch_add(1, std::memory_order_relaxed);
        return std::optional<Element>(current_.take_element(row));
      }
      const auto number = static_cast<size_t>(failure - current_.failed.data());
      STOKER_TRY(handle(current_.failed[number], current_.origins.at(row)));
    } else {
      if (std::exchange(at_once, false)) asked_ns_ = now_ns();
      STOKER_TRY(const bool more, refill());
      if (!more && std::exchange(interrupted_, false)) return Error::cancelled();
      if (!more) break;
    }
    // A filter or an error policy may skip elements for a long time.
    if (is_wanted_elsewhere()) {
      interrupted_ = false;
      return Error::cancelled();
    }
  }
  if (stopped_) return std::optional<Element>();  // closed before its end: nothing to judge
  const MutexLock lock(mutex_);
  STOKER_TRY(judge_failures(true));
  return std::optional<Element>();
}

Result<void> Engine::handle(Failure& failure, const Origin& origin) {
  ++failures_;
  // A function that was cancelled, or that ends the program, is no bad element.
  if (!options_.skip_errors || failure.error.code() == Code::kCancelled) {
    Error raised = with_files(failure.error, origin, *plan_);
    failure.error.set_cause(nullptr);  // it is the caller's now
    return raised;
  }
  // What a function threw holds its frames and all they refer to. It is released here: that may take an interpreter's
  // lock, which must not happen under ours.
  failure.error.set_cause(nullptr);
  const bool is_listed = failures_ <= static_cast<int64_t>(kMostSkipped);
  const Error error = is_listed ? with_short_message(with_files(failure.error, origin, *plan_)) : failure.error;
  const MutexLock lock(mutex_);
  if (skipped_.empty()) first_failed_pass_ = pass_of(origin);
  // One that fails in a later pass with nothing given so far, and the end will not come to be judged.
  const bool pass_ended = delivered_elements_ == 0 && pass_of(origin) != first_failed_pass_ && is_endless(*plan_->node);
  if (!pass_ended) ++skipped_count_;
  if (is_listed) skipped_.push_back({error.place().origin.empty() ? origin.words() : error.place().origin, error});
  return judge_failures(pass_ended);
}

// What on_error allows, judged after enough elements and at the end. A pass of
// which nothing is left is an error whatever it allows: a loop over it would
// wait for ever, or train on nothing.
Result<void> Engine::judge_failures(bool pass_ended) {
  if (skipped_count_ == 0 || too_many_failed_) return {};
  const double seen = static_cast<double>(delivered_elements_) * static_cast<double>(elements_in_a_row_) +
                      static_cast<double>(skipped_count_);
  const bool nothing_left = pass_ended && delivered_elements_ == 0;
  const bool too_many =
      (pass_ended || seen >= 100) && static_cast<double>(skipped_count_) > options_.skip_at_most * seen;
  if (!nothing_left && !too_many) return {};
  too_many_failed_ = true;
  return nothing_left ? nothing_left_error() : too_many_error(seen);
}

Error Engine::too_many_error(double seen) const {
  if (skipped_.empty()) return Error::precondition(skipped_count_, " elements failed, more than on_error allows");
  const Error& last = skipped_.back().error;
  Error error = Error::precondition(skipped_count_, " of ", static_cast<int64_t>(std::min(seen, 1e18)),
                                    " elements failed, more than the share of ", options_.skip_at_most,
                                    " that on_error allows; the last one: ", last.message());
  error.at() = last.place();
  return error;
}

Error Engine::nothing_left_error() const {
  std::string first;
  for (size_t i = 0; i < std::min<size_t>(3, skipped_.size()); ++i)
    first += (i > 0 ? "; " : "; the first: ") + skipped_[i].origin + ": " + skipped_[i].error.message();
  const Code code = skipped_.empty() ? Code::kFailedPrecondition : skipped_.front().error.code();
  Error error =
      Error::of(code, "nothing is left to give: all of ", skipped_count_, " elements failed and were skipped", first);
  if (!skipped_.empty()) error.at() = skipped_.front().error.place();
  return error;
}

// Counts the passes that the consumer has begun, for the iterators after it.
void Engine::note_pass(const Origin& origin) {
  if (!options_.counts_passes) return;
  if (origin.parent) return note_pass(*origin.parent);
  if (origin.members) {
    for (const Origin& member : *origin.members) note_pass(member);
    return;
  }
  const auto source = static_cast<size_t>(origin.source);
  if (source >= last_pass_.size() || last_pass_[source] == origin.pass) return;
  last_pass_[source] = origin.pass;
  std::shared_ptr<Instance> root;
  {
    const MutexLock lock(mutex_);
    root = root_;
  }
  if (!root) return;
  raise_passes(*plan_, root->passes, origin.source, origin.pass);
}

// False at the end, when the engine is stopped and when the consumer is
// interrupted. True without a new run where a filter kept nothing.
Result<bool> Engine::refill() {
  if (ready_.empty() && !take_ready()) return false;
  if (ready_.empty()) return true;
  STOKER_TRY(make_receivers_own(ready_.front()));
  current_ = std::move(ready_.front());
  ready_.pop_front();
  current_row_ = 0;
  hand_over(current_);
  return true;
}

// Waits for the next run, and takes with it those that are done besides, as
// long as they are small: a consumer of small elements seldom needs the lock.
// A run of which a filter left nothing gives nothing; false at the end.
bool Engine::take_ready() {
  LineNode::Dropped dropped;  // freed outside the lock, as what is taken from is
  TakenFrom from;
  bool refill_now = false;
  int waiting = 0;
  {
    const MutexLock lock(mutex_);
    if (!wait_for_head()) return false;
    Segment& root = *root_->root;
    const auto small = std::min<int64_t>(kSmallReady, Budget::process().limit() / kReadyShare);
    int64_t bytes = 0;
    do {
      Run run = take_head(root, kMostRunRows, from);
      if (run.size == 0) break;
      bytes += run.byte_size();
      ready_.push_back(std::move(run));
    } while (bytes < small && ready_.size() < kMostReady);
    if (++takes_ % 16 == 0) root.prune(delivered_rows_, dropped);
    refill_now = root.wants_refill();
    if (refill_now) waiting = call_waiters(1);
  }
  if (waiting > 0) Pool::process().want_waiters(1);
  if (refill_now) Pool::process().wake();
  return true;
}

// Until the head of the consumer's window can be taken; false at the end.
bool Engine::wait_for_head() {
  const int64_t begun = now_ns();
  bool waited = false;
  while (true) {
    if (stopped_ || !root_) return stop_waiting();
    Segment& root = *root_->root;
    if (root.head_ready()) break;
    if (root.at_end()) return stop_waiting();
    waited = true;
    consumer_waiting_ = true;
    waiting_since_ = waiting_since_ == 0 ? begun : waiting_since_;
    if (Piece piece = pick_demand(ThreadKind::kConsumer)) {
      mutex_.unlock();
      run(std::move(piece), ThreadKind::kConsumer);  // it may be the last to hold a child, which needs the lock to go
      const bool wanted = is_wanted_elsewhere();
      mutex_.lock();
      if (wanted) return stop_waiting();
      continue;
    }
    root.note_empty();
    result_ready_.store(false, std::memory_order_relaxed);
    mutex_.unlock();
    Pool::process().wake_all();
    const bool ready = spin();
    mutex_.lock();
    if (ready || result_ready_.load(std::memory_order_relaxed) || stopped_) continue;
    if (root_->root->head_ready() || root_->root->at_end()) continue;
    if (!sleep_until_woken()) return false;
  }
  consumer_waiting_ = false;
  waiting_since_ = 0;
  stall_told_ = false;
  if (waited) {
    const int64_t took = now_ns() - begun;
    wait_ns_.fetch_add(took, std::memory_order_relaxed);
    usual_wait_ns_ = (usual_wait_ns_ * 7 + took) / 8;
  }
  return true;
}

// Sleeps for kAskInterrupted at most: the pool may have lost its threads, which
// leaves the work to this one. False when this thread is interrupted, which is
// not asked more often than that: asking may mean waiting for an interpreter's
// lock.
bool Engine::sleep_until_woken() {
  consumer_asleep_ = true;
  consumer_wakes_.wait_for(mutex_, kAskInterrupted);
  consumer_asleep_ = false;
  mutex_.unlock();
  const bool wanted = is_wanted_elsewhere();
  mutex_.lock();
  return !wanted || stop_waiting();
}

bool Engine::stop_waiting() {
  consumer_waiting_ = false;
  waiting_since_ = 0;
  return false;
}

// Asked without the lock, and not too often.
bool Engine::is_wanted_elsewhere() {
  if (!options_.interrupted && !options_.waiting) return false;
  const int64_t now = now_ns();
  if (now - asked_ns_ < kAskInterrupted.count() * 1'000'000) return false;
  asked_ns_ = now;
  try {
    if (options_.waiting) options_.waiting(stats());
  } catch (...) {
    return interrupted_ = true;
  }
  return interrupted_ = is_interrupted_now();
}

bool Engine::is_interrupted_now() const {
  try {
    return options_.interrupted && options_.interrupted();
  } catch (...) {
    return true;
  }
}

// Small batches come faster than a thread falls asleep and wakes: where waits
// have been short, looks again for a moment first.
bool Engine::spin() const {
  if (usual_wait_ns_ > kSpinNs) return false;
  const int64_t until = now_ns() + kSpinNs;
  while (!result_ready_.load(std::memory_order_acquire) && !stopped_) {
    if (now_ns() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::vector<SkippedElement> Engine::skipped() {
  const MutexLock lock(mutex_);
  return skipped_;
}

// ---- checkpoints

// Does not wait for a thread inside next(): the position is the one after the
// last element that any thread has received.
Result<Json> Engine::save() {
  read_fingerprint(*plan_);  // looks at files: not under the lock
  const MutexLock lock(mutex_);
  if (!root_ || stopped_) return Error::precondition("a closed loader has no place to save");
  Json json = checkpoint_head(*plan_, root_->passes);
  json.set("delivered", delivered_elements_.load());
  if (skipped_count_ > 0) json.set("skipped", skipped_count_);
  STOKER_TRY(Json cut, root_->root->cut(delivered_rows_));
  json.set("cut", std::move(cut));
  return json;
}

Result<void> Engine::restore(const Json& json) {
  const Json* cut = json.find("cut");
  if (!cut) return Error::invalid("the checkpoint is damaged: it has no \"cut\"");
  delivered_elements_ = count_in(json.find("delivered"));
  std::shared_ptr<Instance> root;
  {
    const MutexLock lock(mutex_);
    skipped_count_ = count_in(json.find("skipped"));
    root = root_;
  }
  return root->root->restore(*cut);
}

}  // namespace stoker
