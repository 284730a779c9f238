#include "stoker/codecs/picture.h"

namespace stoker {

Result<void> check_size(int64_t height, int64_t width) {
  if (height < 1 || width < 1) return Error::corrupt("a picture of ", height, "x", width, " has no pixels");
  if (height <= kMostPixels / width) return {};
  return Error::exhausted("a picture of ", height, "x", width, " has more than the ", kMostPixels, " pixels allowed");
}

Result<void> check_size(int64_t height, int64_t width, int64_t frames) {
  STOKER_TRY(check_size(height, width));
  if (frames <= kMostPixels / (height * width)) return {};
  return Error::exhausted("an animation of ", frames, " frames of ", height, "x", width, " has more than the ",
                          kMostPixels, " pixels allowed");
}

PictureFormat format_of(Bytes bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\xff\xd8\xff"sv)) return PictureFormat::kJpeg;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return PictureFormat::kPng;
  if (bytes.starts_with("GIF8"sv)) return PictureFormat::kGif;
  if (bytes.starts_with("BM"sv)) return PictureFormat::kBmp;
  if (bytes.starts_with("RIFF"sv) && bytes.substr(0, 12).ends_with("WEBP"sv) && bytes.size() >= 12)
    return PictureFormat::kWebp;
  return PictureFormat::kUnknown;
}

std::string_view name_of(PictureFormat format) {
  switch (format) {
    case PictureFormat::kUnknown: return "unknown";
    case PictureFormat::kJpeg: return "JPEG";
    case PictureFormat::kPng: return "PNG";
    case PictureFormat::kGif: return "GIF";
    case PictureFormat::kBmp: return "BMP";
    case PictureFormat::kWebp: return "WebP";
  }
  return "unknown";
}

}  // namespace stoker
