#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace stoker {

// Lets the caller interrupt long loops, as with Ctrl-C. While a scope lives, loops
// on its thread that call stop_if_interrupted() ask `ask` about 20 times a second.
// Without a scope nothing interrupts them.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<bool()> ask);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend bool is_interrupted();
  friend void run_on_threads(size_t threads, const std::function<void()>& body);
  explicit InterruptScope(InterruptScope* owner);  // on a thread that works for the owner's
  bool poll();

  const std::function<bool()> ask_;
  InterruptScope* const owner_ = nullptr;
  InterruptScope* const outer_;
  int64_t next_ns_ = 0;
  std::atomic<bool> interrupted_{false};
};

bool is_interrupted();

// Throws Cancelled if the caller has interrupted this work.
void stop_if_interrupted();

// Runs `body` on this thread and up to `threads - 1` others at once; on fewer
// where threads cannot be created. An interrupt of this thread reaches all.
// Returns when all have returned, and throws the first exception of any.
void run_on_threads(size_t threads, const std::function<void()>& body);

}  // namespace stoker
