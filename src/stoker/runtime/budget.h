#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "stoker/core/buffer.h"

namespace stoker {

// The byte budget of the process: what all iterators hold together. What was
// handed over to the user and what lies in mapped files is not in it.
class Budget {
 public:
  // A quarter of the container's or machine's memory, or STOKER_MEMORY bytes.
  static Budget& process();

  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int64_t bytes);
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  // The most that was ever held, and a way to start anew.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_.store(used(), std::memory_order_relaxed); }

  // Work ahead asks; false when there is no room.
  bool ask(int64_t bytes);
  // Demand and what is held take; the caller has made room before, if it could.
  void take(int64_t bytes);
  void give_back(int64_t bytes);
  bool room_for(int64_t bytes) const { return used() + bytes <= limit(); }

  // What is held and cannot be dropped: shuffle buffers. A part of what is used.
  void hold(int64_t more) { held_.fetch_add(more, std::memory_order_relaxed); }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  // Room that work ahead leaves for what consumers wait for.
  void reserve(int64_t more) { reserved_.fetch_add(more, std::memory_order_relaxed); }

  // Called after bytes came back while somebody had been refused.
  void on_room(std::function<void()> call) { on_room_ = std::move(call); }
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
  std::function<void()> on_room_;  // set once, before any iterator is made
};

}  // namespace stoker
