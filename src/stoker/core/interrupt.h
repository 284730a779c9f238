#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace stoker {

// Allows the caller to interrupt long loops, for example by Ctrl-C. During the lifetime of a scope,
// loops on its thread that call stop_if_interrupted() call `ask` about 20 times per second. Without
// a scope, loops are not interrupted.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<bool()> ask);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend bool is_interrupted();
  friend void run_on_threads(size_t threads, const std::function<void()>& body);
  explicit InterruptScope(InterruptScope* owner);  // on a thread that works for the owner's thread
  bool poll();

  const std::function<bool()> ask_;
  InterruptScope* const owner_ = nullptr;
  InterruptScope* const outer_;
  int64_t next_ns_ = 0;
  std::atomic<bool> interrupted_{false};
};

// Whether the caller has interrupted this work.
bool is_interrupted();

// Throws Cancelled if the caller has interrupted this work.
void stop_if_interrupted();

// Starts a thread that runs `body`, or returns false if the system refuses to create a thread.
using ThreadStarter = bool (*)(std::function<void()> body);

// Sets the function with which run_on_threads() starts threads. Only the runtime creates threads;
// it calls this once, before main(). A program without the runtime has no other threads.
void set_thread_starter(ThreadStarter starter);

// Runs `body` on this thread and on up to `threads - 1` others at the same time, or on fewer if no
// more threads can be started. An interrupt of this thread interrupts all of them. Returns when all
// have returned, and rethrows the first exception.
void run_on_threads(size_t threads, const std::function<void()>& body);

}  // namespace stoker
