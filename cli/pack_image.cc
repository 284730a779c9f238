// What `stoker pack` does to one picture.
#include <algorithm>

#include "cli/commands.h"
#include "cli/pack.h"
#include "cli/picture_check.h"
#include "stoker/codecs/exif.h"
#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/jpeg_encode.h"
#include "stoker/codecs/jpeg_layout.h"
#include "stoker/codecs/jpeg_rewrite.h"
#include "stoker/image/resize.h"
#include "stoker/ops/picture_bytes.h"

namespace stoker::cli {
namespace {

// What a decoder refuses, too, whatever part of the picture is wanted. Most files end with the marker.
Result<void> check_jpeg_end(Bytes bytes) {
  if (bytes.ends_with("\xff\xd9")) return {};
  JpegLayout layout;
  if (walk_jpeg(bytes, layout) && layout.ends) return {};
  return Error::corrupt("JPEG data ends early: it has ", bytes.size(), " bytes and no end marker");
}

// Chunks are a length, a type, that many bytes and a checksum.
Result<void> check_png_end(Bytes bytes) {
  constexpr size_t kSignature = 8, kAround = 12;
  for (size_t at = kSignature; bytes.size() - at >= kAround;) {
    uint64_t length = 0;
    for (const char byte : bytes.substr(at, 4)) length = length << 8 | static_cast<uint8_t>(byte);
    if (length > bytes.size() - at - kAround) break;
    if (bytes.substr(at + 4, 4) == "IEND") return {};
    at += kAround + length;
  }
  return Error::corrupt("PNG data ends early: it has ", bytes.size(), " bytes and no end chunk");
}

// Whether the file is whole, as far as that shows without decoding; BMP decodes at no cost.
Result<void> check_end(PictureFormat format, Bytes bytes) {
  switch (format) {
    case PictureFormat::kJpeg: return check_jpeg_end(bytes);
    case PictureFormat::kPng: return check_png_end(bytes);
    case PictureFormat::kBmp: {
      STOKER_TRY(decode_to_the_end(bytes));
      return {};
    }
    default: return {};  // of GIF and WebP all parts have been found
  }
}

Result<void> check_picture(Bytes bytes) {
  if (bytes.empty()) return Error::corrupt("the file is empty, a picture was expected");
  const PictureFormat format = format_of(bytes);
  if (format == PictureFormat::kUnknown) return Error::corrupt(not_a_picture(bytes).message());
  STOKER_TRY(picture_shape(bytes, {.frames = Frames::kOfMoving}));
  return check_end(format, bytes);
}

Result<std::string> encoded(ImageView view, int quality) {
  const PictureInfo info{view.height, view.width, static_cast<int>(view.channels)};
  return encode_jpeg(info, static_cast<const std::byte*>(view.data), view.stride, {.quality = quality});
}

// Upright and with its short side as asked for. What is no larger and upright stays as it is.
Result<PackedPicture> made_smaller(Bytes image, int64_t short_side, int quality) {
  PictureWish wish{.jpeg = {.dct = JpegDct::kIntegerAccurate}, .frames = Frames::kFirst, .exif_orientation = true};
  STOKER_TRY(const std::vector<int64_t> shape, picture_shape(image, wish));
  const int64_t height = shape[0], width = shape[1], shorter = std::min(height, width);
  const bool turned = exif_orientation(image) != 1, smaller = shorter > short_side;
  if (!turned && !smaller) return PackedPicture{};
  wish.channels = wish.jpeg.channels = shape[2] < 3 ? 1 : 3;  // alpha is left out: JPEG has none
  Context context;
  STOKER_TRY(const Array pixels, picture_from(image, wish, context));
  PackedPicture made{.resized = smaller, .turned = turned};
  if (!smaller) {
    STOKER_TRY(made.bytes, encoded(picture_of(pixels), quality));
    return made;
  }
  const int64_t dims[] = {height * short_side / shorter, width * short_side / shorter, wish.channels};
  STOKER_TRY(Array small, Array::make(Dims(dims), DType::kUint8));
  STOKER_TRY(resize_picture(picture_of(pixels), picture_of(small), {.manner = Manner::kPillow}));
  STOKER_TRY(made.bytes, encoded(picture_of(std::as_const(small)), quality));
  return made;
}

}  // namespace

Result<PackedPicture> packed_picture(Bytes image, const PackOptions& options) {
  STOKER_TRY(check_picture(image));
  PackedPicture made;
  if (options.resize) {
    STOKER_TRY(made, made_smaller(image, *options.resize, options.quality.value_or(kPackQuality)));
  }
  const Bytes now = made.bytes ? Bytes(*made.bytes) : image;
  if (options.keep_bytes || format_of(now) != PictureFormat::kJpeg) return made;
  if (std::optional<std::string> rewritten = with_restart_markers(now)) made.bytes = std::move(rewritten);
  return made;
}

Result<PackedRecord> packed_record(const Array& image, int64_t label, Bytes path, const PackOptions& options) {
  STOKER_TRY(const PackedPicture made, packed_picture(image.bytes(), options));
  const int64_t how = (made.resized ? kResized : 0) | (made.turned ? kTurned : 0);
  return record_of(made.bytes ? Array::of_bytes(*made.bytes) : image, label, path, how);
}

}  // namespace stoker::cli
