// Checks one image for pack(), resizes it, and adds restart markers.
#include <algorithm>

#include "stoker/codecs/exif.h"
#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/jpeg_encode.h"
#include "stoker/codecs/jpeg_layout.h"
#include "stoker/codecs/jpeg_rewrite.h"
#include "stoker/image/resize.h"
#include "stoker/ops/image_bytes.h"
#include "stoker/prepare/image_check.h"
#include "stoker/prepare/pack_input.h"

namespace stoker::prepare {
namespace {

// Rejects data without an end marker, as decoders do. Most files end with the
// marker; only the others are walked.
Result<void> check_jpeg_end(Bytes bytes) {
  if (bytes.ends_with("\xff\xd9")) return {};
  JpegLayout layout;
  if (walk_jpeg(bytes, layout) && layout.ends) return {};
  return Error::corrupt("JPEG data ends early: it has ", bytes.size(), " bytes and no end marker");
}

// A chunk is a length, a type, that many bytes, and a checksum.
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

// Checks that the file is complete, as far as this is possible without decoding.
// Decoding a BMP costs almost nothing.
Result<void> check_end(ImageFormat format, Bytes bytes) {
  switch (format) {
    case ImageFormat::kJpeg: return check_jpeg_end(bytes);
    case ImageFormat::kPng: return check_png_end(bytes);
    case ImageFormat::kBmp: {
      STOKER_TRY(decode_to_the_end(bytes));
      return {};
    }
    default: return {};  // image_shape() has visited all parts of a GIF or WebP
  }
}

Result<void> check_image(Bytes bytes) {
  if (bytes.empty()) return Error::corrupt("the file is empty, expected an image");
  const ImageFormat format = format_of(bytes);
  if (format == ImageFormat::kUnknown) return Error::corrupt(not_a_image(bytes).message());
  STOKER_TRY(image_shape(bytes, {.frames = Frames::kOfMoving}));
  return check_end(format, bytes);
}

Result<std::string> encoded(ImageView view, int quality) {
  const ImageInfo info{view.height, view.width, static_cast<int>(view.channels)};
  return encode_jpeg(info, static_cast<const std::byte*>(view.data), view.stride, {.quality = quality});
}

// Applies the EXIF orientation and shrinks the image to the given short side. An
// upright image that is not larger is returned unchanged.
Result<PackedImage> made_smaller(Bytes image, int64_t short_side, int quality) {
  ImageRequest wish{.jpeg = {.dct = JpegDct::kIntegerAccurate}, .frames = Frames::kFirst, .exif_orientation = true};
  STOKER_TRY(const std::vector<int64_t> shape, image_shape(image, wish));
  const int64_t height = shape[0], width = shape[1], shorter = std::min(height, width);
  const bool turned = exif_orientation(image) != 1, smaller = shorter > short_side;
  if (!turned && !smaller) return PackedImage{};
  wish.channels = wish.jpeg.channels = shape[2] < 3 ? 1 : 3;  // JPEG has no alpha
  Context context;
  STOKER_TRY(const Array pixels, image_from(image, wish, context));
  PackedImage made{.resized = smaller, .turned = turned};
  if (!smaller) {
    STOKER_TRY(made.bytes, encoded(image_view(pixels), quality));
    return made;
  }
  const int64_t dims[] = {height * short_side / shorter, width * short_side / shorter, wish.channels};
  STOKER_TRY(Array small, Array::make(Dims(dims), DType::kUint8));
  STOKER_TRY(resize_image(image_view(pixels), image_view(small), {.manner = Manner::kPillow}));
  STOKER_TRY(made.bytes, encoded(image_view(std::as_const(small)), quality));
  return made;
}

}  // namespace

Result<PackedImage> packed_image(Bytes image, const PackOptions& options) {
  STOKER_TRY(check_image(image));
  PackedImage made;
  if (options.resize) {
    STOKER_TRY(made, made_smaller(image, *options.resize, options.quality.value_or(kPackQuality)));
  }
  const Bytes now = made.bytes ? Bytes(*made.bytes) : image;
  if (options.keep_bytes || format_of(now) != ImageFormat::kJpeg) return made;
  if (std::optional<std::string> rewritten = with_restart_markers(now)) {
    made.bytes = std::move(rewritten);
  } else {
    STOKER_TRY(decode_to_the_end(now));  // rewriting would have found what cannot be decoded
  }
  return made;
}

Result<PackedRecord> packed_record(const Array& image, int64_t label, Bytes path, const PackOptions& options) {
  STOKER_TRY(const PackedImage made, packed_image(image.bytes(), options));
  const int64_t how = (made.resized ? kResized : 0) | (made.turned ? kTurned : 0);
  return record_of(made.bytes ? Array::of_bytes(*made.bytes) : image, label, path, how);
}

}  // namespace stoker::prepare
