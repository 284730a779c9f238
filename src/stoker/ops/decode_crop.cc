#include "stoker/ops/decode_crop.h"

#include <cstring>

#include "stoker/codecs/file_kind.h"
#include "stoker/codecs/jpeg.h"
#include "stoker/ops/call.h"
#include "stoker/ops/decode.h"
#include "stoker/ops/image_bytes.h"
#include "stoker/ops/one_string.h"

namespace stoker {
namespace {

Result<JpegOptions> options_of(const DecodeAndCropJpeg& op) {
  return DecodeJpeg{.channels = op.channels,
                    .ratio = op.ratio,
                    .fancy_upscaling = op.fancy_upscaling,
                    .try_recover_truncated = op.try_recover_truncated,
                    .acceptable_fraction = op.acceptable_fraction,
                    .dct_method = op.dct_method,
                    .like = op.like}
      .jpeg();
}

Result<void> check_window(const LeafSpec& window) {
  if (window.type && *window.type != DType::kInt32 && *window.type != DType::kInt64)
    return Error::invalid("crop_window must be int32 or int64, got ", name_of(*window.type));
  if (window.shape && (window.shape->size() != 1 || (window.shape->front() != -1 && window.shape->front() != 4)))
    return Error::invalid("crop_window must be [row, column, height, width], got shape ", shape_text(*window.shape));
  return {};
}

Result<ImageRegion> window_of(const Array& window) {
  STOKER_TRY(check_window(Spec::of(window).leaves[0]));
  const auto at = [&](size_t i) {
    return window.type() == DType::kInt32 ? int64_t{window.values<int32_t>()[i]} : window.values<int64_t>()[i];
  };
  return ImageRegion{at(0), at(1), at(2), at(3)};
}

// Copies the first `channels` bytes of each pixel, which has `from` bytes.
void pack(const uint8_t* row, int from, int64_t width, int64_t channels, uint8_t* to) {
  if (from == channels) {
    std::memcpy(to, row, static_cast<size_t>(width * channels));
    return;
  }
  for (int64_t x = 0; x < width; ++x)
    for (int64_t c = 0; c < channels; ++c) *to++ = row[x * from + c];
}

Result<Array> decode_window(Bytes bytes, const JpegOptions& options, const ImageRegion& window, Context& context) {
  Array image;
  const auto choose = [&](const ImageInfo&) -> Result<ImageRegion> { return window; };
  const auto use = [&](const ImageInfo& info, JpegRows& rows) -> Result<void> {
    STOKER_TRY(image, context.result({{window.height, window.width, info.channels}}, DType::kUint8));
    auto* to = image.mutable_values<uint8_t>().data();
    for (int64_t y = 0; y < window.height; ++y, to += window.width * info.channels) {
      const void* row = nullptr;
      STOKER_TRY(rows.rows(y, 1, &row));
      pack(static_cast<const uint8_t*>(row), rows.pixel(), window.width, info.channels, to);
    }
    return {};
  };
  STOKER_TRY(decode_jpeg_rows(bytes, options, {choose, use}));
  return image;
}

// The missing pixels of a truncated file are filled only after the whole file was read.
Result<Array> decode_then_cut(Bytes bytes, const JpegOptions& options, const ImageRegion& window, Context& context) {
  Array whole;
  STOKER_TRY(decode_jpeg(bytes, options, [&](const ImageInfo& info) -> Result<PixelRows> {
    STOKER_TRY(check_inside(window, info));
    STOKER_TRY(whole, context.scratch({{info.height, info.width, info.channels}}, DType::kUint8));
    return PixelRows{static_cast<std::byte*>(whole.mutable_raw()), info.width * info.channels};
  }));
  const int64_t channels = whole.dim(2);
  STOKER_TRY(Array image, context.result({{window.height, window.width, channels}}, DType::kUint8));
  auto* to = image.mutable_values<uint8_t>().data();
  for (int64_t y = 0; y < window.height; ++y) {
    const uint8_t* row = whole.values<uint8_t>().data() + ((window.top + y) * whole.dim(1) + window.left) * channels;
    pack(row, static_cast<int>(channels), window.width, channels, to + y * window.width * channels);
  }
  return image;
}

}  // namespace

Result<LeafSpec> DecodeAndCropJpeg::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kImageBytes));
  STOKER_TRY(check_window(inputs[1]));
  STOKER_TRY(options_of(*this));
  return LeafSpec{DType::kUint8, std::vector<int64_t>{-1, -1, channels > 0 ? channels : -1}};
}

Result<Array> DecodeAndCropJpeg::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(const JpegOptions options, options_of(*this));
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kImageBytes));
  STOKER_TRY(const ImageRegion window, window_of(inputs[1]));
  const ImageFormat format = format_of(bytes);
  if (format == ImageFormat::kUnknown) return not_a_image(bytes);
  if (format != ImageFormat::kJpeg)
    return Error::invalid("the data is ", name_of(format),
                          ", expected JPEG; use decode_image and crop_to_bounding_box instead");
  const bool recovers = options.try_recover_truncated || options.acceptable_fraction < 1;
  return (recovers ? decode_then_cut : decode_window)(bytes, options, window, context);
}

Value io::decode_and_crop_jpeg(Value contents, Value crop_window, DecodeAndCropJpeg params) {
  return call(std::move(params), {std::move(contents), std::move(crop_window)});
}

}  // namespace stoker
