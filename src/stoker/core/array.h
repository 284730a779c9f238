#pragma once

#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/buffer.h"
#include "stoker/core/dtype.h"
#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

using Dims = std::span<const int64_t>;

// The largest rank that files and parameters may have; the limit of NumPy 2.
inline constexpr size_t kMaxDims = 64;

// Returns the number of values of an array with these dims: their product, which is 1 without dims. Returns nothing if
// the product overflows or a dim is negative.
std::optional<int64_t> count_of(Dims dims);

// Formats dims as "[2, 3]". A negative dim is printed as "?".
std::string shape_text(Dims dims);

// Copies one number of the given type. The size of 8 bytes, the most common one, compiles to one
// move instead of a call.
inline void copy_number(void* to, const void* from, DType type) {
  if (const size_t bytes = size_of(type); bytes == sizeof(int64_t))
    std::memcpy(to, from, sizeof(int64_t));
  else
    std::memcpy(to, from, bytes);
}

// A row-major block of values of one type and any rank. The memory is shared and reference-counted.
//
// Copying an array copies a handle, not the values. Several threads may read one array at the same
// time. A write through mutable_raw() or mutable_values() first copies memory that another handle,
// a source or a cache also refers to, so it does not change any other array.
//
// A number of rank 0 is stored inside the array, and a byte string of rank 0 is a view of memory
// that its owner keeps alive. Neither of them allocates. An array of byte strings is a table of
// views; the owner of the table also keeps the characters alive.
class Array {
 public:
  Array() : dims_{} {}  // the bool false, of rank 0
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
  // Moves an array to memory that holds no object, and leaves no object at the old place. Copies
  // member by member: a load that spans several recent stores has to wait until they are done.
  static void relocate(Array* to, const Array& from) {
    to->owner_ = apart(from.owner_);
    to->inside_ = apart(from.inside_);
    for (int i = 0; i < kInside; ++i) to->dims_[i] = apart(from.dims_[i]);
    to->rank_ = apart(from.rank_);
    to->type_ = apart(from.type_);
  }

  // Returns a number of rank 0. For text, use of_bytes().
  template <typename T>
    requires(ArrayType<T> && !std::is_same_v<T, Bytes>)
  static Array of(T value) {
    Array a;
    a.type_ = dtype_of<T>;
    std::memcpy(&a.inside_, &value, sizeof(T));
    return a;
  }
  // Copies the text into memory that the array owns.
  static Array of_bytes(Bytes text);
  // Returns a view of memory that `owner` keeps alive. Takes over one reference to `owner`.
  static Array view_bytes(Bytes text, Buffer* owner);
  // Returns a table of such views, of shape [size]. Takes over one reference to `owner`.
  static Array view_strings(std::span<const Bytes> texts, Buffer* owner);

  // Allocates an array with uninitialized values; kBytes items are empty strings. Fails with
  // ResourceExhausted if the memory budget or the system has no memory for it.
  static Result<Array> make(Dims dims, DType type);
  static Result<Array> make(std::initializer_list<int64_t> dims, DType type) {
    return make(Dims(dims.begin(), dims.size()), type);
  }
  // The same for small arrays. The memory budget never refuses them. Ends the process if the system
  // has no memory.
  static Array make_small(Dims dims, DType type);
  // Copies the values of a vector into an array of shape [size]. The memory budget never refuses
  // it.
  template <typename T, typename Memory = std::allocator<T>>
  static Array from(const std::vector<T, Memory>& values);
  // Copies strings into a table of the given shape. small_strings() is never refused by the memory
  // budget.
  static Result<Array> of_strings(std::span<const Bytes> texts, Dims dims);
  static Array small_strings(std::span<const Bytes> texts, Dims dims);
  // Returns an array over existing memory. Takes over one reference to `owner`, which keeps the
  // memory alive.
  static Array over(const void* data, Dims dims, DType type, Buffer* owner);

  DType type() const { return type_; }
  int rank() const { return rank_; }
  Dims shape() const { return {rank_ > kInside ? more_ : dims_, size_t{rank_}}; }
  int64_t dim(int axis) const { return shape()[static_cast<size_t>(axis)]; }
  int64_t count() const;
  // The size of the values in bytes. For strings, the sum of their lengths.
  int64_t byte_size() const;

  const void* raw() const { return rank_ == 0 && type_ != DType::kBytes && !owner_ ? &inside_ : data_; }
  // Returns memory that this handle may write to, and copies it first if it is shared. Throws
  // ResourceExhausted if there is no memory for the copy.
  void* mutable_raw() {
    if (owner_ && owner_->copy_before_write()) detach();
    return const_cast<void*>(raw());
  }
  // The values in row-major order. Throws InvalidArgument, with both types, if the array has another type.
  template <typename T>
  std::span<const T> values() const {
    check_type(dtype_of<T>);
    return {static_cast<const T*>(raw()), static_cast<size_t>(count())};
  }
  template <typename T>
  std::span<T> mutable_values() {
    check_type(dtype_of<T>);
    return {static_cast<T*>(mutable_raw()), static_cast<size_t>(count())};
  }
  // The value of an array of rank 0. Throws as values() does.
  template <typename T>
  T scalar() const {
    check_type(dtype_of<T>);
    if constexpr (std::is_same_v<T, Bytes>) {
      return bytes();
    } else {
      T value;
      std::memcpy(&value, raw(), sizeof(T));
      return value;
    }
  }
  Bytes bytes() const { return {static_cast<const char*>(data_), static_cast<size_t>(length_)}; }
  // Item i of the flattened array. The type must be kBytes.
  Bytes bytes_at(int64_t i) const {
    return rank_ == 0 ? bytes() : static_cast<const Bytes*>(data_)[static_cast<size_t>(i)];
  }

  // Row i of axis 0: a view, or the number itself if the rank is 1.
  Array row(int64_t i) const { return rank_ == 1 && type_ != DType::kBytes ? number_at(i) : view_at(i); }
  // Rows [first, first + n) of axis 0, as a view.
  Array rows(int64_t first, int64_t n) const;
  // A view of the same values with other dims. The number of values must be the same.
  Array reshaped(Dims dims) const;

  // Whether this is one number of rank 0.
  bool is_number() const { return rank_ == 0 && type_ != DType::kBytes; }

  Buffer* owner() const { return owner_; }
  // Of its memory (Buffer::backing).
  const Backing* backing() const { return owner_ ? owner_->backing() : nullptr; }
  // DataLoss where the file that the bytes lie in was truncated. Bytes that were
  // read before this call are then not to be used.
  Result<void> check_intact() const {
    const Backing* const from = backing();
    return !from || from->intact() ? Result<void>() : lost_error();
  }
  // Copies the values into memory of their own. Fails with ResourceExhausted, and as check_intact().
  Result<Array> clone() const;
  // Whether the memory will be read again later (Buffer::freeze).
  bool frozen() const { return owner_ && owner_->frozen(); }
  // Whether user code only borrows the memory (isolate).
  bool borrowed() const { return owner_ && owner_->borrowed(); }
  // Freezes the memory if another handle to it exists.
  void freeze_if_shared() const {
    if (owner_ && owner_->shared()) owner_->freeze();
  }
  // Gives a handle that shares its buffer a reference count of its own, so that this count shows
  // whether user code kept the handle.
  void isolate(Buffer::Access access) {
    if (owner_) isolate_memory(access);  // numbers, which own none, are the common case
  }
  // The file that the bytes were read from and their offset in it, if known.
  std::optional<Buffer::Source> source() const;
  bool operator==(const Array& other) const;  // compares type, shape and bits: NaN equals itself

  // "3", "[1, 2, …] int64 of shape [1024]"
  std::string describe() const;

 private:
  static constexpr int kInside = 3;

  // Of an array of rank 1. The bytes after the number are zero, so that equal numbers have equal
  // bits.
  Array number_at(int64_t i) const {
    Array a;
    a.type_ = type_;
    copy_number(&a.inside_, static_cast<const std::byte*>(data_) + static_cast<size_t>(i) * size_of(type_), type_);
    return a;
  }
  Array view_at(int64_t i) const;
  void isolate_memory(Buffer::Access access);
  void detach();
  void check_type(DType expected) const {
    if (type_ != expected) [[unlikely]]
      throw_wrong_type(expected);
  }
  [[noreturn]] void throw_wrong_type(DType expected) const;
  Error lost_error() const;
  void set_dims(Dims dims);
  static int64_t* room_for(size_t dims) { return static_cast<int64_t*>(take_recycled(dims * sizeof(int64_t))); }
  void copy(const Array& other);
  void move_from(Array& other) {
    relocate(this, other);
    other.forget();
  }
  // Prevents the compiler from joining this member's copy with the next one.
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
    int64_t* more_;   // if the rank exceeds kInside
    int64_t length_;  // of a byte string of rank 0
  };
  uint8_t rank_ = 0;
  DType type_ = DType::kBool;
};
static_assert(sizeof(Array) <= 48);

// Copies rows of equal type and shape into one block of shape [rows] + row shape. Otherwise fails
// with InvalidArgument; the error names the first row that differs. DataLoss as check_intact().
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
