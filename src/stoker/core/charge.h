#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/core/buffer.h"

namespace stoker {

// Bytes of an account that are returned by the destructor: working memory that is not in buffers. Without an account,
// nothing is counted.
class Charge {
 public:
  explicit Charge(std::shared_ptr<Account> account = Account::current()) : account_(std::move(account)) {}
  Charge(Charge&& other) noexcept : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() { shrink(bytes_); }

  // Returns false, and counts nothing, if the budget has no space.
  bool grow(int64_t bytes) {
    if (account_ && !account_->take(bytes, false)) return false;
    bytes_ += bytes;
    return true;
  }
  // The same, as an error. `what` is the memory: "the coefficients of a progressive JPEG".
  Result<void> grow_for(std::string_view what, int64_t bytes) {
    if (grow(bytes)) return {};
    return Error::exhausted("the memory budget has no space for ", bytes, " bytes now, for ", what);
  }
  void shrink(int64_t bytes) {
    bytes_ -= bytes;
    if (account_ && bytes > 0) account_->give_back(bytes);
  }
  int64_t bytes() const { return bytes_; }
  const std::shared_ptr<Account>& account() const { return account_; }

 private:
  std::shared_ptr<Account> account_;
  int64_t bytes_ = 0;
};

// A vector of numbers that grows to an unknown size. Its memory is charged if it is large.
template <typename T>
  requires(std::is_trivially_copyable_v<T>)
class ChargedVector {
 public:
  // Returns false, and appends nothing, if the budget has no space.
  bool append(const T* items, size_t n) {
    if (items_.size() + n > items_.capacity() && !reserve(items_.size() + n)) return false;
    items_.insert(items_.end(), items, items + n);
    return true;
  }
  void clear() { items_.clear(); }
  size_t size() const { return items_.size(); }
  const T* data() const { return items_.data(); }

 private:
  static constexpr size_t kLarge = size_t{64} << 10;

  bool reserve(size_t least) {
    const size_t capacity = std::max({least, 2 * items_.capacity(), 256 / sizeof(T)});
    const int64_t before = charge_.bytes();
    if (capacity * sizeof(T) >= kLarge && !charge_.grow(static_cast<int64_t>(capacity * sizeof(T)))) return false;
    items_.reserve(capacity);
    charge_.shrink(before);  // the old memory
    return true;
  }

  std::vector<T, BlockAllocator<T>> items_;
  Charge charge_;
};

}  // namespace stoker
