#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace stoker {

// A type whose objects can be moved to other memory without leaving an object at the old place.
template <typename T>
concept Relocatable = requires(T* to, const T& from) { T::relocate(to, from); };

// A vector that stores its first N items inside itself: most elements have one or two components
// and should not allocate.
template <typename T, size_t N>
class InlineVector {
 public:
  // Not defaulted: `{}` would then zero the space for the items each time.
  InlineVector() {}  // NOLINT(modernize-use-equals-default)
  InlineVector(std::initializer_list<T> items) {
    reserve(items.size());
    for (const T& item : items) push_back(item);
  }
  explicit InlineVector(size_t size) { resize(size); }
  InlineVector(const InlineVector& other) {
    reserve(other.size_);
    for (const T& item : other) push_back(item);
  }
  InlineVector(InlineVector&& other) noexcept { take(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) *this = InlineVector(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~InlineVector() { release(); }

  T* begin() { return items_; }
  T* end() { return items_ + size_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  T* data() { return items_; }
  const T* data() const { return items_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }

  void push_back(T item) { emplace_back(std::move(item)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    return *new (items_ + size_++) T(std::forward<Args>(args)...);
  }
  // Constructs the item in place from the result of `make`.
  template <typename Make>
  T& emplace_made(Make&& make) {
    if (size_ == capacity_) reserve(capacity_ * 2);
    return *new (items_ + size_++) T(make());
  }
  void resize(size_t size) {
    reserve(size);
    while (size_ < size) new (items_ + size_++) T();
    while (size_ > size) items_[--size_].~T();
  }
  void clear() { resize(0); }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    T* grown = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), grown);
    std::destroy(begin(), end());
    free_heap();
    items_ = grown;
    capacity_ = capacity;
  }

 private:
  T* inside() { return std::launder(reinterpret_cast<T*>(inside_)); }
  bool on_heap() { return items_ != inside(); }
  void free_heap() {
    if (on_heap()) std::allocator<T>().deallocate(items_, capacity_);
  }
  void release() {
    std::destroy(begin(), end());
    free_heap();
    items_ = inside();
    size_ = 0;
    capacity_ = N;
  }
  void take(InlineVector& other) {
    if (other.on_heap()) {
      items_ = std::exchange(other.items_, other.inside());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    size_ = other.size_;
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(inside_, other.inside_, sizeof(inside_));  // a constant size compiles without a loop
      other.size_ = 0;
    } else if constexpr (Relocatable<T>) {
      for (size_t i = 0; i < size_; ++i) T::relocate(items_ + i, other.items_[i]);
      other.size_ = 0;
    } else {
      std::uninitialized_move(other.begin(), other.end(), items_);
      other.clear();
    }
  }

  alignas(T) std::byte inside_[N * sizeof(T)];
  T* items_ = inside();
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace stoker
