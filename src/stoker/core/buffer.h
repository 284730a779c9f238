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

// Counts the memory of one owner against a budget. The runtime has one account for each iterator;
// memory allocated outside the runtime belongs to no account.
class Account {
 public:
  virtual ~Account() = default;
  // Returns false if the budget has no space for the bytes and `must` is false. With `must`, it
  // always counts the bytes and returns true.
  virtual bool take(int64_t bytes, bool must) = 0;
  virtual void give_back(int64_t bytes) = 0;

  // The account of the allocations of this thread; null if there is none.
  static const std::shared_ptr<Account>& current();
};

// Sets the account of the calling thread for the lifetime of the scope.
class AccountScope {
 public:
  explicit AccountScope(std::shared_ptr<Account> account);
  ~AccountScope();
  AccountScope(const AccountScope&) = delete;
  AccountScope& operator=(const AccountScope&) = delete;

 private:
  std::shared_ptr<Account> previous_;
};

// Where memory that another owner provides gets its bytes from, if that may take
// them away: a mapped file, which can be truncated at any time.
class Backing {
 public:
  virtual ~Backing() = default;
  // Whether the bytes are still those that were there at first. Code that has read
  // some of them may use what it read only if this is true afterwards. Costs a few
  // loads from memory.
  virtual bool intact() const = 0;
  // Called before bytes are read that have been waiting. May cost a system call.
  virtual void prepare_to_read() const {}
};

// DataLoss: the file was truncated while it was read. An empty path is not known,
// an offset of -1 is none.
Error truncated_error(const std::string& path, int64_t offset);

// Reference-counted memory of arrays. Blocks are aligned to 64 bytes, or to a page from 64 KB on,
// and are recycled by size when the last reference is dropped. keep(), drop() and freeze() may be
// called from any thread.
class Buffer {
 public:
  // The file and offset that the bytes were read from, for error messages.
  struct Source {
    std::string path;
    int64_t offset = -1;
  };

  // Fails with ResourceExhausted if the account or the system has no memory.
  static Result<Buffer*> make(size_t bytes);
  // For small memory that the budget must not refuse: a number, a name, a message. Ends the process
  // if the system has no memory.
  static Buffer* make_small(size_t bytes);
  // Wraps memory of another owner, such as a mapped file or the caller's vector. `release` is
  // called when the last reference is dropped. The memory is not counted in any account, and it is
  // frozen. `backing` lives until `release` has been called.
  static Buffer* wrap(const void* data, size_t bytes, std::function<void()> release, const Backing* backing = nullptr);
  // Allocates a table of views of the memory that `characters` keeps alive. Takes over one
  // reference to `characters`.
  static Buffer* make_table(size_t bytes, Buffer* characters);
  // Returns a part of `whole` with a reference count of its own, so that shared() refers to this
  // part alone. Takes over one reference to `whole`. A write to a borrowed part copies it first.
  enum class Access { kWrite, kBorrow };
  static Buffer* part_of(Buffer* whole, const void* data, size_t bytes, Access access);

  std::byte* data() { return data_; }
  size_t size() const { return size_; }
  // The buffer that a part belongs to; otherwise the buffer itself.
  Buffer* root() { return whole_ ? whole_ : this; }
  const Buffer* root() const { return whole_ ? whole_ : this; }

  // Declares that these bytes will be read again: by a source, a cache, the graph, or a handle that
  // user code kept. A frozen buffer is copied before it is delivered and before it is written to. A
  // buffer stays frozen until it is freed.
  void freeze() {
    if (!frozen()) root()->frozen_.store(true, std::memory_order_relaxed);
  }
  bool frozen() const { return root()->frozen_.load(std::memory_order_relaxed); }
  bool borrowed() const { return borrowed_; }
  // Whether a write through the caller's handle could be visible through another handle.
  bool copy_before_write() const { return shared() || borrowed_ || frozen(); }

  // The buffer that keeps the characters of a table of views alive; otherwise the buffer itself.
  Buffer* characters() { return characters_ ? characters_ : this; }

  // Of the bytes, and of a table those that its views show; null for memory that
  // nothing can take away.
  const Backing* backing() const { return (characters_ ? characters_ : this)->root()->backing_; }
  // Whether any buffer in the process has a backing.
  static bool any_backed() { return backed_buffers_.load(std::memory_order_relaxed) > 0; }

  // Removes the bytes from the account, because they now belong to the user.
  void hand_over();
  // Counts the bytes in the account again, because the memory is used for other values after hand_over(). No other
  // thread may refer to the buffer.
  void charge_again();
  // Keeps the bytes in the account even after hand_over(), because a cache also keeps them.
  void keep_charged() { kept_.store(true, std::memory_order_relaxed); }

  const Source* source() const { return root()->source_.get(); }
  void set_source(Source source) { source_ = std::make_unique<Source>(std::move(source)); }

  void keep() { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) free();
  }
  bool shared() const { return references_.load(std::memory_order_acquire) > 1; }

  // Allocates a block of the same kind outside any account; returns null if the system has no
  // memory. `bytes` must be the same in both calls.
  static std::byte* take_block(size_t bytes);
  static void give_block(std::byte* block, size_t bytes);

  // Returns the idle recycled memory of the process to the system.
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

  static inline std::atomic<int64_t> backed_buffers_{0};

  std::atomic<int32_t> references_{1};
  std::atomic<bool> kept_{false};
  std::atomic<bool> charged_{false};
  std::atomic<bool> frozen_{false};  // read only from root()
  bool borrowed_ = false;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;  // 0: the memory belongs to another owner
  std::shared_ptr<Account> account_;
  std::unique_ptr<Source> source_;
  std::function<void()> release_;
  Buffer* characters_ = nullptr;      // of a table: the owner of the viewed bytes
  Buffer* whole_ = nullptr;           // of a part: the buffer it belongs to
  const Backing* backing_ = nullptr;  // read from root() alone
};

// An allocator for vectors that grow large. Freeing large blocks to malloc would raise its dynamic
// threshold, and malloc would then retain more free memory.
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
