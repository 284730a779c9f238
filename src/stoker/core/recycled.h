#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace stoker {

// Allocates and frees memory that is reused. Each thread keeps some blocks of each size and
// exchanges surplus small blocks with other threads. Work that repeats therefore allocates nothing
// from the system, regardless of which threads run it. `bytes` must be the same in both calls.
void* take_recycled(size_t bytes);
void give_recycled(void* memory, size_t bytes) noexcept;

// Returns the blocks that no thread keeps to the system.
void free_recycled() noexcept;

// Tries a fixed number of times to lock, then returns without the lock: its holder was probably
// preempted, and allocating from the system takes less time than waiting for it.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex);

template <typename T>
struct RecycledAllocator {
  using value_type = T;
  RecycledAllocator() = default;
  template <typename U>
  RecycledAllocator(const RecycledAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(take_recycled(n * kEach)); }
  void deallocate(T* items, size_t n) noexcept { give_recycled(static_cast<void*>(items), n * kEach); }
  bool operator==(const RecycledAllocator&) const = default;

 private:
  static constexpr size_t kEach = sizeof(T);  // NOLINT(bugprone-sizeof-expression): a deque also allocates pointers
};

template <typename T>
using RecycledVector = std::vector<T, RecycledAllocator<T>>;

}  // namespace stoker
