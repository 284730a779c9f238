#include "support/allocations.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STOKER_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STOKER_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef STOKER_COUNTS_ALLOCATIONS
#define STOKER_COUNTS_ALLOCATIONS 1
#endif

namespace stoker {
namespace {

thread_local int64_t calls = 0;
thread_local int64_t bytes_now = 0, bytes_most = 0;

}  // namespace

int64_t allocations_so_far() { return calls; }
bool allocations_are_counted() { return STOKER_COUNTS_ALLOCATIONS; }

std::optional<int64_t> bytes_in_use() {
#if STOKER_COUNTS_ALLOCATIONS && defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
#else
  return std::nullopt;
#endif
}

void reset_most_bytes() { bytes_now = bytes_most = 0; }
int64_t most_bytes() { return bytes_most; }

}  // namespace stoker

#if STOKER_COUNTS_ALLOCATIONS

// Not inlined, because the compiler would warn about the pair of malloc and delete.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  ++stoker::calls;
  void* memory = std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  stoker::bytes_now += static_cast<int64_t>(malloc_usable_size(memory));
  stoker::bytes_most = std::max(stoker::bytes_most, stoker::bytes_now);
  return memory;
}
__attribute__((noinline)) void operator delete(void* memory) noexcept {
  stoker::bytes_now -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

#endif
