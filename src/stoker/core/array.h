#pragma once

#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/buffer.h"
#include "stoker/core/dtype.h"
#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

using Dims = std::span<const int64_t>;

// "[2, 3]"
std::string words_of(Dims dims);

// Most numbers have eight bytes: those take no call.
inline void copy_number(void* to, const void* from, DType type) {
  if (const size_t bytes = size_of(type); bytes == sizeof(int64_t))
    std::memcpy(to, from, sizeof(int64_t));
  else
    std::memcpy(to, from, bytes);
}

// Values of one type in a row-major block of any rank, shared and counted.
//
// Copying an array copies a handle. Reading is safe from several threads;
// writing through mutable_raw() or mutable_values() first copies memory that
// another handle, a source or a cache can see, so a write never shows elsewhere.
//
// A number of rank 0 lies inside the array and a byte string of rank 0 is a
// view of its owner's bytes: neither allocates. Arrays of byte strings are a
// table of views whose characters the same owner keeps.
class Array {
 public:
  Array() : dims_{} {}  // a bool, false
  Array(const Array& other) { copy(other); }
  Array(Array&& other) noexcept { move_from(other); }
  Array& operator=(const Array& other) {
    if (this != &other) *this = Array(other);
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    if (this == &other) return *this;
    release();
    move_from(other);
    return *this;
  }
  ~Array() { release(); }
  // Carries an array to memory that holds none; where it was, none is left.
  // Part by part: what was just written in parts waits for its stores when it
  // is read as a whole.
  static void relocate(Array* to, const Array& from) {
    to->owner_ = apart(from.owner_);
    to->inside_ = apart(from.inside_);
    for (int i = 0; i < kInside; ++i) to->dims_[i] = apart(from.dims_[i]);
    to->rank_ = apart(from.rank_);
    to->type_ = apart(from.type_);
  }

  // A number; text goes through `of_bytes`.
  template <typename T>
    requires(ArrayType<T> && !std::is_same_v<T, Bytes>)
  static Array of(T value) {
    Array a;
    a.type_ = dtype_of<T>;
    std::memcpy(&a.inside_, &value, sizeof(T));
    return a;
  }
  // Copies the text; its owner is the array's own.
  static Array of_bytes(Bytes text);
  // A view into memory that `owner` keeps; takes one reference of the owner's.
  static Array view_bytes(Bytes text, Buffer* owner);
  // A table of such views, of shape [size].
  static Array view_strings(std::span<const Bytes> texts, Buffer* owner);

  // Uninitialised memory. kBytes items start as empty strings.
  static Result<Array> make(Dims dims, DType type);
  static Result<Array> make(std::initializer_list<int64_t> dims, DType type) {
    return make(Dims(dims.begin(), dims.size()), type);
  }
  // The same for what is small and cannot fail: the budget does not refuse it.
  static Array make_small(Dims dims, DType type);
  // The values of a vector, copied, of shape [size]. The budget does not refuse it.
  template <typename T, typename Memory = std::allocator<T>>
  static Array from(const std::vector<T, Memory>& values);
  // A table of strings, characters copied, of the given shape.
  static Result<Array> of_strings(std::span<const Bytes> texts, Dims dims);
  static Array small_strings(std::span<const Bytes> texts, Dims dims);
  // Memory of somebody else's; takes over one reference of `owner`.
  static Array over(const void* data, Dims dims, DType type, Buffer* owner);

  DType type() const { return type_; }
  int rank() const { return rank_; }
  Dims dims() const { return {rank_ > kInside ? more_ : dims_, size_t{rank_}}; }
  int64_t dim(int axis) const { return dims()[static_cast<size_t>(axis)]; }
  int64_t count() const;
  // Bytes of the block itself; of strings, the characters.
  int64_t byte_size() const;

  const void* raw() const { return rank_ == 0 && type_ != DType::kBytes && !owner_ ? &inside_ : data_; }
  // Memory that this handle may write to. Copies it first where it is shared;
  // throws ResourceExhausted when there is no memory for the copy.
  void* mutable_raw() {
    if (owner_ && owner_->copy_before_write()) detach();
    return const_cast<void*>(raw());
  }
  template <typename T>
  std::span<const T> values() const {
    return {static_cast<const T*>(raw()), static_cast<size_t>(count())};
  }
  template <typename T>
  std::span<T> mutable_values() {
    return {static_cast<T*>(mutable_raw()), static_cast<size_t>(count())};
  }
  // A scalar's value; its type must be T.
  template <typename T>
  T scalar() const {
    if constexpr (std::is_same_v<T, Bytes>) {
      return bytes();
    } else {
      T value;
      std::memcpy(&value, raw(), sizeof(T));
      return value;
    }
  }
  Bytes bytes() const { return {static_cast<const char*>(data_), static_cast<size_t>(length_)}; }
  // Item i of the flattened array as a string; type kBytes.
  Bytes bytes_at(int64_t i) const {
    return rank_ == 0 ? bytes() : static_cast<const Bytes*>(data_)[static_cast<size_t>(i)];
  }

  // Row i of axis 0: a view, or the number itself.
  Array row(int64_t i) const { return rank_ == 1 && type_ != DType::kBytes ? number_at(i) : view_at(i); }
  // Rows [first, first + n) of axis 0, a view.
  Array rows(int64_t first, int64_t n) const;
  // The same values under other dims of equal count, a view.
  Array reshaped(Dims dims) const;

  // Whether it is one number.
  bool is_number() const { return rank_ == 0 && type_ != DType::kBytes; }

  Buffer* owner() const { return owner_; }
  // The same values in memory of their own.
  Result<Array> clone() const;
  // Whether the memory is read again later by someone else (Buffer::freeze).
  bool frozen() const { return owner_ && owner_->frozen(); }
  // Declares so, where another handle to this memory exists.
  void freeze_if_shared() const {
    if (owner_ && owner_->shared()) owner_->freeze();
  }
  // Gives a handle that shares its buffer a reference count of its own: what
  // user code does with it can then be seen from that count.
  void isolate(Buffer::Access access);
  // The file its bytes came from and their place in it, where that is known.
  std::optional<Buffer::Source> source() const;
  bool operator==(const Array& other) const;  // shape, type and values; NaN equals itself bit by bit

  // "3", "[1, 2, …] int64 of shape [1024]"
  std::string words() const;

 private:
  static constexpr int kInside = 3;

  // Of rank 1; zero-extended so that equal is equal.
  Array number_at(int64_t i) const {
    Array a;
    a.type_ = type_;
    copy_number(&a.inside_, static_cast<const std::byte*>(data_) + static_cast<size_t>(i) * size_of(type_), type_);
    return a;
  }
  Array view_at(int64_t i) const;
  void detach();
  void set_dims(Dims dims);
  static int64_t* room_for(size_t dims) { return static_cast<int64_t*>(take_recycled(dims * sizeof(int64_t))); }
  void copy(const Array& other);
  void move_from(Array& other) {
    relocate(this, other);
    other.forget();
  }
  // Keeps one part's copy from being joined with the next one's.
  template <typename T>
  static T apart(T part) {
    asm("" : "+r"(part));
    return part;
  }
  void release() {
    if (owner_) owner_->drop();
    if (rank_ > kInside) give_recycled(more_, rank_ * sizeof(int64_t));
  }
  void forget() {
    owner_ = nullptr;
    rank_ = 0;
  }

  Buffer* owner_ = nullptr;
  union {
    const void* data_;
    uint64_t inside_ = 0;
  };
  union {
    int64_t dims_[kInside];
    int64_t* more_;   // where the rank exceeds kInside
    int64_t length_;  // of a byte string of rank 0
  };
  uint8_t rank_ = 0;
  DType type_ = DType::kBool;
};
static_assert(sizeof(Array) <= 48);

// Rows of equal type and shape in one block, shape [rows] + row shape. The
// error names the first row that differs.
Result<Array> stacked(std::span<const Array> rows);

template <typename T, typename Memory>
Array Array::from(const std::vector<T, Memory>& values) {
  const int64_t n = static_cast<int64_t>(values.size());
  if constexpr (std::is_convertible_v<T, Bytes>) {
    std::vector<Bytes> views(values.begin(), values.end());
    return small_strings(views, Dims(&n, 1));
  } else {
    Array a = make_small(Dims(&n, 1), dtype_of<T>);
    auto out = a.mutable_values<T>();
    for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];  // vector<bool> has no data()
    return a;
  }
}

}  // namespace stoker
