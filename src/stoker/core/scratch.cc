#include "stoker/core/scratch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

namespace stoker {
namespace {

// Sizes are powers of two, from a cache line to this; what is larger is not kept.
constexpr size_t kLeast = 64, kMost = size_t{1} << 20;
constexpr size_t kSizes = std::bit_width(kMost / kLeast);
constexpr size_t kKept = 8;  // of each size

size_t rounded(size_t bytes) { return std::bit_ceil(std::max(bytes, kLeast)); }

class Kept {
 public:
  ~Kept() {
    for (Blocks& blocks : all_)
      while (blocks.count > 0) ::operator delete(blocks.of[--blocks.count]);
    gone = true;
  }

  void* take(size_t bytes) {
    Blocks& blocks = of(bytes);
    return blocks.count > 0 ? blocks.of[--blocks.count] : nullptr;
  }
  bool put(void* memory, size_t bytes) {
    Blocks& blocks = of(bytes);
    if (blocks.count == kKept) return false;
    blocks.of[blocks.count++] = memory;
    return true;
  }

  // Objects of the thread may outlive what is kept for it.
  static inline thread_local bool gone = false;

 private:
  struct Blocks {
    std::array<void*, kKept> of;
    size_t count = 0;
  };
  Blocks& of(size_t bytes) { return all_[static_cast<size_t>(std::bit_width(bytes / kLeast)) - 1]; }

  std::array<Blocks, kSizes> all_{};
};

thread_local Kept kept;

}  // namespace

void* take_scratch(size_t bytes) {
  if (bytes > kMost || Kept::gone) return ::operator new(bytes);
  void* memory = kept.take(rounded(bytes));
  return memory ? memory : ::operator new(rounded(bytes));
}

void give_scratch(void* memory, size_t bytes) noexcept {
  if (bytes > kMost || Kept::gone || !kept.put(memory, rounded(bytes))) ::operator delete(memory);
}

}  // namespace stoker
