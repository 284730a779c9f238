#include "stoker/ops/decode.h"

#include <algorithm>

#include "stoker/ops/call.h"
#include "stoker/ops/image_bytes.h"
#include "stoker/ops/image_chain.h"
#include "stoker/ops/image_steps.h"
#include "stoker/ops/one_string.h"

namespace stoker {
namespace {

Result<void> check_channels(int channels, std::initializer_list<int> known) {
  if (std::ranges::find(known, channels) != known.end()) return {};
  std::string words;
  for (const int each : known) words += (words.empty() ? "" : ", ") + std::to_string(each);
  return Error::invalid("channels must be one of ", words, ", got ", channels);
}

Result<void> check_type(DType dtype, std::initializer_list<DType> known) {
  if (std::ranges::find(known, dtype) != known.end()) return {};
  std::string words;
  for (const DType each : known) words += (words.empty() ? "" : ", ") + std::string(name_of(each));
  return Error::invalid("dtype must be one of ", words, ", got ", name_of(dtype));
}

Result<JpegDct> dct_of(std::string_view like, std::string_view method = {}) {
  if (!like.empty() && like != "pillow") return Error::invalid("like must be '' or 'pillow', got '", like, "'");
  if (method.empty()) return like.empty() ? JpegDct::kIntegerFast : JpegDct::kIntegerAccurate;
  if (method == "INTEGER_ACCURATE") return JpegDct::kIntegerAccurate;
  if (method != "INTEGER_FAST")
    return Error::invalid("dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got '", method, "'");
  if (!like.empty()) return Error::invalid("dct_method INTEGER_FAST contradicts like='pillow'; set only one of them");
  return JpegDct::kIntegerFast;
}

Result<ImageRequest> wish_of(const DecodeJpeg& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3}));
  if (op.ratio != 1 && op.ratio != 2 && op.ratio != 4 && op.ratio != 8)
    return Error::invalid("ratio must be 1, 2, 4 or 8, got ", op.ratio);
  STOKER_TRY(const JpegDct dct, dct_of(op.like, op.dct_method));
  return ImageRequest{.channels = op.channels,
                      .jpeg = {.channels = op.channels,
                               .ratio = op.ratio,
                               .fancy_upscaling = op.fancy_upscaling,
                               .try_recover_truncated = op.try_recover_truncated,
                               .acceptable_fraction = static_cast<float>(op.acceptable_fraction),
                               .dct = dct},
                      .exif_orientation = op.exif_orientation};
}

Result<ImageRequest> wish_of(const DecodePng& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 2, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return ImageRequest{.channels = op.channels,
                      .dtype = op.dtype,
                      .jpeg = {.channels = op.channels, .dct = dct},
                      .exif_orientation = op.exif_orientation};
}

Result<ImageRequest> wish_of(const DecodeImage& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  STOKER_TRY(check_type(op.dtype, {DType::kUint8, DType::kUint16, DType::kFloat32}));
  STOKER_TRY(const JpegDct dct, dct_of(op.like));
  return ImageRequest{.channels = op.channels,
                      .dtype = op.dtype,
                      .jpeg = {.channels = op.channels, .try_recover_truncated = op.try_recover_truncated, .dct = dct},
                      .frames = op.expand_animations ? Frames::kOfMoving : Frames::kFirst,
                      .exif_orientation = op.exif_orientation};
}

Result<ImageRequest> wish_of(const DecodeBmp& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  return ImageRequest{.channels = op.channels, .jpeg = {.channels = op.channels}};
}

Result<ImageRequest> wish_of(const DecodeGif& op) {
  return ImageRequest{.channels = 3,
                      .jpeg = {.channels = 3, .try_recover_truncated = op.try_recover_truncated},
                      .frames = Frames::kOfEverything};
}

Result<ImageRequest> wish_of(const DecodeWebp& op) {
  STOKER_TRY(check_channels(op.channels, {0, 1, 3, 4}));
  return ImageRequest{.channels = op.channels, .jpeg = {.channels = op.channels}, .frames = Frames::kOfEverything};
}

template <typename Op>
Result<LeafSpec> spec_of(const Op& op, std::span<const LeafSpec> inputs) {
  STOKER_TRY(check_string(inputs[0], kImageBytes));
  STOKER_TRY(const ImageRequest wish, wish_of(op));
  return image_spec(wish);
}

template <typename Op>
Result<Array> image_view(const Op& op, std::span<const Array> inputs, Context& context) {
  STOKER_TRY(const ImageRequest wish, wish_of(op));
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kImageBytes));
  return image_from(bytes, wish, context);
}

// Contributes nothing if the orientation is applied, or if the pixels are not uint8.
template <typename Op>
Contribution decode_step(const Op& op) {
  const Result<ImageRequest> wish = wish_of(op);
  if (!wish || wish->exif_orientation || wish->dtype != DType::kUint8) return {};
  const auto decode = [op](const Array& bytes, Context& context) { return op.apply({&bytes, 1}, context); };
  return Contribution::of(DecodeStep{wish->jpeg, op.channels, decode});
}

}  // namespace

Result<LeafSpec> DecodeJpeg::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeJpeg::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}
Result<JpegOptions> DecodeJpeg::jpeg() const {
  STOKER_TRY(const ImageRequest wish, wish_of(*this));
  return wish.jpeg;
}
Chain DecodeJpeg::chain(std::span<const ChainLink> links) { return image_chain(links); }
Contribution DecodeJpeg::contribution() const { return decode_step(*this); }

Result<LeafSpec> DecodePng::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodePng::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}
Chain DecodePng::chain(std::span<const ChainLink> links) { return image_chain(links); }
Contribution DecodePng::contribution() const { return decode_step(*this); }

Result<LeafSpec> DecodeImage::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeImage::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}
Chain DecodeImage::chain(std::span<const ChainLink> links) { return image_chain(links); }
Contribution DecodeImage::contribution() const { return decode_step(*this); }

Result<LeafSpec> DecodeBmp::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeBmp::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}

Result<LeafSpec> DecodeGif::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeGif::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}

Result<LeafSpec> DecodeWebp::spec(std::span<const LeafSpec> inputs) const { return spec_of(*this, inputs); }
Result<Array> DecodeWebp::apply(std::span<const Array> inputs, Context& context) const {
  return image_view(*this, inputs, context);
}

Value io::decode_jpeg(Value contents, DecodeJpeg params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_png(Value contents, DecodePng params) { return call(std::move(params), {std::move(contents)}); }
Value io::decode_image(Value contents, DecodeImage params) { return call(std::move(params), {std::move(contents)}); }

Value io::decode_bmp(Value contents, DecodeBmp params) { return call(params, {std::move(contents)}); }
Value io::decode_gif(Value contents, DecodeGif params) { return call(params, {std::move(contents)}); }
Value io::decode_webp(Value contents, DecodeWebp params) { return call(params, {std::move(contents)}); }

}  // namespace stoker
