#pragma once

#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "stoker/core/error.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/mutex.h"
#include "stoker/core/result.h"

namespace stoker::prepare {

// Passes results from the workers to the loop of a call, by a key of the element. The engine may compute an element
// twice; take() returns the first result. Thread-safe.
//
// The loop and the workers share the object: a worker may still run after the call was interrupted and has returned.
// For such a worker, is_interrupted() returns true.
template <typename Key, typename T>
class Outcomes {
 public:
  // Stores the result of `body`. Called on a worker, or on the thread of the loop if there are no workers.
  template <typename Body>
  void compute(const Key& key, const Body& body) {
    if (std::this_thread::get_id() == loop_) return put(key, body());
    const InterruptScope scope([this] { return stopped_.load(); });
    put(key, body());
  }
  T take(const Key& key) STOKER_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::move(found_.extract(key).mapped());
  }

  // Interrupts the workers when it is destroyed. Create it after the loader, so that the loader waits for nothing.
  class Stop {
   public:
    explicit Stop(Outcomes& outcomes) : outcomes_(outcomes) {}
    ~Stop() { outcomes_.stopped_ = true; }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

   private:
    Outcomes& outcomes_;
  };

 private:
  void put(const Key& key, T outcome) STOKER_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    found_.try_emplace(key, std::move(outcome));
  }

  const std::thread::id loop_ = std::this_thread::get_id();
  std::atomic<bool> stopped_{false};
  Mutex mutex_;
  std::map<Key, T> found_ STOKER_GUARDED_BY(mutex_);
};

// Returns the result of `body`, or the Error that it throws, such as Cancelled.
template <typename Body>
auto returned(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace stoker::prepare
