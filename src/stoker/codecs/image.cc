#include "stoker/codecs/image.h"

namespace stoker {

Result<void> check_size(int64_t height, int64_t width) {
  if (height < 1 || width < 1) return Error::corrupt("an image of ", height, "x", width, " has no pixels");
  if (height <= kMostPixels / width) return {};
  return Error::exhausted("an image of ", height, "x", width, " exceeds the limit of ", kMostPixels, " pixels");
}

Result<void> check_size(int64_t height, int64_t width, int64_t frames) {
  STOKER_TRY(check_size(height, width));
  if (frames <= kMostPixels / (height * width)) return {};
  return Error::exhausted("an animation of ", frames, " frames of ", height, "x", width, " exceeds the limit of ",
                          kMostPixels, " pixels");
}

ImageFormat format_of(Bytes bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return ImageFormat::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return ImageFormat::kPng;
  if (bytes.starts_with("GIF8"sv)) return ImageFormat::kGif;
  if (bytes.starts_with("BM"sv)) return ImageFormat::kBmp;
  if (bytes.starts_with("RIFF"sv) && bytes.substr(0, 12).ends_with("WEBP"sv) && bytes.size() >= 12)
    return ImageFormat::kWebp;
  return ImageFormat::kUnknown;
}

std::string_view name_of(ImageFormat format) {
  switch (format) {
    case ImageFormat::kUnknown: return "unknown";
    case ImageFormat::kJpeg: return "JPEG";
    case ImageFormat::kPng: return "PNG";
    case ImageFormat::kGif: return "GIF";
    case ImageFormat::kBmp: return "BMP";
    case ImageFormat::kWebp: return "WebP";
  }
  return "unknown";
}

}  // namespace stoker
