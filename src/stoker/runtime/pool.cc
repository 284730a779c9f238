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

#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/machine.h"
#include "stoker/runtime/messages.h"
#include "stoker/runtime/settings.h"

namespace stoker {
namespace {

// A call is found waiting when its thread has slept for so long.
constexpr int64_t kWaitingAfter = 2'000'000;
// How often the monitor looks: at calls whose kind nobody knows yet, at other
// calls of the user's, and when there are none.
constexpr int64_t kKnownAfter = 16;  // runs
constexpr std::chrono::microseconds kLookOften{500}, kLook{2000}, kLookSeldom{10'000};
// A new iterator's first calls begin a moment after it came: no look is to miss them.
constexpr int64_t kNewNs = 20'000'000;
constexpr std::chrono::milliseconds kMemoryKept{200};
constexpr std::chrono::seconds kSpareKept{10};  // an idle waiting thread
constexpr int64_t kSpinNs = 10'000;
// Waiting threads that one look of the monitor asks for, for each iterator.
constexpr int kMostCalledFor = 64;
constexpr int kBelowConsumer = 5;  // in nice
constexpr uint64_t kWorkerSliceNs = 20'000'000;

int standard_workers() {
  const Result<Settings>& settings = process_settings();
  if (settings && settings->workers.value_or(kAutotune) != kAutotune) return static_cast<int>(*settings->workers);
  return default_workers(read_machine().cores);
}

// Whether a thread sleeps now; nothing where the kernel does not say.
std::optional<bool> is_sleeping(int tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
  std::FILE* file = std::fopen(path, "re");
  if (!file) return std::nullopt;
  char text[128] = {};
  const size_t n = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  // The state stands behind the name, which ends with the last parenthesis.
  const char* name_end = nullptr;
  for (size_t i = 0; i < n; ++i)
    if (text[i] == ')') name_end = text + i;
  if (!name_end || name_end + 2 >= text + n) return std::nullopt;
  return name_end[2] == 'S' || name_end[2] == 'D';
}

// What sched_setattr takes, as of its first version: Linux's header for it cannot be had beside <sched.h>.
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

// Of the thread that the pool was first asked for: of the consumer, as far as can be said.
int consumer_nice() {
  static const int nice = getpriority(PRIO_PROCESS, 0);
  return nice;
}

// A worker stays below the consumer, does not take the processor from the one
// who wakes it, and works in long slices: kernels that know of them (6.12) let
// the consumer and those who read in at once, before a slice is used up.
void lower_priority() {
  const SchedulingRequest request{
      .policy = SCHED_BATCH, .nice = std::min(consumer_nice() + kBelowConsumer, 19), .runtime_ns = kWorkerSliceNs};
  syscall(SYS_sched_setattr, 0, &request, 0);
}

// Whether the thread was started; the system may have none left.
template <typename Body>
bool start_thread(Body body) {
  try {
    std::thread(std::move(body)).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

std::atomic<bool> has_threads{false}, lost_in_fork{false};

}  // namespace

bool Pool::is_lost_in_fork() { return lost_in_fork.load(std::memory_order_relaxed); }

Pool& Pool::process() {
  static auto* pool = new Pool;
  return *pool;
}

Pool::Pool() : target_(standard_workers()), engines_(std::make_shared<std::vector<std::shared_ptr<Engine>>>()) {
  wanted_ = target_;
  pthread_atfork(nullptr, nullptr, [] { lost_in_fork.store(has_threads.load()); });
  Budget::process().on_room([this] { wake_all(); });
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
  target_ = wanted_ = n;
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
  target_ = wanted_;  // where threads could not be had before, they may be now
  start_monitor();
  spawn_workers();
  generation_.fetch_add(1);
  work_.notify_all();
  look_now_ = true;
  added_ns_ = now_ns();
  monitor_.notify_all();
}

void Pool::remove(Engine* engine) {
  std::shared_ptr<Engine> last;  // both are released outside the lock
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> before;
  const MutexLock lock(mutex_);
  auto all = std::make_shared<std::vector<std::shared_ptr<Engine>>>(*engines_);
  std::erase_if(*all, [&](std::shared_ptr<Engine>& one) {
    if (one.get() != engine) return false;
    last = one;
    return true;
  });
  before = std::exchange(engines_, std::move(all));
}

// Who is woken takes the lock: it is free by then. But it was taken once since
// the generation changed, so that nobody falls asleep over the old one.
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

void Pool::want_waiters(int n) {
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
  has_threads = true;  // before there is one: a child forked in between knows
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

// The consumers' own threads do all work from now on, calls that wait included:
// with too few threads, one loader could wait for another indefinitely. The next
// iterator tries again.
void Pool::do_without_threads() {
  target_ = 0;
  more_waiters_ = 0;
  generation_.fetch_add(1);
  work_.notify_all();
  if (!std::exchange(warned_, true))
    post(
        "stoker: the system refused to create a thread; elements are produced on the thread that calls next(), which "
        "is slower. Raise the limit (ulimit -u, or the container's pids limit)");
}

bool Pool::work(ThreadKind kind) {
  std::shared_ptr<const std::vector<std::shared_ptr<Engine>>> all;
  size_t first = 0;
  {
    const MutexLock lock(mutex_);
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

// Small pieces come faster than a thread falls asleep and wakes.
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
      const MutexLock lock(mutex_);  // another took its place while it was stuck in a call
      slot->found_waiting = false;
      ++active_workers_;
      if (active_workers_ <= target_) continue;
    }
    if (more_came(seen)) continue;
    const MutexLock lock(mutex_);
    if (active_workers_ > target_) {
      --active_workers_;
      std::erase(slots_, slot);
      generation_.fetch_add(1);  // what its call made ready is for those who stay
      work_.notify_one();
      return;
    }
    ++idle_workers_;
    while (generation_.load() == seen && active_workers_ <= target_) work_.wait(mutex_);
    --idle_workers_;
  }
}

// At the consumer's priority: what a waiter brings is what the workers live on, and it sleeps most of the time.
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
    // A spare thread goes after a while; a running loader keeps its own.
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

// In this call, for kWaitingAfter: its CPU time has not grown, and the kernel
// says that it sleeps. One that was merely preempted does not; but it may come to
// its end while it is looked at, and sleep until that is over.
bool Pool::has_slept(ThreadSlot& slot, int64_t now) {
  const int64_t cpu = cpu_time(slot.cpu_clock);
  if (cpu != slot.cpu_seen || slot.call.since > slot.unchanged_since) {
    slot.cpu_seen = cpu;
    slot.unchanged_since = std::max(now, slot.call.since);  // it may have begun since `now` was read
    return false;
  }
  if (now - slot.unchanged_since < kWaitingAfter) return false;
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
  if (now - call.since > call.tell_after_ns && !std::exchange(call.told, true))
    messages.push_back("stoker: " + call.stage->path + " has been in one call for " +
                       std::to_string((now - call.since) / 1'000'000'000) + " s, at element " +
                       std::to_string(call.first + (call.row ? call.row->load() : 0)) + " of its stage (written at " +
                       call.stage->location + "); the loader goes on as far as it can without it");
  if (!slot.counts_as_worker.load()) return Seen::kNothing;
  return call.stage->runs.load() < kKnownAfter ? Seen::kUnknownCall : Seen::kCall;
}

// When the last loader has been gone for a while, so goes the memory it left.
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

// It also starts the waiting threads: one that a worker starts would inherit its low priority, and keep it.
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
      if (now - added_ns_ < kNewNs) next_look = kLookOften;
    }
    for (const std::string& message : messages) post(message);
    const int64_t now = now_ns();
    const bool tick = now - last_tick >= 10'000'000;
    for (const std::shared_ptr<Engine>& engine : engines()) {
      if (tick)
        if (const std::string message = engine->tick(now); !message.empty()) post(message);
      waiting += engine->waiter_work(kMostCalledFor);
    }
    if (tick) last_tick = now;
    if (waiting > 0) want_waiters(waiting);
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
