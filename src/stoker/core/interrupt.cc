#include "stoker/core/interrupt.h"

#include <chrono>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/core/mutex.h"

namespace stoker {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

thread_local InterruptScope* current = nullptr;

int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

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
  return interrupted_ = ask_();
}

bool is_interrupted() { return current && current->poll(); }

void stop_if_interrupted() {
  if (is_interrupted()) throw Error::cancelled();
}

void run_on_threads(size_t threads, const std::function<void()>& body) {
  Mutex mutex;
  Condition returned;
  size_t running = 0;
  std::exception_ptr thrown;
  const auto guarded = [&] {
    try {
      body();
    } catch (...) {
      const MutexLock lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  InterruptScope* const owner = current;
  const auto work = [&] {
    const InterruptScope here(owner);
    guarded();
    const MutexLock lock(mutex);
    --running;
    returned.notify_all();
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) {
    {
      const MutexLock lock(mutex);
      ++running;
    }
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      const MutexLock lock(mutex);
      --running;
      break;
    }
  }
  guarded();
  {
    const MutexLock lock(mutex);
    while (running > 0) {
      returned.wait_for(mutex, kInterval);
      mutex.unlock();
      (void)is_interrupted();  // notes it for the others
      mutex.lock();
    }
  }
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace stoker
