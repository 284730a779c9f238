#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace stoker {

// Memory that is used again: a thread keeps some of what it gave back and takes
// it again, and what is small and too much for one lies ready for the others. So
// the same work done again asks the system for nothing, whichever threads do it.
void* take_recycled(size_t bytes);
void give_recycled(void* memory, size_t bytes) noexcept;

// Gives what lies ready for any thread back to the system.
void free_recycled() noexcept;

// The lock of small memory, unless somebody keeps it for more than a moment: he
// has lost his processor, and the system has memory sooner than he comes back.
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
  static constexpr size_t kEach = sizeof(T);  // NOLINT(bugprone-sizeof-expression): a deque's own pointers, too
};

template <typename T>
using RecycledVector = std::vector<T, RecycledAllocator<T>>;

}  // namespace stoker
