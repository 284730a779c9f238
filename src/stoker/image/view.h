#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "stoker/core/array.h"

namespace stoker {

// A view of an image in memory that belongs to another object: rows of pixels from top to bottom,
// with interleaved channels. The memory must outlive the view.
template <typename Memory>
struct BasicImageView {
  Memory* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t stride = 0;  // bytes from one row to the next
  DType type = DType::kUint8;

  operator BasicImageView<const void>() const
    requires(!std::is_const_v<Memory>)
  {
    return {data, height, width, channels, stride, type};
  }

  // The number of values in a row.
  int64_t row_size() const { return width * channels; }

  template <typename T>
  auto* row(int64_t y) const {
    using Byte = std::conditional_t<std::is_const_v<Memory>, const std::byte, std::byte>;
    using Value = std::conditional_t<std::is_const_v<Memory>, const T, T>;
    return reinterpret_cast<Value*>(static_cast<Byte*>(data) + y * stride);
  }
};

using ImageView = BasicImageView<const void>;
using MutableImageView = BasicImageView<void>;

// Image `index` of an array of shape [height, width, channels], or of a batch with more leading
// dims.
inline ImageView image_view(const Array& array, int64_t index = 0) {
  const int rank = array.rank();
  const int64_t height = array.dim(rank - 3), width = array.dim(rank - 2), channels = array.dim(rank - 1);
  const int64_t stride = width * channels * static_cast<int64_t>(size_of(array.type()));
  const auto* data = static_cast<const std::byte*>(array.raw()) + index * height * stride;
  return {data, height, width, channels, stride, array.type()};
}
inline MutableImageView image_view(Array& array, int64_t index = 0) {
  const ImageView view = image_view(std::as_const(array), index);
  return {const_cast<void*>(view.data), view.height, view.width, view.channels, view.stride, view.type};
}

}  // namespace stoker
