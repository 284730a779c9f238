#include "stoker/core/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "stoker/core/fork.h"

namespace stoker {
namespace {

thread_local std::shared_ptr<Account> current_account;

constexpr size_t kAlignment = 64, kPage = 4096;
// A new batch of 38 MB costs 13 ms of page faults, a recycled one none. Below this size, the caches
// of malloc are as fast.
constexpr size_t kRecycledFrom = size_t{64} << 10;
// Enough for a few batches of images. Idle memory beyond this limit is returned to the system.
std::atomic<int64_t> most_idle{int64_t{256} << 20};

// Sizes are rounded up to a quarter of their power of two, so that batches of
// nearly the same size share blocks and at most a quarter is wasted.
size_t rounded(size_t bytes) {
  if (bytes < kRecycledFrom) return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t step = std::max<size_t>(std::bit_floor(bytes) / 4, 1);
  return (bytes + step - 1) / step * step;
}

// Large blocks are mapped, so that freed memory returns to the system immediately and leaves no
// holes in an arena of malloc. AddressSanitizer only checks memory from malloc.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMappedFrom = SIZE_MAX;
#elif defined(__has_feature)
constexpr size_t kMappedFrom = __has_feature(address_sanitizer) ? SIZE_MAX : kRecycledFrom;
#else
constexpr size_t kMappedFrom = kRecycledFrom;
#endif

// Batches are written from start to end. With 4 KB pages, page faults and TLB misses took 1 to 2 %
// of the time of the image path on systems that provide huge pages.
constexpr size_t kHugePage = size_t{2} << 20, kHugeFrom = 2 * kHugePage;

std::byte* map_pages(size_t size) {
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

// Aligns the block to a huge page and unmaps the rest.
std::byte* map_huge_pages(size_t size) {
  std::byte* whole = map_pages(size + kHugePage);
  if (!whole) return nullptr;
  const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(whole) % kHugePage) % kHugePage;
  if (before > 0) munmap(whole, before);
  if (before < kHugePage) munmap(whole + before + size, kHugePage - before);
  madvise(whole + before, size, MADV_HUGEPAGE);
  return whole + before;
}

// Tables, names and the like are allocated and freed with every element.
constexpr size_t kSmallBelow = 4096 - kAlignment;

// Aligns smaller blocks itself: before version 2.38, aligned allocations of the C library left
// holes that it did not reuse.
std::byte* from_system(size_t size) {
  if (size < kMappedFrom) {
    const size_t alignment = size >= kRecycledFrom ? kPage : kAlignment;
    auto* whole =
        static_cast<std::byte*>(size < kSmallBelow ? take_recycled(size + alignment) : std::malloc(size + alignment));
    if (!whole) return nullptr;
    std::byte* block = whole + alignment - reinterpret_cast<uintptr_t>(whole) % alignment;
    const auto before = static_cast<size_t>(block - whole);
    std::memcpy(block - sizeof(before), &before, sizeof(before));
    return block;
  }
  return size < kHugeFrom ? map_pages(size) : map_huge_pages(size);
}

void to_system(std::byte* block, size_t size) {
  if (size < kMappedFrom) {
    size_t before = 0;
    std::memcpy(&before, block - sizeof(before), sizeof(before));
    if (size < kSmallBelow)
      give_recycled(block - before, size + kAlignment);
    else
      std::free(block - before);
  } else {
    munmap(block, size);
  }
}

class IdleBlocks {
 public:
  IdleBlocks() { hold_across_fork(mutex_); }

  std::byte* take(size_t size) {
    std::lock_guard lock(mutex_);
    auto found = blocks_.find(size);
    if (found == blocks_.end() || found->second.empty()) return nullptr;
    std::byte* block = found->second.back();
    found->second.pop_back();
    bytes_ -= static_cast<int64_t>(size);
    return block;
  }

  bool put(std::byte* block, size_t size) {
    std::lock_guard lock(mutex_);
    if (bytes_ + static_cast<int64_t>(size) > most_idle.load(std::memory_order_relaxed)) return false;
    blocks_[size].push_back(block);
    bytes_ += static_cast<int64_t>(size);
    return true;
  }

  void free_all() {
    std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : blocks_)
      for (std::byte* block : blocks) to_system(block, size);
    blocks_.clear();
    bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::map<size_t, std::vector<std::byte*>> blocks_;
  int64_t bytes_ = 0;
};

// Never destroyed: buffers may outlive every static object.
IdleBlocks& idle_blocks() {
  static auto* blocks = new IdleBlocks;
  return *blocks;
}

std::byte* allocate(size_t size) {
  if (size >= kRecycledFrom)
    if (std::byte* block = idle_blocks().take(size)) return block;
  return from_system(size);
}

void release_block(std::byte* block, size_t size) {
  if (size < kRecycledFrom || !idle_blocks().put(block, size)) to_system(block, size);
}

}  // namespace

const std::shared_ptr<Account>& Account::current() { return current_account; }

AccountScope::AccountScope(std::shared_ptr<Account> account)
    : previous_(std::exchange(current_account, std::move(account))) {}
AccountScope::~AccountScope() { current_account = std::move(previous_); }

Result<Buffer*> Buffer::make(size_t bytes) { return make(bytes, false); }
Buffer* Buffer::make_small(size_t bytes) {
  Result<Buffer*> made = make(bytes, true);
  STOKER_CHECK(made.ok());
  return *made;
}

Result<Buffer*> Buffer::make(size_t bytes, bool must) {
  if (bytes > (size_t{1} << 46))
    return Error::exhausted("an array of ", bytes, " bytes exceeds the limit of 2^46 bytes");
  if (current_account && !current_account->take(static_cast<int64_t>(bytes), must))
    return Error::exhausted("the memory budget has no space for ", bytes, " bytes now");
  const size_t capacity = rounded(std::max<size_t>(bytes, 1));
  std::byte* data = allocate(capacity);
  if (!data) {
    if (current_account) current_account->give_back(static_cast<int64_t>(bytes));
    return Error::exhausted("the system has no memory for an array of ", bytes, " bytes");
  }
  auto* buffer = new Buffer;
  buffer->data_ = data;
  buffer->size_ = bytes;
  buffer->capacity_ = capacity;
  buffer->account_ = current_account;
  buffer->charged_ = buffer->account_ != nullptr;
  return buffer;
}

Error truncated_error(const std::string& path, int64_t offset) {
  Error error = Error::corrupt(
      "the file was truncated while it was read; expected it to keep its size (to replace a file that is in use, "
      "rename a complete one over it)");
  return path.empty() ? error : error.set_path(path, offset);
}

Buffer* Buffer::wrap(const void* data, size_t bytes, std::function<void()> release, const Backing* backing) {
  auto* buffer = new Buffer;
  buffer->data_ = static_cast<std::byte*>(const_cast<void*>(data));
  buffer->size_ = bytes;
  buffer->release_ = std::move(release);
  buffer->frozen_ = true;
  buffer->backing_ = backing;
  if (backing) backed_buffers_.fetch_add(1, std::memory_order_relaxed);
  return buffer;
}

Buffer* Buffer::part_of(Buffer* whole, const void* data, size_t bytes, Access access) {
  auto* part = new Buffer;
  part->data_ = static_cast<std::byte*>(const_cast<void*>(data));
  part->size_ = bytes;
  part->borrowed_ = access == Access::kBorrow || whole->borrowed_;
  part->whole_ = whole->root();
  if (part->whole_ != whole) {
    part->whole_->keep();
    whole->drop();
  }
  return part;
}

Buffer* Buffer::make_table(size_t bytes, Buffer* characters) {
  Buffer* table = make_small(bytes);
  table->characters_ = characters;
  return table;
}

void Buffer::hand_over() {
  if (whole_) return whole_->hand_over();
  if (characters_) characters_->hand_over();
  if (!kept_.load(std::memory_order_relaxed)) uncharge();
}

void Buffer::charge_again() {
  if (account_ && !charged_.exchange(true)) account_->take(static_cast<int64_t>(size_), true);
}

void Buffer::uncharge() {
  if (charged_.exchange(false)) account_->give_back(static_cast<int64_t>(size_));
}

void Buffer::free() {
  uncharge();
  if (capacity_ > 0) release_block(data_, capacity_);
  if (backing_) backed_buffers_.fetch_sub(1, std::memory_order_relaxed);
  if (release_) release_();
  if (characters_) characters_->drop();
  if (whole_) whole_->drop();
  delete this;
}

std::byte* Buffer::take_block(size_t bytes) { return allocate(rounded(bytes)); }
void Buffer::give_block(std::byte* block, size_t bytes) { release_block(block, rounded(bytes)); }

void Buffer::free_idle() {
  idle_blocks().free_all();
  free_recycled();
}
void Buffer::set_most_idle(int64_t bytes) { most_idle.store(bytes, std::memory_order_relaxed); }

}  // namespace stoker
