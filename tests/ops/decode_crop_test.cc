#include "stoker/ops/decode_crop.h"

#include "stoker/ops/crop.h"
#include "stoker/ops/decode.h"
#include "support/eval.h"
#include "support/jpegs.h"
#include "support/op_example.h"
#include "support/pngs.h"

namespace stoker {
namespace {

struct Box {
  int top = 0, left = 0, height = 1, width = 1;
};

Result<Array> cut(const std::string& bytes, Box box, DecodeAndCropJpeg params = {}) {
  return eval([=](Value x, Value window) { return io::decode_and_crop_jpeg(x, window, params); },
              {Array::of_bytes(bytes), Array::from(std::vector<int32_t>{box.top, box.left, box.height, box.width})},
              Shapes::kInPart);
}
Result<Array> decoded_then_cut(const std::string& bytes, Box box, DecodeJpeg params = {}) {
  const CropToBoundingBox window{box.top, box.left, box.height, box.width};
  return eval([=](Value x) { return image::crop_to_bounding_box(io::decode_jpeg(x, params), window); },
              {Array::of_bytes(bytes)}, Shapes::kInPart);
}
std::string complaint(const std::string& bytes, Box box, DecodeAndCropJpeg params = {}) {
  const Result<Array> image = cut(bytes, box, params);
  return image ? "" : image.error().message();
}

Arrays jpeg_and_window_rows(int64_t row) {
  const auto top = static_cast<int32_t>(row % 7);
  return {Array::of_bytes(make_jpeg({})), Array::from(std::vector<int32_t>{top, 3, 9, 11})};
}

OP_EXAMPLE(DecodeAndCropJpeg{.channels = 3}, jpeg_and_window_rows);

TEST(DecodeAndCropJpeg, EqualsDecodingAndCropping) {
  const std::vector<std::string> images{make_jpeg({}),
                                        make_jpeg({.across = 1, .down = 1}),
                                        make_jpeg({.progressive = true}),
                                        make_jpeg({.restart_interval = 1}),
                                        make_jpeg({.components = 1}),
                                        make_jpeg({.components = 4})};
  for (const std::string& image : images)
    for (const Box box : {Box{0, 0, 37, 53}, Box{3, 5, 20, 17}, Box{36, 52, 1, 1}, Box{0, 40, 37, 13}})
      EXPECT_EQ(*cut(image, box), *decoded_then_cut(image, box));
}

TEST(DecodeAndCropJpeg, HasTheParametersOfDecodeJpeg) {
  const std::string image = make_jpeg({});
  const Box box{2, 3, 11, 13};
  EXPECT_EQ(*cut(image, box, {.channels = 1, .ratio = 2}), *decoded_then_cut(image, box, {.channels = 1, .ratio = 2}));
  EXPECT_EQ(*cut(image, box, {.fancy_upscaling = false}), *decoded_then_cut(image, box, {.fancy_upscaling = false}));
  EXPECT_EQ(*cut(image, box, {.dct_method = "INTEGER_ACCURATE"}), *decoded_then_cut(image, box, {.like = "pillow"}));
  EXPECT_EQ(complaint(image, box, {.channels = 4}), "channels must be one of 0, 1, 3, got 4");
}

TEST(DecodeAndCropJpeg, RecoversTruncatedFilesIfRequested) {
  const std::string image = make_jpeg({}), broken = image.substr(0, image.size() * 3 / 4);
  const Box box{20, 3, 17, 13};
  EXPECT_EQ(cut(broken, box).error().code(), Code::kDataLoss);
  EXPECT_EQ(*cut(broken, box, {.try_recover_truncated = true}),
            *decoded_then_cut(broken, box, {.try_recover_truncated = true}));
  EXPECT_EQ(*cut(broken, box, {.acceptable_fraction = 0.3}),
            *decoded_then_cut(broken, box, {.acceptable_fraction = 0.3}));
}

TEST(DecodeAndCropJpeg, RejectsAWindowOutsideTheImage) {
  for (const DecodeAndCropJpeg& params : {DecodeAndCropJpeg{}, DecodeAndCropJpeg{.try_recover_truncated = true}}) {
    EXPECT_EQ(complaint(make_jpeg({}), {30, 0, 8, 53}, params),
              "a window of 8x53 at row 30 and column 0 does not fit an image of 37x53");
    EXPECT_NE(complaint(make_jpeg({}), {0, 0, 0, 5}, params), "");
    EXPECT_NE(complaint(make_jpeg({}), {-1, 0, 2, 5}, params), "");
  }
  const auto said = [](const Array& window) {
    return stoker::complaint([](Value x, Value box) { return io::decode_and_crop_jpeg(x, box); },
                             {Array::of_bytes(make_jpeg({})), window});
  };
  EXPECT_EQ(said(Array::from(std::vector<int32_t>{1, 2, 3})),
            "crop_window must be [row, column, height, width], got shape [3]");
  EXPECT_EQ(said(Array::from(std::vector<float>{0, 0, 1, 1})), "crop_window must be int32 or int64, got float32");
}

TEST(DecodeAndCropJpeg, RejectsOtherFormats) {
  EXPECT_EQ(complaint(make_png({.samples = {1, 2, 3}}), {0, 0, 1, 1}),
            "the data is PNG, expected JPEG; use decode_image and crop_to_bounding_box instead");
  EXPECT_EQ(complaint("%PDF-1.7", {0, 0, 1, 1}), "expected an image, got PDF");
}

}  // namespace
}  // namespace stoker
