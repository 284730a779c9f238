// Any bytes give an image of the size that bmp_info() returned, or an error.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/codecs/bmp.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < 1) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr int kChannels[] = {0, 1, 3, 4};
  const BmpOptions options{.channels = kChannels[data[0] % 4]};
  const Result<ImageInfo> info = bmp_info(bytes, options);
  if (info && info->height * info->width > 1 << 20) return 0;  // slow, and tests nothing else
  std::vector<std::byte> pixels;
  (void)decode_bmp(bytes, options, [&](const ImageInfo& size_now) -> Result<PixelRows> {
    STOKER_CHECK(size_now == *info);
    pixels.resize(static_cast<size_t>(size_now.height * size_now.width * size_now.channels));
    return PixelRows{pixels.data(), size_now.width * size_now.channels};
  });
  return 0;
}
