#pragma once

#include "stoker/core/mutex.h"

namespace stoker {

// The lock of an engine, for clang's analysis. The analysis cannot determine that the mutex of `segment.engine` is the
// mutex that a function holds. To the analysis, the mutexes of all engines are therefore one capability.
class STOKER_ANNOTATION(capability("role")) EngineRole {};
inline EngineRole engine_lock;

// The mutex of an engine. What it guards is marked STOKER_GUARDED_BY(engine_lock).
class EngineMutex {
 public:
  void lock() STOKER_ACQUIRE(engine_lock) STOKER_ANNOTATION(no_thread_safety_analysis) { mutex_.lock(); }
  void unlock() STOKER_RELEASE(engine_lock) STOKER_ANNOTATION(no_thread_safety_analysis) { mutex_.unlock(); }
  bool try_lock() STOKER_TRY_ACQUIRE(true, engine_lock) STOKER_ANNOTATION(no_thread_safety_analysis) {
    return mutex_.try_lock();
  }
  // Releases the mutex while it waits.
  template <typename Deadline>
  std::cv_status wait_until(Condition& condition, const Deadline& deadline) STOKER_REQUIRES(engine_lock)
  STOKER_ANNOTATION(no_thread_safety_analysis) {
    return condition.wait_until(mutex_, deadline);
  }
  template <typename Duration>
  std::cv_status wait_for(Condition& condition, const Duration& duration) STOKER_REQUIRES(engine_lock)
  STOKER_ANNOTATION(no_thread_safety_analysis) {
    return condition.wait_for(mutex_, duration);
  }

 private:
  Mutex mutex_;
};

// Holds the mutex of an engine for its own lifetime.
class STOKER_ANNOTATION(scoped_lockable) EngineLock {
 public:
  explicit EngineLock(EngineMutex& mutex) STOKER_ACQUIRE(engine_lock) : mutex_(mutex) { mutex_.lock(); }
  ~EngineLock() STOKER_RELEASE() { mutex_.unlock(); }
  EngineLock(const EngineLock&) = delete;
  EngineLock& operator=(const EngineLock&) = delete;

 private:
  EngineMutex& mutex_;
};

// Releases the mutex of an engine for its own lifetime.
class STOKER_ANNOTATION(scoped_lockable) EngineUnlock {
 public:
  explicit EngineUnlock(EngineMutex& mutex) STOKER_RELEASE(engine_lock) : mutex_(mutex) { mutex_.unlock(); }
  ~EngineUnlock() STOKER_RELEASE() { mutex_.lock(); }  // to the analysis, this ends the release
  EngineUnlock(const EngineUnlock&) = delete;
  EngineUnlock& operator=(const EngineUnlock&) = delete;

 private:
  EngineMutex& mutex_;
};

}  // namespace stoker
