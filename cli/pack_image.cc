// What `stoker pack` does to one picture.
#include <algorithm>

#include "cli/commands.h"
#include "cli/pack.h"
#include "stoker/codecs/exif.h"
#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/jpeg_encode.h"
#include "stoker/codecs/jpeg_layout.h"
#include "stoker/codecs/jpeg_rewrite.h"
#include "stoker/codecs/png.h"
#include "stoker/image/resize.h"
#include "stoker/ops/picture_bytes.h"

namespace stoker::cli {
namespace {

// The size of the smallest header, for the formats whose headers are not read.
size_t least_bytes(PictureFormat format) {
  switch (format) {
    case PictureFormat::kGif: return 13;
    case PictureFormat::kBmp: return 26;
    case PictureFormat::kWebp: return 20;
    default: return 0;
  }
}

// What a decoder refuses, too, whatever part of the picture is wanted. Most files end with the marker.
Result<void> check_jpeg_end(Bytes bytes) {
  if (bytes.ends_with("\xff\xd9")) return {};
  JpegLayout layout;
  if (walk_jpeg(bytes, layout) && layout.ends) return {};
  return Error::corrupt("JPEG data ends early: it has ", bytes.size(), " bytes and no end marker");
}

Result<void> check_picture(Bytes bytes) {
  if (bytes.empty()) return Error::corrupt("the file is empty, a picture was expected");
  const PictureFormat format = format_of(bytes);
  if (format == PictureFormat::kUnknown) return Error::corrupt(not_a_picture(bytes).message());
  if (bytes.size() < least_bytes(format))
    return Error::corrupt(name_of(format), " data ends inside its header: it has ", bytes.size(), " bytes");
  if (format == PictureFormat::kJpeg) {
    STOKER_TRY(jpeg_info(bytes));
    STOKER_TRY(check_jpeg_end(bytes));
  }
  if (format == PictureFormat::kPng) STOKER_TRY(png_info(bytes));
  return {};
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
