#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

namespace stoker {

// What the image decoders have in common.

// The shape of an image and the number of bits of one sample.
struct ImageInfo {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
  int bit_depth = 8;
  int64_t frames = 1;  // of an animation

  bool operator==(const ImageInfo&) const = default;
};

// Memory for the rows of an image, from top to bottom, frame after frame. `stride` is the distance
// in bytes from one row to the next.
struct PixelRows {
  std::byte* first = nullptr;
  int64_t stride = 0;
};
// Called once, when the size is known and before anything is decoded. If it fails, decoding fails
// with its error.
using PixelPlace = std::function<Result<PixelRows>(const ImageInfo&)>;

// The maximum number of pixels of an image. The header of a small file can claim 2^32 pixels and
// more; the largest photographs have 2^27. check_size() fails with ResourceExhausted for larger
// images, and with DataLoss for images without pixels.
inline constexpr int64_t kMostPixels = int64_t{1} << 28;
Result<void> check_size(int64_t height, int64_t width);
// The same for all frames of an animation together.
Result<void> check_size(int64_t height, int64_t width, int64_t frames);

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp };

// Detects the format by the first bytes.
ImageFormat format_of(Bytes bytes);
// Returns "JPEG", "PNG" and so on.
std::string_view name_of(ImageFormat format);

}  // namespace stoker
