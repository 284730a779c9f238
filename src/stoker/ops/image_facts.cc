#include "stoker/ops/image_facts.h"

#include <algorithm>

#include "stoker/codecs/file_kind.h"
#include "stoker/ops/call.h"
#include "stoker/ops/image_bytes.h"
#include "stoker/ops/one_string.h"

namespace stoker {
namespace {

Result<void> check_type(DType type) {
  if (type == DType::kInt32 || type == DType::kInt64) return {};
  return Error::invalid("output_type must be int32 or int64, got ", name_of(type));
}

Result<Array> numbers(std::span<const int64_t> values, DType type, Context& context) {
  STOKER_TRY(Array result, context.result({{static_cast<int64_t>(values.size())}}, type));
  if (type == DType::kInt64) {
    std::ranges::copy(values, result.mutable_values<int64_t>().begin());
  } else {
    std::ranges::transform(values, result.mutable_values<int32_t>().begin(),
                           [](int64_t value) { return static_cast<int32_t>(value); });
  }
  return result;
}

}  // namespace

Result<LeafSpec> IsJpeg::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kImageBytes));
  return LeafSpec{DType::kBool, std::vector<int64_t>{}};
}
Result<Array> IsJpeg::apply(std::span<const Array> inputs, Context&) const {
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kImageBytes));
  return Array::of(format_of(bytes) == ImageFormat::kJpeg);
}

Result<LeafSpec> ExtractJpegShape::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kImageBytes));
  STOKER_TRY(check_type(output_type));
  return LeafSpec{output_type, std::vector<int64_t>{3}};
}
Result<Array> ExtractJpegShape::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_type(output_type));
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kImageBytes));
  const ImageFormat format = format_of(bytes);
  if (format == ImageFormat::kUnknown) return not_a_image(bytes);
  if (format != ImageFormat::kJpeg)
    return Error::invalid("the data is ", name_of(format), ", expected JPEG; use extract_shape for other formats");
  STOKER_TRY(const ImageInfo info, jpeg_info(bytes));
  const int64_t shape[] = {info.height, info.width, info.channels};
  return numbers(shape, output_type, context);
}

Result<LeafSpec> ExtractShape::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kImageBytes));
  STOKER_TRY(check_type(output_type));
  return LeafSpec{output_type, std::vector<int64_t>{expand_animations ? -1 : 3}};
}
Result<Array> ExtractShape::apply(std::span<const Array> inputs, Context& context) const {
  STOKER_TRY(check_type(output_type));
  STOKER_TRY(const Bytes bytes, string_of(inputs[0], kImageBytes));
  STOKER_TRY(const std::vector<int64_t> shape,
             image_shape(bytes, {.frames = expand_animations ? Frames::kOfMoving : Frames::kFirst,
                                 .exif_orientation = exif_orientation}));
  return numbers(shape, output_type, context);
}

Value io::is_jpeg(Value contents) { return call(IsJpeg{}, {std::move(contents)}); }
Value io::extract_jpeg_shape(Value contents, ExtractJpegShape params) { return call(params, {std::move(contents)}); }
Value io::extract_shape(Value contents, ExtractShape params) { return call(params, {std::move(contents)}); }

}  // namespace stoker
