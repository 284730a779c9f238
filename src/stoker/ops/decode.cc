#include "stoker/ops/decode.h"

#include <algorithm>

#include "stoker/ops/call.h"
#include "stoker/ops/one_string.h"
#include "stoker/ops/picture_bytes.h"
#include "stoker/ops/picture_chain.h"

namespace stoker {
namespace {

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

Result<PictureWish> wish_of(const DecodeJpeg& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3}));
  if (op.ratio != 1 && op.ratio != 2 && op.ratio != 4 && op.ratio != 8)
    return Error::invalid("ratio is ", op.ratio, ", it must be 1, 2, 4 or 8");
  STOKER_TRY(const JpegDct dct, dct_of(op.like, op.dct_method));
  return PictureWish{.channels = op.channels,
                     .jpeg = {.channels = op.channels,
                              .ratio = op.ratio,
                              .fancy_upscaling = op.fancy_upscaling,
                              .try_recover_truncated = op.try_recover_truncated,
                              .acceptable_fraction = static_cast<float>(op.acceptable_fraction),
                              .dct = dct},
                     .exif_orientation = op.exif_orientation};
}

Result<PictureWish> wish_of(const DecodePng& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 2, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return PictureWish{.channels = op.channels,
                     .dtype = op.dtype,
                     .jpeg = {.channels = op.channels, .dct = dct},
                     .exif_orientation = op.exif_orientation};
}

Result<PictureWish> wish_of(const DecodeImage& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16, DType::kFloat32}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return PictureWish{.channels = op.channels,
                     .dtype = op.dtype,
                     .jpeg = {.channels = op.channels, .try_recover_truncated = op.try_recover_truncated, .dct = dct},
                     .frames = op.expand_animations ? Frames::kOfMoving : Frames::kFirst,
                     .exif_orientation = op.exif_orientation};
}

Result<PictureWish> wish_of(const DecodeBmp& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  return PictureWish{.channels = op.channels, .jpeg = {.channels = op.channels}};
}

Result<PictureWish> wish_of(const DecodeGif& op) {
  return PictureWish{.channels = 3,
                     .jpeg = {.channels = 3, .try_recover_truncated = op.try_recover_truncated},
                     .frames = Frames::kOfEverything};
}

Result<PictureWish> wish_of(const DecodeWebp& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  return PictureWish{.channels = op.channels, .jpeg = {.channels = op.channels}, .frames = Frames::kOfEverything};
}

template <typename Op>
Result<LeafSpec> spec_of(const Op& op, std::span<const LeafSpec> inputs) {
  STOKER_TRY(check_string(inputs[0], kPictureBytes));
  STOKER_TRY(const PictureWish wish, wish_of(op));
  return picture_spec(wish);
}

template <typename Op>
Result<Array> picture_of(const Op& op, std::span<const Array> inputs, Context& context) {
  STOKER_TRY(const PictureWish wish, wish_of(op));
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kPictureBytes));
  return picture_from(bytes, wish, context);
}

template <typename Op>
Result<JpegOptions> jpeg_of(const Op& op) {
  STOKER_TRY(const PictureWish wish, wish_of(op));
  return wish.jpeg;
}

}  // namespace

Result<LeafSpec> DecodeJpeg::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeJpeg::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}
Result<JpegOptions> DecodeJpeg::jpeg() const { return jpeg_of(*this); }
Chain DecodeJpeg::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Result<LeafSpec> DecodePng::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodePng::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}
Result<JpegOptions> DecodePng::jpeg() const { return jpeg_of(*this); }
Chain DecodePng::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Result<LeafSpec> DecodeImage::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeImage::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}
Result<JpegOptions> DecodeImage::jpeg() const { return jpeg_of(*this); }
Chain DecodeImage::chain(std::span<const ChainLink> links) { return picture_chain(links); }

Result<LeafSpec> DecodeBmp::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeBmp::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}

Result<LeafSpec> DecodeGif::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeGif::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}

Result<LeafSpec> DecodeWebp::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeWebp::apply(std::span<const Array> inputs, Context& context) const {
  return picture_of(*this, inputs, context);
}

Value io::decode_jpeg(Value contents, DecodeJpeg params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_png(Value contents, DecodePng params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_image(Value contents, DecodeImage params) { return call(std::move(params), {std::move(contents)}); }

Value io::decode_bmp(Value contents, DecodeBmp params) { return call(params, {std::move(contents)}); }
Value io::decode_gif(Value contents, DecodeGif params) { return call(params, {std::move(contents)}); }
Value io::decode_webp(Value contents, DecodeWebp params) { return call(params, {std::move(contents)}); }

}  // namespace stoker
