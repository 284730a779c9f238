#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "stoker/core/buffer.h"

namespace stoker {

// The memory budget of the process, in bytes, for all iterators together. Memory that was delivered to the user and
// mapped files are not counted.
class Budget {
 public:
  // A quarter of the container's or machine's memory, or STOKER_MEMORY bytes.
  static Budget& process();

  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int64_t bytes);
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  // The largest number of bytes in use so far, and a function to reset it.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(used(), std::memory_order_relaxed); }

  // Requests bytes for prefetch work. Returns false if they are not available.
  bool try_take(int64_t bytes);
  // Takes bytes for work on a consumer's path and for held elements. Never fails: the caller frees memory first if it
  // can.
  void take(int64_t bytes);
  void give_back(int64_t bytes);
  bool has_space_for(int64_t bytes) const { return used() + bytes <= limit(); }

  // Bytes that are held and cannot be dropped (shuffle buffers). They are part of the bytes in use.
  void hold(int64_t more) { held_.fetch_add(more, std::memory_order_relaxed); }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  // Bytes that prefetch work leaves for elements that consumers wait for.
  void reserve(int64_t more) { reserved_.fetch_add(more, std::memory_order_relaxed); }

  // `call` is called when bytes are released after a request was refused.
  void on_space_freed(std::function<void()> call) { on_room_ = std::move(call); }
  void note_refusal() { refused_.store(true, std::memory_order_relaxed); }

 private:
  explicit Budget(int64_t limit) { set_limit(limit); }
  void note_peak(int64_t used);

  std::atomic<int64_t> limit_{0};
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> reserved_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<bool> refused_{false};
  std::function<void()> on_room_;  // set once, before the first iterator is created
};

}  // namespace stoker
