// Any bytes give an image of the size that png_info() returned, or an error.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/codecs/png.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < 1) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const PngOptions options{.channels = data[0] % 5, .bit_depth = data[0] & 128 ? 16 : 8};
  const Result<ImageInfo> info = png_info(bytes, options);
  if (info && info->height * info->width > 1 << 20) return 0;  // slow, and tests nothing else
  std::vector<std::byte> pixels;
  (void)decode_png(bytes, options, [&](const ImageInfo& size_now) -> Result<PixelRows> {
    STOKER_CHECK(size_now == *info);
    const int64_t stride = size_now.width * size_now.channels * size_now.bit_depth / 8;
    pixels.resize(static_cast<size_t>(size_now.height * stride));
    return PixelRows{pixels.data(), stride};
  });
  return 0;
}
