#include "stoker/ops/decode.h"

#include <algorithm>

#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/jpeg.h"
#include "stoker/codecs/png.h"
#include "stoker/ops/call.h"
#include "stoker/ops/one_string.h"
#include "stoker/ops/picture_chain.h"

namespace stoker {
namespace {

constexpr std::string_view kWhat = "a picture's bytes";

// What is asked of a picture of any format.
struct Wish {
  int channels = 0;
  DType dtype = DType::kUint8;
  JpegOptions jpeg = {};
};

Result<void> check_channels(int channels, std::initializer_list<int> known) {
  if (std::ranges::find(known, channels) != known.end()) return {};
  std::string words;
  for (const int each : known) words += (words.empty() ? "" : ", ") + std::to_string(each);
  return Error::invalid("channels is ", channels, ", it must be one of ", words);
}

Result<void> check_type(DType dtype, std::initializer_list<DType> known) {
  if (std::ranges::find(known, dtype) != known.end()) return {};
  std::string words;
  for (const DType each : known) words += (words.empty() ? "" : ", ") + std::string(name_of(each));
  return Error::invalid("dtype is ", name_of(dtype), ", it must be one of ", words);
}

Result<JpegDct> dct_of(std::string_view like, std::string_view method = {}) {
  if (!like.empty() && like != "pillow") return Error::invalid("like is '", like, "', it must be '' or 'pillow'");
  if (method.empty()) return like.empty() ? JpegDct::kIntegerFast : JpegDct::kIntegerAccurate;
  if (method == "INTEGER_ACCURATE") return JpegDct::kIntegerAccurate;
  if (method != "INTEGER_FAST")
    return Error::invalid("dct_method is '", method, "', it must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'");
  if (!like.empty()) return Error::invalid("dct_method is INTEGER_FAST and like is 'pillow', which are two pictures");
  return JpegDct::kIntegerFast;
}

Result<Wish> wish_of(const DecodeJpeg& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3}));
  if (op.ratio != 1 && op.ratio != 2 && op.ratio != 4 && op.ratio != 8)
    return Error::invalid("ratio is ", op.ratio, ", it must be 1, 2, 4 or 8");
  STOKER_TRY(const JpegDct dct, dct_of(op.like, op.dct_method));
  return Wish{.channels = op.channels,
              .jpeg = {.channels = op.channels,
                       .ratio = op.ratio,
                       .fancy_upscaling = op.fancy_upscaling,
                       .try_recover_truncated = op.try_recover_truncated,
                       .acceptable_fraction = static_cast<float>(op.acceptable_fraction),
                       .dct = dct}};
}

Result<Wish> wish_of(const DecodePng& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 2, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return Wish{op.channels, op.dtype, {.channels = op.channels, .dct = dct}};
}

Result<Wish> wish_of(const DecodeImage& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16, DType::kFloat32}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return Wish{op.channels, op.dtype, {.channels = op.channels, .dct = dct}};
}

// Where a decoder writes: rows of an array that is made when the size is known.
template <typename Make>
auto place_in(Array& picture, DType type, Make make) {
  return [&picture, type, make](const PictureInfo& info) -> Result<PixelRows> {
    const int64_t dims[] = {info.height, info.width, info.channels};
    STOKER_TRY(picture, make(Dims(dims), type));
    return PixelRows{static_cast<std::byte*>(picture.raw()),
                     info.width * info.channels * static_cast<int64_t>(size_of(type))};
  };
}

// The decoder's samples in the type that was asked for: integers by factors of
// 2^8, floats from 0 to 1.
template <typename From>
Result<Array> scaled(const Array& picture, DType type, Context& context) {
  STOKER_TRY(Array out, context.result(picture.dims(), type));
  const auto from = picture.values<From>();
  if (type == DType::kUint16) {
    std::ranges::transform(from, out.mutable_values<uint16_t>().begin(),
                           [](From sample) { return static_cast<uint16_t>(sample * 256); });
    return out;
  }
  const float scale = 1.0f / static_cast<float>(std::numeric_limits<From>::max());
  std::ranges::transform(from, out.mutable_values<float>().begin(),
                         [scale](From sample) { return static_cast<float>(sample) * scale; });
  return out;
}

Result<Array> jpeg_of(Bytes bytes, const Wish& wish, Context& context) {
  Array picture;
  if (wish.dtype == DType::kUint8) {
    const auto make = [&](Dims dims, DType type) { return context.result(dims, type); };
    STOKER_TRY(decode_jpeg(bytes, wish.jpeg, place_in(picture, DType::kUint8, make)));
    return picture;
  }
  const auto make = [&](Dims dims, DType type) { return context.scratch(dims, type); };
  STOKER_TRY(decode_jpeg(bytes, wish.jpeg, place_in(picture, DType::kUint8, make)));
  return scaled<uint8_t>(picture, wish.dtype, context);
}

Result<Array> png_of(Bytes bytes, const Wish& wish, Context& context) {
  Array picture;
  const PngOptions options{.channels = wish.channels, .bit_depth = wish.dtype == DType::kUint8 ? 8 : 16};
  if (wish.dtype != DType::kFloat32) {
    const auto make = [&](Dims dims, DType type) { return context.result(dims, type); };
    STOKER_TRY(decode_png(bytes, options, place_in(picture, wish.dtype, make)));
    return picture;
  }
  const auto make = [&](Dims dims, DType type) { return context.scratch(dims, type); };
  STOKER_TRY(decode_png(bytes, options, place_in(picture, DType::kUint16, make)));
  return scaled<uint16_t>(picture, wish.dtype, context);
}

Result<Array> picture_of(std::span<const Array> inputs, const Wish& wish, Context& context) {
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kWhat));
  const PictureFormat format = format_of(bytes);
  switch (format) {
    case PictureFormat::kJpeg: return jpeg_of(bytes, wish, context);
    case PictureFormat::kPng: return png_of(bytes, wish, context);
    case PictureFormat::kUnknown: return not_a_picture(bytes);
    default: return Error::unimplemented("a ", name_of(format), " picture, which is not decoded; JPEG and PNG are");
  }
}

LeafSpec spec_of(const Wish& wish) {
  return {wish.dtype, std::vector<int64_t>{-1, -1, wish.channels > 0 ? wish.channels : -1}};
}

}  // namespace

Result<LeafSpec> DecodeJpeg::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kWhat));
  STOKER_TRY(const Wish wish, wish_of(*this));
  return spec_of(wish);
}

Result<Array> DecodeJpeg::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return picture_of(inputs, wish, context);
}

Result<LeafSpec> DecodePng::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kWhat));
  STOKER_TRY(const Wish wish, wish_of(*this));
  return spec_of(wish);
}

Result<Array> DecodePng::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return picture_of(inputs, wish, context);
}

Result<LeafSpec> DecodeImage::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kWhat));
  STOKER_TRY(const Wish wish, wish_of(*this));
  return spec_of(wish);
}

Result<Array> DecodeImage::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return picture_of(inputs, wish, context);
}

Result<JpegOptions> DecodeJpeg::jpeg() const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return wish.jpeg;
}
Chain DecodeJpeg::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Result<JpegOptions> DecodePng::jpeg() const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return wish.jpeg;
}
Chain DecodePng::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Result<JpegOptions> DecodeImage::jpeg() const {
  STOKER_TRY(const Wish wish, wish_of(*this));
  return wish.jpeg;
}
Chain DecodeImage::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Value io::decode_jpeg(Value contents, DecodeJpeg params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_png(Value contents, DecodePng params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_image(Value contents, DecodeImage params) { return call(std::move(params), {std::move(contents)}); }

}  // namespace stoker
