#include "stoker/runtime/pool.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <system_error>

#include "stoker/core/interrupt.h"
#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/machine.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/settings.h"
#include "stoker/runtime/stats.h"

namespace stoker {
namespace {

// A call counts as waiting after its thread has slept for this long.
constexpr int64_t kWaitingAfterNs = 2'000'000;
// The monitor's interval during the first kKnownAfter runs of a stage, during other user calls, and without such calls.
constexpr int64_t kKnownAfter = 16;
constexpr std::chrono::microseconds kLookOften{500}, kLook{2000}, kLookSeldom{10'000};
// For this long after an iterator was added, the monitor uses the shortest interval, so that it observes its first
// calls.
constexpr int64_t kNewIteratorNs = 20'000'000;
constexpr std::chrono::milliseconds kMemoryKept{200};  // after the last loader was closed
constexpr std::chrono::seconds kSpareKept{10};         // an idle waiting thread
constexpr int64_t kSpinNs = 10'000;
// The maximum number of waiting threads that the monitor requests for each iterator in one round.
constexpr int kMostWaitersRequested = 64;
constexpr int kNiceAboveConsumer = 5;  // a higher nice value is a lower priority
constexpr uint64_t kWorkerSliceNs = 20'000'000;

int configured_workers() {
  const Result<Settings>& settings = process_settings();
  if (settings && settings->workers.value_or(kAutotune) != kAutotune) return static_cast<int>(*settings->workers);
  return default_workers(read_machine().cores);
}

// Returns whether a thread is sleeping, or nullopt if /proc does not report it.
std::optional<bool> is_sleeping(int tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
  std::FILE* file = std::fopen(path, "re");
  if (!file) return std::nullopt;
  char text[128] = {};
  const size_t n = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // The state follows the name, which ends with the last parenthesis.
  const char* name_end = nullptr;
  for (size_t i = 0; i < n; ++i)
    if (text[i] == ')') name_end = text + i;
  if (!name_end || name_end + 2 >= text + n) return std::nullopt;
  return name_end[2] == 'S' || name_end[2] == 'D';
}

// The argument of sched_setattr in its first version. The Linux header that declares it conflicts with <sched.h>.
struct SchedulingRequest {
  uint32_t size = sizeof(SchedulingRequest);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

// Returns the nice value of the thread that first used the pool, which is usually the consumer.
int consumer_nice() {
  static const int nice = getpriority(PRIO_PROCESS, 0);
  return nice;
}

// Gives a worker a lower priority than the consumer's. With SCHED_BATCH, it does not preempt the thread that wakes it.
// With long time slices, kernels that support the request (6.12 and newer) immediately run consumers and waiting
// threads that wake, before the worker's slice ends.
void lower_priority() {
  const SchedulingRequest request{
      .policy = SCHED_BATCH, .nice = std::min(consumer_nice() + kNiceAboveConsumer, 19), .runtime_ns = kWorkerSliceNs};
  syscall(SYS_sched_setattr, 0, &request, 0);
}

// Returns false if the system refuses to create a thread.
template <typename Body>
bool start_thread(Body body) {
  try {
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// The other modules create no threads: run_on_threads() starts its threads here.
[[maybe_unused]] const bool kStarterIsSet = [] {
  set_thread_starter([](std::function<void()> body) { return start_thread(std::move(body)); });
  return true;
}();

std::atomic<bool> has_threads{false}, lost_in_fork{false};

}  // namespace

bool Pool::is_lost_in_fork() { return lost_in_fork.load(std::memory_order_relaxed); }

Pool& Pool::process() {
  static auto* pool = new Pool;
  return *pool;
}

Pool::Pool() : target_(configured_workers()), engines_(std::make_shared<std::vector<std::shared_ptr<Engine>>>()) {
  requested_workers_ = target_;
  pthread_atfork(nullptr, nullptr, [] { lost_in_fork.store(has_threads.load()); });
  Budget::process().on_space_freed([this] { wake_all(); });
  consumer_nice();
}

std::vector<std::shared_ptr<Engine>> Pool::engines() {
  const MutexLock lock(mutex_);
  return *engines_;
}

int Pool::threads() {
  const MutexLock lock(mutex_);
  return active_workers_ + waiters_;
}

void Pool::set_workers(int n) {
  const MutexLock lock(mutex_);
  target_ = requested_workers_ = n;
  generation_.fetch_add(1);
  work_.notify_all();
  if (!engines_->empty()) spawn_workers();
}

void Pool::add(std::shared_ptr<Engine> engine) {
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> before;  // released outside the lock
  const MutexLock lock(mutex_);
  if (engine->stopped()) return;
  auto all = std::make_shared<std::vector<std::shared_ptr<Engine>>>(*engines_);
  all->push_back(std::move(engine));
  before = std::exchange(engines_, std::move(all));
  target_ = requested_workers_;  // the system may have refused threads before; try again
  start_monitor();
  spawn_workers();
  generation_.fetch_add(1);
  work_.notify_all();
  look_now_ = true;
  added_ns_ = now_ns();
  monitor_.notify_all();
}

void Pool::remove(Engine* engine) {
  std::shared_ptr<Engine> removed;  // both are released outside the lock
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> before;
  const MutexLock lock(mutex_);
  auto all = std::make_shared<std::vector<std::shared_ptr<Engine>>>(*engines_);
  std::erase_if(*all, [&](std::shared_ptr<Engine>& one) {
    if (one.get() != engine) return false;
    removed = one;
    return true;
  });
  before = std::exchange(engines_, std::move(all));
}

// Notifies after releasing the lock, because the woken thread acquires it. The lock must be acquired once after the
// generation has changed: otherwise, a worker that has just compared the old generation could miss the notification.
void Pool::wake() {
  generation_.fetch_add(1);
  if (idle_workers_.load() == 0) return;
  {
    const MutexLock lock(mutex_);
  }
  work_.notify_one();
}

void Pool::wake_all() {
  generation_.fetch_add(1);
  waiter_generation_.fetch_add(1);
  if (idle_workers_.load() == 0 && idle_waiters_.load() == 0) return;
  const MutexLock lock(mutex_);
  work_.notify_all();
  waiter_work_.notify_all();
}

void Pool::request_waiters(int n) {
  waiter_generation_.fetch_add(1);
  int idle = 0;
  bool more = false;
  {
    const MutexLock lock(mutex_);
    idle = idle_waiters_.load();
    more_waiters_ = std::max(more_waiters_, n - idle - starting_waiters_);
    more = more_waiters_ > 0;
  }
  for (int i = 0; i < std::min(n, idle); ++i) waiter_work_.notify_one();
  if (more) monitor_.notify_all();
}

void Pool::spawn_workers() {
  while (active_workers_ < target_)
    if (!spawn_worker()) return do_without_threads();
}

bool Pool::spawn_worker() {
  auto slot = std::make_shared<ThreadSlot>();
  slot->counts_as_worker = true;
  has_threads = true;  // set before the thread starts, so that a child forked in between reads true
  if (!start_thread([this, slot] { worker_loop(slot); })) return false;
  slots_.push_back(slot);
  ++active_workers_;
  return true;
}

bool Pool::spawn_waiter() {
  auto slot = std::make_shared<ThreadSlot>();
  if (!start_thread([this, slot] { waiter_loop(slot); })) return false;
  slots_.push_back(slot);
  ++waiters_;
  ++starting_waiters_;
  return true;
}

void Pool::start_monitor() {
  if (monitor_running_) return;
  has_threads = true;
  monitor_running_ = start_thread([this] { monitor_loop(); });
  if (!monitor_running_) do_without_threads();
}

// From now on, the consumers' own threads do all work, including calls that wait: with too few threads, one loader
// could wait for another indefinitely. The next iterator tries again to create threads.
void Pool::do_without_threads() {
  target_ = 0;
  more_waiters_ = 0;
  generation_.fetch_add(1);
  work_.notify_all();
  if (!std::exchange(warned_, true))
    post(
        "stoker: the system refused to create a thread; elements are produced on the thread that calls next(), which "
        "is slower; raise the limit on threads (ulimit -u, or the container's pids limit)");
}

bool Pool::has_surplus_worker() {
  const MutexLock lock(mutex_);
  return active_workers_ > target_;
}

bool Pool::work(ThreadKind kind) {
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> all;
  size_t first = 0;
  {
    const MutexLock lock(mutex_);
    if (kind == ThreadKind::kWorker && active_workers_ > target_) return false;  // exits instead
    all = engines_;
    first = next_engine_++;
  }
  const size_t n = all->size();
  for (const bool waiting : {true, false})
    for (size_t i = 0; i < n; ++i) {
      const std::shared_ptr<Engine>& engine = (*all)[(first + i) % n];
      if (engine->consumer_waiting() == waiting && engine->run_one(kind)) return true;
    }
  return false;
}

// Polls for new work for up to 10 µs: small pieces arrive faster than a thread can sleep and wake up.
bool Pool::more_came(uint64_t seen) const {
  const int64_t until = now_ns() + kSpinNs;
  while (now_ns() < until) {
    if (generation_.load() != seen) return true;
    std::this_thread::yield();
  }
  return false;
}

void Pool::worker_loop(std::shared_ptr<ThreadSlot> slot) {
  lower_priority();
  ThreadSlot::mine() = slot.get();
  slot->tid = static_cast<int>(syscall(SYS_gettid));
  pthread_getcpuclockid(pthread_self(), &slot->cpu_clock);
  while (true) {
    const uint64_t seen = generation_.load();
    if (work(ThreadKind::kWorker)) {
      if (!slot->found_waiting.load()) continue;
      const MutexLock lock(mutex_);  // another worker replaced it during the call
      slot->found_waiting = false;
      ++active_workers_;
      if (active_workers_ <= target_) continue;
    }
    if (!has_surplus_worker() && more_came(seen)) continue;
    const MutexLock lock(mutex_);
    if (active_workers_ > target_) {
      --active_workers_;
      std::erase(slots_, slot);
      generation_.fetch_add(1);  // the remaining workers run what this call made ready
      work_.notify_one();
      return;
    }
    ++idle_workers_;
    while (generation_.load() == seen && active_workers_ <= target_) work_.wait(mutex_);
    --idle_workers_;
  }
}

// Waiting threads keep the consumer's priority: workers depend on their results, and they sleep most of the time.
void Pool::waiter_loop(std::shared_ptr<ThreadSlot> slot) {
  ThreadSlot::mine() = slot.get();
  slot->tid = static_cast<int>(syscall(SYS_gettid));
  pthread_getcpuclockid(pthread_self(), &slot->cpu_clock);
  {
    const MutexLock lock(mutex_);
    --starting_waiters_;
  }
  while (true) {
    const uint64_t seen = waiter_generation_.load();
    if (work(ThreadKind::kWaiter)) continue;
    const MutexLock lock(mutex_);
    ++idle_waiters_;
    // A thread that is not needed for kSpareKept exits. A running loader keeps the threads that it uses.
    const auto until = std::chrono::steady_clock::now() + kSpareKept;
    bool woken = waiter_generation_.load() != seen;
    while (!woken && waiter_work_.wait_until(mutex_, until) == std::cv_status::no_timeout)
      woken = waiter_generation_.load() != seen;
    --idle_waiters_;
    if (woken) continue;
    --waiters_;
    std::erase(slots_, slot);
    return;
  }
}

// Returns whether the thread has slept in this call for kWaitingAfterNs: its CPU time has not increased, and the kernel
// reports it as sleeping. A preempted thread is not reported as sleeping. A thread whose call ends during this check
// sleeps on the slot's lock, so its CPU time is compared once more.
bool Pool::has_slept(ThreadSlot& slot, int64_t now) {
  const int64_t cpu = cpu_time(slot.cpu_clock);
  if (cpu != slot.cpu_seen || slot.call.since > slot.unchanged_since) {
    slot.cpu_seen = cpu;
    slot.unchanged_since = std::max(now, slot.call.since);  // the call may have started after `now` was read
    return false;
  }
  if (now - slot.unchanged_since < kWaitingAfterNs) return false;
  if (is_sleeping(slot.tid) == true && cpu_time(slot.cpu_clock) == cpu) return true;
  slot.unchanged_since = now;
  return false;
}

Pool::Seen Pool::look_at(ThreadSlot& slot, int64_t now, std::vector<std::string>& messages) {
  const MutexLock lock(slot.mutex);
  Call& call = slot.call;
  if (!call.stage) return Seen::kNothing;
  if (slot.counts_as_worker.load() && !slot.found_waiting.load() && has_slept(slot, now)) {
    call.stage->waits = true;
    call.stage->calls_since_sleep = 0;
    slot.found_waiting = true;
    --active_workers_;
    spawn_workers();
  }
  if (now - call.since > call.report_after_ns && !std::exchange(call.reported, true))
    messages.push_back("stoker: " + call.stage->path + " has been in one call for " +
                       std::to_string((now - call.since) / 1'000'000'000) + " s, at element " +
                       std::to_string(call.first + (call.row ? call.row->load() : 0)) + " of its stage" +
                       defined_at(*call.stage) + "; the loader continues until it needs the result of this call");
  if (!slot.counts_as_worker.load()) return Seen::kNothing;
  return call.stage->runs.load() < kKnownAfter ? Seen::kUnknownCall : Seen::kCall;
}

// Waits until there is an iterator. If there has been none for kMemoryKept, returns unused memory to the system.
void Pool::wait_for_engines() {
  const auto until = std::chrono::steady_clock::now() + kMemoryKept;
  while (engines_->empty() && monitor_.wait_until(mutex_, until) == std::cv_status::no_timeout) {
  }
  if (!engines_->empty()) return;
  mutex_.unlock();
  Buffer::free_idle();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  mutex_.lock();
  while (engines_->empty()) monitor_.wait(mutex_);
}

// The monitor also starts the waiting threads: a thread started by a worker would inherit its low priority and could
// not raise it.
void Pool::monitor_loop() {
  int64_t last_tick = 0;
  while (true) {
    std::chrono::microseconds next_look = kLookSeldom;
    std::vector<std::string> messages;
    int waiting = 0;
    {
      const MutexLock lock(mutex_);
      look_now_ = false;
      for (; more_waiters_ > 0; --more_waiters_)
        if (!spawn_waiter()) {
          do_without_threads();
          break;
        }
      if (engines_->empty()) {
        wait_for_engines();
        last_tick = now_ns();
      }
      const int64_t now = now_ns();
      const auto slots = slots_;
      for (const auto& slot : slots) {
        const Seen seen = look_at(*slot, now, messages);
        if (seen == Seen::kCall) next_look = std::min(next_look, kLook);
        if (seen == Seen::kUnknownCall) next_look = kLookOften;
      }
      if (now - added_ns_ < kNewIteratorNs) next_look = kLookOften;
    }
    for (const std::string& message : messages) post(message);
    const int64_t now = now_ns();
    const bool tick = now - last_tick >= 10'000'000;
    for (const std::shared_ptr<Engine>& engine : engines()) {
      if (tick)
        if (const std::string message = engine->tick(now); !message.empty()) post(message);
      waiting += engine->waiter_work(kMostWaitersRequested);
    }
    if (tick) last_tick = now;
    if (waiting > 0) request_waiters(waiting);
    const MutexLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() + next_look;
    while (!look_now_ && more_waiters_ == 0 && monitor_.wait_until(mutex_, until) == std::cv_status::no_timeout) {
    }
  }
}

void Pool::reclaim(int64_t bytes) {
  int64_t freed = CacheStore::reclaim(bytes);
  if (freed >= bytes) return;
  Buffer::free_idle();
  for (const std::shared_ptr<Engine>& engine : engines()) {
    if (freed >= bytes) return;
    freed += engine->reclaim(bytes - freed);
  }
}

}  // namespace stoker
