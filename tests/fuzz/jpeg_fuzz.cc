// Any bytes give an image of the size that jpeg_info() returned, or an error. Rewritten with
// restart markers, they give the same image.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/jpeg.h"
#include "stoker/codecs/jpeg_rewrite.h"

namespace {

std::optional<std::vector<std::byte>> pixels_of(stoker::Bytes bytes) {
  using namespace stoker;
  std::vector<std::byte> pixels;
  const Result<void> done = decode_jpeg(bytes, {}, [&](const ImageInfo& size) -> Result<PixelRows> {
    pixels.resize(static_cast<size_t>(size.height * size.width * size.channels));
    return PixelRows{pixels.data(), size.width * size.channels};
  });
  return done ? std::optional(std::move(pixels)) : std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < 1) return 0;
  const Bytes bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const JpegOptions options{.channels = data[0] & 1 ? 3 : 0,
                            .ratio = data[0] & 2 ? 4 : 1,
                            .fancy_upscaling = (data[0] & 4) != 0,
                            .try_recover_truncated = (data[0] & 8) != 0,
                            .acceptable_fraction = data[0] & 16 ? 0.5f : 1.0f,
                            .dct = data[0] & 32 ? JpegDct::kIntegerFast : JpegDct::kIntegerAccurate};
  const Result<ImageInfo> info = jpeg_info(bytes, options);
  if (info && info->height * info->width > 1 << 20) return 0;  // slow, and tests nothing else
  std::vector<std::byte> pixels;
  (void)decode_jpeg(bytes, options, [&](const ImageInfo& size_now) -> Result<PixelRows> {
    STOKER_CHECK(size_now == *info);
    pixels.resize(static_cast<size_t>(size_now.height * size_now.width * size_now.channels));
    return PixelRows{pixels.data(), size_now.width * size_now.channels};
  });
  const auto choose = [](const ImageInfo& whole) -> Result<ImageRegion> {
    return ImageRegion{whole.height / 3, whole.width / 4, (whole.height + 1) / 2, (whole.width + 2) / 3};
  };
  int sum = 0;
  const auto use = [&](const ImageInfo& whole, JpegRows& rows) -> Result<void> {
    for (int64_t y = 0; y < (whole.height + 1) / 2; ++y) {
      const void* row = nullptr;
      STOKER_TRY(rows.rows(y, 1, &row));
      const int64_t bytes_in_row = ((whole.width + 2) / 3 - 1) * rows.pixel() + whole.channels;
      for (int64_t i = 0; i < bytes_in_row; ++i) sum += static_cast<const uint8_t*>(row)[i];
    }
    return {};
  };
  (void)decode_jpeg_rows(bytes, options, {choose, use});
  STOKER_CHECK(sum >= 0);  // every byte was read
  if (const std::optional<std::string> rewritten = with_restart_markers(bytes))
    STOKER_CHECK(pixels_of(*rewritten) == pixels_of(bytes));
  return 0;
}
