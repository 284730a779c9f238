#include "stoker/ops/picture_bytes.h"

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
#include "stoker/ops/picture_dims.h"

namespace stoker {
namespace {

PngOptions png_options(const PictureWish& wish) {
  return {.channels = wish.channels, .bit_depth = wish.dtype == DType::kUint8 ? 8 : 16};
}
GifOptions gif_options(const PictureWish& wish) {
  return {.channels = wish.channels,
          .first_only = wish.frames == Frames::kFirst,
          .try_recover_truncated = wish.jpeg.try_recover_truncated};
}
WebpOptions webp_options(const PictureWish& wish) {
  return {.channels = wish.channels, .first_only = wish.frames == Frames::kFirst};
}

// The samples of PNG may have 16 bits; those of other formats have 8.
DType decoded_type(PictureFormat format, const PictureWish& wish) {
  return format == PictureFormat::kPng && wish.dtype != DType::kUint8 ? DType::kUint16 : DType::kUint8;
}

Result<void> decode(PictureFormat format, Bytes bytes, const PictureWish& wish, const PixelPlace& place) {
  switch (format) {
    case PictureFormat::kJpeg: return decode_jpeg(bytes, wish.jpeg, place);
    case PictureFormat::kPng: return decode_png(bytes, png_options(wish), place);
    case PictureFormat::kGif: return decode_gif(bytes, gif_options(wish), place);
    case PictureFormat::kBmp: return decode_bmp(bytes, {.channels = wish.channels}, place);
    case PictureFormat::kWebp: return decode_webp(bytes, webp_options(wish), place);
    case PictureFormat::kUnknown: break;
  }
  return not_a_picture(bytes);
}

Result<PictureInfo> read_info(PictureFormat format, Bytes bytes, const PictureWish& wish) {
  switch (format) {
    case PictureFormat::kJpeg: return jpeg_info(bytes, wish.jpeg);
    case PictureFormat::kPng: return png_info(bytes, png_options(wish));
    case PictureFormat::kGif: return gif_info(bytes, gif_options(wish));
    case PictureFormat::kBmp: return bmp_info(bytes, {.channels = wish.channels});
    case PictureFormat::kWebp: return webp_info(bytes, webp_options(wish));
    case PictureFormat::kUnknown: break;
  }
  return not_a_picture(bytes);
}

Result<void> check_frames(PictureFormat format, const PictureInfo& info, const PictureWish& wish) {
  if (wish.frames != Frames::kOne || info.frames == 1) return {};
  return Error::invalid("a ", name_of(format), " of ", info.frames,
                        " frames; decode_image gives them, or the first one with ", "expand_animations=False");
}

// A dim for frames, or not.
bool has_frames(PictureFormat format, const PictureInfo& info, Frames frames) {
  if (frames == Frames::kOfEverything) return true;
  return frames == Frames::kOfMoving && (format == PictureFormat::kGif || info.frames > 1);
}

// The decoder's samples in the type that was asked for: integers by factors of
// 2^8, floats from 0 to 1.
template <typename From>
void scale(const Array& picture, Array& out) {
  const auto from = picture.values<From>();
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

// From how it lies to upright. Mirrored and turned by a quarter goes through `scratch`.
void turn(const ImageView& from, int orientation, const MutableImageView& scratch, const MutableImageView& to) {
  switch (orientation) {
    case 2: return flip_left_right(from, to);
    case 3: return rotate_picture(from, 2, to);
    case 4: return flip_up_down(from, to);
    case 5: return transpose_picture(from, to);
    case 6: return rotate_picture(from, 3, to);
    case 7: rotate_picture(from, 1, scratch); return flip_left_right(scratch, to);
    default: return rotate_picture(from, 1, to);
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
    STOKER_TRY(scratch, Array::make(to.dims(), to.type()));
  }
  for (int64_t i = 0; i < pictures_in(from.dims()); ++i)
    turn(picture_of(from, i), orientation, orientation == 7 ? picture_of(scratch, i) : MutableImageView{},
         picture_of(to, i));
  return {};
}

}  // namespace

LeafSpec picture_spec(const PictureWish& wish) {
  const int64_t channels = wish.channels > 0 ? wish.channels : -1;
  if (wish.frames == Frames::kOfMoving) return {wish.dtype, std::nullopt};
  if (wish.frames == Frames::kOfEverything) return {wish.dtype, std::vector<int64_t>{-1, -1, -1, channels}};
  return {wish.dtype, std::vector<int64_t>{-1, -1, channels}};
}

Result<Array> picture_from(Bytes bytes, const PictureWish& wish, Context& context) {
  const PictureFormat format = format_of(bytes);
  const DType type = decoded_type(format, wish);
  const int orientation = wish.exif_orientation ? exif_orientation(bytes) : 1;
  const bool turns = orientation != 1, scales = type != wish.dtype;
  Array picture;
  STOKER_TRY(decode(format, bytes, wish, [&](const PictureInfo& info) -> Result<PixelRows> {
    STOKER_TRY(check_frames(format, info, wish));
    const int64_t dims[] = {info.frames, info.height, info.width, info.channels};
    const Dims shape = has_frames(format, info, wish.frames) ? Dims(dims) : Dims(dims).subspan(1);
    STOKER_TRY(picture, turns || scales ? context.scratch(shape, type) : context.result(shape, type));
    return PixelRows{static_cast<std::byte*>(picture.mutable_raw()),
                     info.width * info.channels * static_cast<int64_t>(size_of(type))};
  }));
  if (turns) {
    const std::vector<int64_t> shape = turned_dims(picture.dims(), orientation);
    STOKER_TRY(Array upright, scales ? context.scratch(shape, type) : context.result(shape, type));
    STOKER_TRY(turn_all(picture, orientation, upright));
    picture = std::move(upright);
  }
  if (!scales) return picture;
  STOKER_TRY(Array scaled, context.result(picture.dims(), wish.dtype));
  type == DType::kUint8 ? scale<uint8_t>(picture, scaled) : scale<uint16_t>(picture, scaled);
  return scaled;
}

Result<std::vector<int64_t>> picture_shape(Bytes bytes, const PictureWish& wish) {
  const PictureFormat format = format_of(bytes);
  STOKER_TRY(PictureInfo info, read_info(format, bytes, wish));
  STOKER_TRY(check_frames(format, info, wish));
  if (wish.exif_orientation && swaps_sides(exif_orientation(bytes))) std::swap(info.height, info.width);
  if (!has_frames(format, info, wish.frames)) return std::vector<int64_t>{info.height, info.width, info.channels};
  return std::vector<int64_t>{info.frames, info.height, info.width, info.channels};
}

}  // namespace stoker
