#include "support/allocations.h"

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

}  // namespace

int64_t allocations_so_far() { return calls; }
bool allocations_are_counted() { return STOKER_COUNTS_ALLOCATIONS; }

}  // namespace stoker

#if STOKER_COUNTS_ALLOCATIONS

// Not inlined, because the compiler would warn about the pair of malloc and delete.
__attribute__((noinline)) void* operator new(std::size_t bytes) {
  ++stoker::calls;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void* memory) noexcept { std::free(memory); }
__attribute__((noinline)) void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#endif
