#include "stoker/core/interrupt.h"

#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/core/mutex.h"

namespace stoker {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

thread_local InterruptScope* current = nullptr;

int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

std::atomic<ThreadStarter> thread_starter{nullptr};

// The calls of one body on several threads. The threads share it, because the last one still uses
// the mutex when run_on_threads() returns.
class Running {
 public:
  void one_starts() {
    const MutexLock lock(mutex_);
    ++others_;
  }
  void one_returned() {
    const MutexLock lock(mutex_);
    --others_;
    returned_.notify_all();
  }
  // Calls the body and keeps the first exception.
  void run(const std::function<void()>& body) {
    try {
      body();
    } catch (...) {
      const MutexLock lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
  // Waits until the other threads have returned, or until the time is over. Returns whether they have.
  bool wait_for_all(std::chrono::milliseconds most) {
    const MutexLock lock(mutex_);
    if (others_ > 0) returned_.wait_for(mutex_, most);
    return others_ == 0;
  }
  void rethrow() {
    const MutexLock lock(mutex_);
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  Mutex mutex_;
  Condition returned_;
  size_t others_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that have not returned
  std::exception_ptr thrown_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace

InterruptScope::InterruptScope(std::function<bool()> ask)
    : ask_(std::move(ask)), outer_(std::exchange(current, this)) {}

InterruptScope::InterruptScope(InterruptScope* owner) : owner_(owner), outer_(std::exchange(current, this)) {}

InterruptScope::~InterruptScope() { current = outer_; }

bool InterruptScope::poll() {
  if (owner_) return owner_->interrupted_;
  if (interrupted_ || !ask_) return interrupted_;
  const int64_t now = steady_ns();
  if (now < next_ns_) return false;
  next_ns_ = now + std::chrono::nanoseconds(kInterval).count();
  // `ask_` may be is_interrupted(), which then polls the scope around this one.
  struct Restore {
    InterruptScope* const inner;
    ~Restore() { current = inner; }
  };
  const Restore restore{std::exchange(current, outer_)};
  return interrupted_ = ask_();
}

bool is_interrupted() { return current && current->poll(); }

void stop_if_interrupted() {
  if (is_interrupted()) throw Error::cancelled();
}

void set_thread_starter(ThreadStarter starter) { thread_starter.store(starter); }

void run_on_threads(size_t threads, const std::function<void()>& body) {
  const auto all = std::make_shared<Running>();
  InterruptScope* const owner = current;
  const auto work = [all, owner, &body] {
    {
      const InterruptScope here(owner);
      all->run(body);
    }
    all->one_returned();
  };
  const ThreadStarter start = thread_starter.load();
  for (size_t i = 1; start && i < threads; ++i) {
    all->one_starts();
    if (start(work)) continue;
    all->one_returned();
    break;
  }
  all->run(body);
  while (!all->wait_for_all(kInterval)) (void)is_interrupted();  // records an interrupt for the other threads
  all->rethrow();
}

}  // namespace stoker
