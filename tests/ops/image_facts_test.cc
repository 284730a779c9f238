#include "stoker/ops/image_facts.h"

#include "support/eval.h"
#include "support/exifs.h"
#include "support/fixture.h"
#include "support/gifs.h"
#include "support/jpegs.h"
#include "support/op_example.h"
#include "support/pngs.h"

namespace stoker {
namespace {

Result<Array> shape_in(const std::string& bytes, ExtractShape params = {}) {
  return eval([=](Value x) { return io::extract_shape(x, params); }, {Array::of_bytes(bytes)}, Shapes::kInPart);
}
Result<Array> jpeg_shape_in(const std::string& bytes, ExtractJpegShape params = {}) {
  return eval([=](Value x) { return io::extract_jpeg_shape(x, params); }, {Array::of_bytes(bytes)});
}
bool is_jpeg(const std::string& bytes) {
  return eval([](Value x) { return io::is_jpeg(x); }, {Array::of_bytes(bytes)})->scalar<bool>();
}

Arrays jpeg_rows(int64_t row) {
  return {Array::of_bytes(make_jpeg({.height = 20 + static_cast<int>(row), .width = 30}))};
}

OP_EXAMPLE(IsJpeg{}, jpeg_rows);
OP_EXAMPLE(ExtractJpegShape{}, jpeg_rows);
OP_EXAMPLE(ExtractShape{.output_type = DType::kInt64}, jpeg_rows);

TEST(IsJpeg, ChecksTheFirstBytes) {
  EXPECT_TRUE(is_jpeg(make_jpeg({})));
  EXPECT_TRUE(is_jpeg("\xff\xd8\xff"));
  for (const std::string& bytes : {std::string(), std::string("\xff\xd8"), make_png({.samples = {1, 2, 3}})})
    EXPECT_FALSE(is_jpeg(bytes));
}

TEST(ExtractJpegShape, ReadsOnlyTheHeader) {
  const std::string jpeg = make_jpeg({});
  EXPECT_EQ(*jpeg_shape_in(jpeg), array<int32_t>({37, 53, 3}));
  EXPECT_EQ(*jpeg_shape_in(jpeg.substr(0, jpeg.size() / 2), {.output_type = DType::kInt64}),
            array<int64_t>({37, 53, 3}));
  EXPECT_EQ(*jpeg_shape_in(make_jpeg({.components = 1})), array<int32_t>({37, 53, 1}));
}

TEST(ExtractJpegShape, RejectsOtherFormats) {
  EXPECT_EQ(jpeg_shape_in(make_png({.samples = {1, 2, 3}})).error().message(),
            "the data is PNG, expected JPEG; use extract_shape for other formats");
  EXPECT_EQ(jpeg_shape_in("%PDF-1.7").error().message(), "expected an image, got PDF");
  EXPECT_EQ(jpeg_shape_in(make_jpeg({}).substr(0, 20)).error().code(), Code::kDataLoss);
  EXPECT_EQ(jpeg_shape_in(make_jpeg({}), {.output_type = DType::kUint8}).error().message(),
            "output_type must be int32 or int64, got uint8");
}

TEST(ExtractShape, ReturnsTheShapeOfDecodeImage) {
  EXPECT_EQ(*shape_in(make_jpeg({})), array<int32_t>({37, 53, 3}));
  EXPECT_EQ(*shape_in(make_png({.width = 2, .color_type = 4, .samples = {1, 2, 3, 4}})), array<int32_t>({1, 2, 2}));
  EXPECT_EQ(*shape_in(make_gif({{.width = 2, .indices = {1, 2}}})), array<int32_t>({1, 1, 2, 3}));
  EXPECT_EQ(*shape_in(make_gif({{.width = 2, .indices = {1, 2}}}), {.expand_animations = false}),
            array<int32_t>({1, 2, 3}));
  EXPECT_EQ(*shape_in(fixture("image_formats/still.webp")), array<int32_t>({5, 7, 3}));
  EXPECT_EQ(*shape_in(fixture("image_formats/animated.webp"), {.output_type = DType::kInt64}),
            array<int64_t>({3, 5, 7, 3}));
}

TEST(ExtractShape, AppliesTheExifOrientationIfRequested) {
  const std::string lying = with_exif(make_jpeg({}), exif_notes(6));
  EXPECT_EQ(*shape_in(lying), array<int32_t>({37, 53, 3}));
  EXPECT_EQ(*shape_in(lying, {.exif_orientation = true}), array<int32_t>({53, 37, 3}));
}

TEST(ExtractShape, RejectsBytesThatAreNotAnImage) {
  EXPECT_EQ(shape_in("").error().message(), "expected an image, got 0 bytes");
}

}  // namespace
}  // namespace stoker
