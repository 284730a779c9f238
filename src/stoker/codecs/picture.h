#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

namespace stoker {

// What decoders of pictures share.

// The shape of a picture, and the bits of one sample.
struct PictureInfo {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;
  int bit_depth = 8;
  int64_t frames = 1;  // of an animation

  bool operator==(const PictureInfo&) const = default;
};

// Memory for a picture's rows, top to bottom, frame after frame; `stride` bytes
// from one to the next.
struct PixelRows {
  std::byte* first = nullptr;
  int64_t stride = 0;
};
// Is asked once, when the size is known and before anything is decoded.
using PixelPlace = std::function<Result<PixelRows>(const PictureInfo&)>;

// The pixels that a picture may have. A file of a few bytes can claim 2^32 and
// more; the largest photographs have 2^27.
inline constexpr int64_t kMostPixels = int64_t{1} << 28;
Result<void> check_size(int64_t height, int64_t width);
// The same over all frames of an animation.
Result<void> check_size(int64_t height, int64_t width, int64_t frames);

enum class PictureFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp, kWebp };

// By the first bytes alone.
PictureFormat format_of(Bytes bytes);
// "JPEG", "PNG", …
std::string_view name_of(PictureFormat format);

}  // namespace stoker
