#include "stoker/ops/image_bytes.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "stoker/codecs/bmp.h"
#include "stoker/codecs/exif.h"
#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/gif.h"
#include "stoker/codecs/png.h"
#include "stoker/codecs/webp.h"
#include "stoker/image/flip.h"
#include "stoker/image/turn.h"
#include "stoker/ops/image_dims.h"

namespace stoker {
namespace {

PngOptions png_options(const ImageRequest& wish) {
  return {.channels = wish.channels, .bit_depth = wish.dtype == DType::kUint8 ? 8 : 16};
}
GifOptions gif_options(const ImageRequest& wish) {
  return {.channels = wish.channels,
          .first_only = wish.frames == Frames::kFirst,
          .try_recover_truncated = wish.jpeg.try_recover_truncated};
}
WebpOptions webp_options(const ImageRequest& wish) {
  return {.channels = wish.channels, .first_only = wish.frames == Frames::kFirst};
}

// PNG samples may have 16 bits; those of other formats have 8.
DType decoded_type(ImageFormat format, const ImageRequest& wish) {
  return format == ImageFormat::kPng && wish.dtype != DType::kUint8 ? DType::kUint16 : DType::kUint8;
}

Result<void> decode(ImageFormat format, Bytes bytes, const ImageRequest& wish, const PixelPlace& place) {
  switch (format) {
    case ImageFormat::kJpeg: return decode_jpeg(bytes, wish.jpeg, place);
    case ImageFormat::kPng: return decode_png(bytes, png_options(wish), place);
    case ImageFormat::kGif: return decode_gif(bytes, gif_options(wish), place);
    case ImageFormat::kBmp: return decode_bmp(bytes, {.channels = wish.channels}, place);
    case ImageFormat::kWebp: return decode_webp(bytes, webp_options(wish), place);
    case ImageFormat::kUnknown: break;
  }
  return not_a_image(bytes);
}

Result<ImageInfo> read_info(ImageFormat format, Bytes bytes, const ImageRequest& wish) {
  switch (format) {
    case ImageFormat::kJpeg: return jpeg_info(bytes, wish.jpeg);
    case ImageFormat::kPng: return png_info(bytes, png_options(wish));
    case ImageFormat::kGif: return gif_info(bytes, gif_options(wish));
    case ImageFormat::kBmp: return bmp_info(bytes, {.channels = wish.channels});
    case ImageFormat::kWebp: return webp_info(bytes, webp_options(wish));
    case ImageFormat::kUnknown: break;
  }
  return not_a_image(bytes);
}

Result<void> check_frames(ImageFormat format, const ImageInfo& info, const ImageRequest& wish) {
  if (wish.frames != Frames::kOne || info.frames == 1) return {};
  return Error::invalid(
      "the ", name_of(format), " has ", info.frames,
      " frames, expected one; use decode_image for all frames, with expand_animations=False for the first one");
}

// Returns whether the result has an axis for frames.
bool has_frames(ImageFormat format, const ImageInfo& info, Frames frames) {
  if (frames == Frames::kOfEverything) return true;
  return frames == Frames::kOfMoving && (format == ImageFormat::kGif || info.frames > 1);
}

// Converts the decoder's samples to the requested type: integers by factors of 2^8, floats to 0 to 1.
template <typename From>
void scale(const Array& image, Array& out) {
  const auto from = image.values<From>();
  if (out.type() == DType::kUint16) {
    std::ranges::transform(from, out.mutable_values<uint16_t>().begin(),
                           [](From sample) { return static_cast<uint16_t>(sample * 256); });
    return;
  }
  const float factor = 1.0f / static_cast<float>(std::numeric_limits<From>::max());
  std::ranges::transform(from, out.mutable_values<float>().begin(),
                         [factor](From sample) { return static_cast<float>(sample) * factor; });
}

bool swaps_sides(int orientation) { return orientation >= 5; }

// Applies the EXIF orientation. A transposed image is first written to `scratch`.
void turn(const ImageView& from, int orientation, const MutableImageView& scratch, const MutableImageView& to) {
  switch (orientation) {
    case 2: return flip_left_right(from, to);
    case 3: return rotate_image(from, 2, to);
    case 4: return flip_up_down(from, to);
    case 5: return transpose_pixels(from, to);
    case 6: return rotate_image(from, 3, to);
    case 7: rotate_image(from, 1, scratch); return flip_left_right(scratch, to);
    default: return rotate_image(from, 1, to);
  }
}

std::vector<int64_t> turned_dims(Dims dims, int orientation) {
  std::vector<int64_t> turned(dims.begin(), dims.end());
  if (swaps_sides(orientation)) std::swap(turned[turned.size() - 3], turned[turned.size() - 2]);
  return turned;
}

Result<void> turn_all(const Array& from, int orientation, Array& to) {
  Array scratch;
  if (orientation == 7) {
    STOKER_TRY(scratch, Array::make(to.shape(), to.type()));
  }
  for (int64_t i = 0; i < images_in(from.shape()); ++i)
    turn(image_view(from, i), orientation, orientation == 7 ? image_view(scratch, i) : MutableImageView{},
         image_view(to, i));
  return {};
}

}  // namespace

LeafSpec image_spec(const ImageRequest& wish) {
  const int64_t channels = wish.channels > 0 ? wish.channels : -1;
  if (wish.frames == Frames::kOfMoving) return {wish.dtype, std::nullopt};
  if (wish.frames == Frames::kOfEverything) return {wish.dtype, std::vector<int64_t>{-1, -1, -1, channels}};
  return {wish.dtype, std::vector<int64_t>{-1, -1, channels}};
}

Result<Array> image_from(Bytes bytes, const ImageRequest& wish, Context& context) {
  const ImageFormat format = format_of(bytes);
  const DType type = decoded_type(format, wish);
  const int orientation = wish.exif_orientation ? exif_orientation(bytes) : 1;
  const bool turns = orientation != 1, scales = type != wish.dtype;
  Array image;
  STOKER_TRY(decode(format, bytes, wish, [&](const ImageInfo& info) -> Result<PixelRows> {
    STOKER_TRY(check_frames(format, info, wish));
    const int64_t dims[] = {info.frames, info.height, info.width, info.channels};
    const Dims shape = has_frames(format, info, wish.frames) ? Dims(dims) : Dims(dims).subspan(1);
    STOKER_TRY(image, turns || scales ? context.scratch(shape, type) : context.result(shape, type));
    return PixelRows{static_cast<std::byte*>(image.mutable_raw()),
                     info.width * info.channels * static_cast<int64_t>(size_of(type))};
  }));
  if (turns) {
    const std::vector<int64_t> shape = turned_dims(image.shape(), orientation);
    STOKER_TRY(Array upright, scales ? context.scratch(shape, type) : context.result(shape, type));
    STOKER_TRY(turn_all(image, orientation, upright));
    image = std::move(upright);
  }
  if (!scales) return image;
  STOKER_TRY(Array scaled, context.result(image.shape(), wish.dtype));
  type == DType::kUint8 ? scale<uint8_t>(image, scaled) : scale<uint16_t>(image, scaled);
  return scaled;
}

Result<std::vector<int64_t>> image_shape(Bytes bytes, const ImageRequest& wish) {
  const ImageFormat format = format_of(bytes);
  STOKER_TRY(ImageInfo info, read_info(format, bytes, wish));
  STOKER_TRY(check_frames(format, info, wish));
  if (wish.exif_orientation && swaps_sides(exif_orientation(bytes))) std::swap(info.height, info.width);
  if (!has_frames(format, info, wish.frames)) return std::vector<int64_t>{info.height, info.width, info.channels};
  return std::vector<int64_t>{info.frames, info.height, info.width, info.channels};
}

}  // namespace stoker
