#include "stoker/core/recycled.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <span>

#include "stoker/core/fork.h"

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

namespace stoker {
namespace {

// Sizes are powers of two, from a cache line to kMost. Larger blocks are not kept.
constexpr size_t kLeast = 64, kMost = size_t{1} << 20;
constexpr size_t kSizes = std::bit_width(kMost / kLeast);
// Threads exchange blocks of at most this size, several at a time.
constexpr size_t kSmall = 4096, kSmallSizes = std::bit_width(kSmall / kLeast);
constexpr size_t kKeptSmall = 32, kExchanged = kKeptSmall / 2, kKeptLarge = 8;
constexpr size_t kShelfBytes = size_t{1} << 20;  // for each size

size_t rounded(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeast)); }
size_t number_of(size_t rounded_bytes) { return static_cast<size_t>(std::bit_width(rounded_bytes / kLeast)) - 1; }
size_t bytes_of(size_t number) { return kLeast << number; }

void to_system(std::span<void* const> blocks, size_t bytes) {
  for (void* block : blocks) {
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    ::operator delete(block);
  }
}

// Holds the surplus blocks of all threads.
class Shelf {
 public:
  Shelf() { hold_across_fork(mutex_); }

  size_t take(std::span<void*> to) {
    const std::unique_lock lock = lock_soon(mutex_);
    if (!lock) return 0;
    const size_t n = std::min(to.size(), blocks_.size());
    std::copy(blocks_.end() - static_cast<ptrdiff_t>(n), blocks_.end(), to.begin());
    blocks_.resize(blocks_.size() - n);
    return n;
  }
  void put(std::span<void* const> blocks, size_t bytes) {
    {
      const std::unique_lock lock = lock_soon(mutex_);
      if (lock && blocks_.size() * bytes < kShelfBytes) {
        blocks_.insert(blocks_.end(), blocks.begin(), blocks.end());
        return;
      }
    }
    to_system(blocks, bytes);
  }
  void clear(size_t bytes) {
    std::lock_guard lock(mutex_);
    to_system(blocks_, bytes);
    blocks_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<void*> blocks_;
};

// Never destroyed: memory may be freed after every static object was destroyed.
std::array<Shelf, kSmallSizes>& shelves() {
  static auto* all = new std::array<Shelf, kSmallSizes>;
  return *all;
}

class Kept {
 public:
  ~Kept() {
    for (size_t number = 0; number < kSizes; ++number)
      to_system(std::span(all_[number].of).first(all_[number].count), bytes_of(number));
    gone = true;
  }

  void* take(size_t number) {
    Blocks& blocks = all_[number];
    if (blocks.count == 0 && number < kSmallSizes)
      blocks.count = shelves()[number].take(std::span(blocks.of).first(kExchanged));
    if (blocks.count == 0) return nullptr;
    void* memory = blocks.of[--blocks.count];
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes_of(number));
    return memory;
  }
  bool put(void* memory, size_t number) {
    Blocks& blocks = all_[number];
    if (number < kSmallSizes && blocks.count == kKeptSmall) {
      blocks.count -= kExchanged;
      shelves()[number].put(std::span(blocks.of).subspan(blocks.count, kExchanged), bytes_of(number));
    }
    if (number >= kSmallSizes && blocks.count == kKeptLarge) return false;
    ASAN_POISON_MEMORY_REGION(memory, bytes_of(number));
    blocks.of[blocks.count++] = memory;
    return true;
  }

  // Whether the blocks of this thread were freed. Other objects of the thread may be destroyed
  // later.
  static inline thread_local bool gone = false;

 private:
  struct Blocks {
    std::array<void*, kKeptSmall> of;
    size_t count = 0;
  };
  std::array<Blocks, kSizes> all_{};
};

thread_local Kept kept;

}  // namespace

std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  constexpr int kTries = 100;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int i = 1; i < kTries && !lock; ++i) (void)lock.try_lock();
  return lock;
}

void* take_recycled(size_t bytes) {
  if (bytes > kMost || Kept::gone) return ::operator new(bytes);
  const size_t whole = rounded(bytes);
  void* memory = kept.take(number_of(whole));
  return memory ? memory : ::operator new(whole);
}

void give_recycled(void* memory, size_t bytes) noexcept {
  if (bytes > kMost || Kept::gone || !kept.put(memory, number_of(rounded(bytes)))) ::operator delete(memory);
}

void free_recycled() noexcept {
  for (size_t number = 0; number < kSmallSizes; ++number) shelves()[number].clear(bytes_of(number));
}

}  // namespace stoker
