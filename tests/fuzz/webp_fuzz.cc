// Any bytes give frames of the size that webp_info() returned, or an error.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/codecs/webp.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < 1) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr int kChannels[] = {0, 1, 3, 4};
  const WebpOptions options{.channels = kChannels[data[0] % 4], .first_only = (data[0] & 4) != 0};
  const Result<ImageInfo> info = webp_info(bytes, options);
  if (info && info->frames * info->height * info->width > 1 << 20) return 0;  // slow, and tests nothing else
  std::vector<std::byte> pixels;
  const Result<void> done = decode_webp(bytes, options, [&](const ImageInfo& size_now) -> Result<PixelRows> {
    STOKER_CHECK(size_now == *info);
    const int64_t stride = size_now.width * size_now.channels;
    pixels.resize(static_cast<size_t>(size_now.frames * size_now.height * stride));
    return PixelRows{pixels.data(), stride};
  });
  STOKER_CHECK(!done || info);
  return 0;
}
