#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "stoker/core/array.h"

namespace stoker {

// A picture in memory that somebody else keeps: rows of pixels from the top,
// the channels of a pixel side by side.
template <typename Memory>
struct PictureView {
  Memory* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;
  int64_t stride = 0;  // bytes from one row to the next
  DType type = DType::kUint8;

  operator PictureView<const void>() const
    requires(!std::is_const_v<Memory>)
  {
    return {data, height, width, channels, stride, type};
  }

  // Values in a row.
  int64_t row_size() const { return width * channels; }

  template <typename T>
  auto* row(int64_t y) const {
    using Byte = std::conditional_t<std::is_const_v<Memory>, const std::byte, std::byte>;
    using Value = std::conditional_t<std::is_const_v<Memory>, const T, T>;
    return reinterpret_cast<Value*>(static_cast<Byte*>(data) + y * stride);
  }
};

using ImageView = PictureView<const void>;
using MutableImageView = PictureView<void>;

// Picture `index` of an array of shape [height, width, channels], or of a batch
// of such with more dims before.
inline ImageView picture_of(const Array& array, int64_t index = 0) {
  const int rank = array.rank();
  const int64_t height = array.dim(rank - 3), width = array.dim(rank - 2), channels = array.dim(rank - 1);
  const int64_t stride = width * channels * static_cast<int64_t>(size_of(array.type()));
  const auto* data = static_cast<const std::byte*>(array.raw()) + index * height * stride;
  return {data, height, width, channels, stride, array.type()};
}
inline MutableImageView picture_of(Array& array, int64_t index = 0) {
  const ImageView view = picture_of(std::as_const(array), index);
  return {const_cast<void*>(view.data), view.height, view.width, view.channels, view.stride, view.type};
}

}  // namespace stoker
