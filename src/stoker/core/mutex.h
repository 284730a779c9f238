#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Locks that clang's thread-safety analysis checks (-Wthread-safety, an error in
// CI): a member marked STOKER_GUARDED_BY(mutex_) is read and written only while
// mutex_ is held, and a function marked STOKER_REQUIRES(mutex_) is called only then.
#if defined(__clang__)
#define STOKER_ANNOTATION(x) __attribute__((x))
#else
#define STOKER_ANNOTATION(x)
#endif
#define STOKER_GUARDED_BY(mutex) STOKER_ANNOTATION(guarded_by(mutex))
#define STOKER_REQUIRES(...) STOKER_ANNOTATION(requires_capability(__VA_ARGS__))
#define STOKER_EXCLUDES(...) STOKER_ANNOTATION(locks_excluded(__VA_ARGS__))
#define STOKER_ACQUIRE(...) STOKER_ANNOTATION(acquire_capability(__VA_ARGS__))
#define STOKER_RELEASE(...) STOKER_ANNOTATION(release_capability(__VA_ARGS__))
#define STOKER_TRY_ACQUIRE(...) STOKER_ANNOTATION(try_acquire_capability(__VA_ARGS__))

namespace stoker {

class STOKER_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() STOKER_ACQUIRE() { mutex_.lock(); }
  void unlock() STOKER_RELEASE() { mutex_.unlock(); }
  bool try_lock() STOKER_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

  // For code that the analysis does not cover: fork handlers.
  std::mutex& native() { return mutex_; }

 private:
  std::mutex mutex_;
};

class STOKER_ANNOTATION(capability("mutex")) TimedMutex {
 public:
  void lock() STOKER_ACQUIRE() { mutex_.lock(); }
  void unlock() STOKER_RELEASE() { mutex_.unlock(); }
  bool try_lock() STOKER_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  template <typename Duration>
  bool try_lock_for(const Duration& duration) STOKER_TRY_ACQUIRE(true) {
    return mutex_.try_lock_for(duration);
  }

 private:
  std::timed_mutex mutex_;
};

// Holds a mutex for its own lifetime.
class STOKER_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STOKER_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() STOKER_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// wait() has no predicate, because the analysis does not look into lambdas:
//   while (!ready_) changed_.wait(mutex_);
class Condition {
 public:
  void wait(Mutex& mutex) STOKER_REQUIRES(mutex) {
    std::unique_lock lock(mutex.native(), std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  template <typename Deadline>
  std::cv_status wait_until(Mutex& mutex, const Deadline& deadline) STOKER_REQUIRES(mutex) {
    std::unique_lock lock(mutex.native(), std::adopt_lock);
    const std::cv_status status = condition_.wait_until(lock, deadline);
    lock.release();
    return status;
  }
  template <typename Duration>
  std::cv_status wait_for(Mutex& mutex, const Duration& duration) STOKER_REQUIRES(mutex) {
    return wait_until(mutex, std::chrono::steady_clock::now() + duration);
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace stoker
