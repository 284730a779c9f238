#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

// Who pays for memory. The runtime has one account for each iterator; memory
// taken outside the runtime is nobody's.
class Account {
 public:
  virtual ~Account() = default;
  // False when there is no room and the taker can be put off; one that `must`
  // have the bytes is never refused.
  virtual bool take(int64_t bytes, bool must) = 0;
  virtual void give_back(int64_t bytes) = 0;

  // The account that this thread's allocations go to; null for none.
  static const std::shared_ptr<Account>& current();
};

// Sets the calling thread's account while it lives.
class AccountScope {
 public:
  explicit AccountScope(std::shared_ptr<Account> account);
  ~AccountScope();
  AccountScope(const AccountScope&) = delete;
  AccountScope& operator=(const AccountScope&) = delete;

 private:
  std::shared_ptr<Account> previous_;
};

// While it lives, the calling thread's allocations only ask for room and are
// refused quietly: for what is nice to have, as a cache.
class PoliteScope {
 public:
  PoliteScope();
  ~PoliteScope();
  PoliteScope(const PoliteScope&) = delete;
  PoliteScope& operator=(const PoliteScope&) = delete;
  static bool active();
};

// Shared memory of arrays: counted, aligned to 64 bytes (to a page from 64 KB
// on), recycled by size when the last reference goes.
class Buffer {
 public:
  // Where the bytes came from, for errors about what is made of them.
  struct Source {
    std::string path;
    int64_t offset = -1;
  };

  // Fails with ResourceExhausted when the account has no room.
  static Result<Buffer*> make(size_t bytes);
  // For what cannot fail for want of room: a number, a name, a message. Ends
  // the process when the system itself has no memory.
  static Buffer* make_small(size_t bytes);
  // Memory that another owner provides and `release` returns: a mapped file, the
  // caller's vector. Not charged to any account, and frozen.
  static Buffer* wrap(const void* data, size_t bytes, std::function<void()> release);
  // Small memory for a table of views of what `characters` keeps; takes over one
  // reference of that.
  static Buffer* make_table(size_t bytes, Buffer* characters);
  // A part of `whole` with a reference count of its own, so that shared() is
  // about this part alone. Takes over one reference of `whole`. Writing through
  // a borrowed part copies it first.
  enum class Access { kWrite, kBorrow };
  static Buffer* part_of(Buffer* whole, const void* data, size_t bytes, Access access);

  std::byte* data() { return data_; }
  size_t size() const { return size_; }
  // The buffer that a part belongs to; any other buffer itself.
  Buffer* root() { return whole_ ? whole_ : this; }
  const Buffer* root() const { return whole_ ? whole_ : this; }

  // Declares that these bytes are read again later: by a source, a cache, the
  // graph, or a handle that user code kept. A frozen buffer is copied before it
  // is delivered and before it is written to. There is no way back.
  void freeze() {
    if (!frozen()) root()->frozen_.store(true, std::memory_order_relaxed);
  }
  bool frozen() const { return root()->frozen_.load(std::memory_order_relaxed); }
  // Whether a write through the only handle known to the caller could be seen
  // through another one.
  bool copy_before_write() const { return shared() || borrowed_ || frozen(); }

  // Who keeps what the views of a table show; of any other memory, itself.
  Buffer* characters() { return characters_ ? characters_ : this; }

  // Takes the bytes out of the account: they are the user's now.
  void hand_over();
  // Stays in the account when handed over: a cache keeps it too.
  void keep_charged() { kept_.store(true, std::memory_order_relaxed); }

  const Source* source() const { return root()->source_.get(); }
  void set_source(Source source) { source_ = std::make_unique<Source>(std::move(source)); }

  void keep() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) free();
  }
  bool shared() const { return references_.load(std::memory_order_acquire) > 1; }

  // Bare memory of the same kind, in nobody's account; null where there is none.
  static std::byte* take_block(size_t bytes);
  static void give_block(std::byte* block, size_t bytes);

  // Gives the idle recycled memory of the process back to the system.
  static void free_idle();
  static void set_most_idle(int64_t bytes);

 private:
  Buffer() = default;
  ~Buffer() = default;
  static void* operator new(size_t bytes) { return take_recycled(bytes); }
  static void operator delete(void* memory, size_t bytes) { give_recycled(memory, bytes); }
  static Result<Buffer*> make(size_t bytes, bool must);
  void free();
  void uncharge();

  std::atomic<int32_t> references_{1};
  std::atomic<bool> kept_{false};
  std::atomic<bool> charged_{false};
  std::atomic<bool> frozen_{false};  // read from root() alone
  bool borrowed_ = false;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;  // 0: not ours to free
  std::shared_ptr<Account> account_;
  std::unique_ptr<Source> source_;
  std::function<void()> release_;
  Buffer* characters_ = nullptr;  // of a table whose views show another's bytes
  Buffer* whole_ = nullptr;       // of a part
};

// For vectors that grow large: malloc would learn from their size to keep more
// of what is freed to it.
template <typename T>
struct BlockAllocator {
  using value_type = T;
  T* allocate(size_t n) {
    std::byte* block = Buffer::take_block(n * sizeof(T));
    if (!block) throw std::bad_alloc();
    return reinterpret_cast<T*>(block);
  }
  void deallocate(T* items, size_t n) { Buffer::give_block(reinterpret_cast<std::byte*>(items), n * sizeof(T)); }
  bool operator==(const BlockAllocator&) const = default;
};

}  // namespace stoker
