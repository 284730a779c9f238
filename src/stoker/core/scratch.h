#pragma once

#include <cstddef>
#include <vector>

namespace stoker {

// Memory for what lives inside one call: a thread keeps what it gave back and
// takes it again, so that the same work done again asks the system for nothing.
void* take_scratch(size_t bytes);
void give_scratch(void* memory, size_t bytes) noexcept;

template <typename T>
struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <typename U>
  ScratchAllocator(const ScratchAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(take_scratch(n * sizeof(T))); }
  void deallocate(T* items, size_t n) noexcept { give_scratch(static_cast<void*>(items), n * sizeof(T)); }
  bool operator==(const ScratchAllocator&) const = default;
};

template <typename T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

}  // namespace stoker
