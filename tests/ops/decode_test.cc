#include "stoker/ops/decode.h"

#include "stoker/codecs/png.h"
#include "stoker/ops/image_basics.h"
#include "stoker/ops/turn.h"
#include "support/eval.h"
#include "support/exifs.h"
#include "support/fixture.h"
#include "support/gifs.h"
#include "support/jpegs.h"
#include "support/op_example.h"
#include "support/pngs.h"
#include "support/support.h"

namespace stoker {
namespace {

// Returns a function that calls one of the decoders: decoder<DecodePng>({.channels = 3}).
Value decode(Value bytes, DecodeJpeg params) { return io::decode_jpeg(std::move(bytes), std::move(params)); }
Value decode(Value bytes, DecodePng params) { return io::decode_png(std::move(bytes), std::move(params)); }
Value decode(Value bytes, DecodeImage params) { return io::decode_image(std::move(bytes), std::move(params)); }
Value decode(Value bytes, DecodeBmp params) { return io::decode_bmp(std::move(bytes), params); }
Value decode(Value bytes, DecodeGif params) { return io::decode_gif(std::move(bytes), params); }
Value decode(Value bytes, DecodeWebp params) { return io::decode_webp(std::move(bytes), params); }

template <typename Op>
Result<Array> decoded(const std::string& bytes, Op op = {}) {
  return eval([op](Value x) { return decode(x, op); }, {Array::of_bytes(bytes)}, Shapes::kInPart);
}
template <typename Op>
std::string complaint_of(const std::string& bytes, Op op = {}) {
  const Result<Array> image = decoded(bytes, op);
  return image ? "" : image.error().message();
}

const std::string& jpeg() {
  static const std::string bytes = make_jpeg({});
  return bytes;
}
const std::string& png() {
  static const std::string bytes = make_png({.height = 2, .width = 1, .samples = {1, 2, 3, 4, 5, 255}});
  return bytes;
}

// Images of different sizes.
Arrays jpeg_rows(int64_t row) {
  return {Array::of_bytes(make_jpeg({.height = 20 + static_cast<int>(row), .width = 30}))};
}
Arrays png_rows(int64_t row) {
  return {Array::of_bytes(make_png({.height = 1, .width = 1, .samples = {1, 2, static_cast<uint16_t>(row)}}))};
}
Arrays gif_rows(int64_t row) {
  return {
      Array::of_bytes(make_gif({{.width = 2, .indices = {1, 2}}, {.left = 1, .indices = {static_cast<int>(row)}}}))};
}
Arrays bmp_rows(int64_t row) {
  return {Array::of_bytes("BM" + le32(0) + le32(0) + le32(54) + le32(40) + le32(1) + le32(1) + le16(1) + le16(24) +
                          std::string(24, 0) + "\1\2" + static_cast<char>(row))};
}
Arrays webp_rows(int64_t row) {
  const char* names[] = {"still", "lossy", "alpha"};
  return {Array::of_bytes(fixture("image_formats/" + std::string(names[row % 3]) + ".webp"))};
}

OP_EXAMPLE(DecodeJpeg{.channels = 3}, jpeg_rows);
OP_EXAMPLE(DecodePng{.channels = 1}, png_rows);
OP_EXAMPLE(DecodeImage{.channels = 3}, png_rows);
OP_EXAMPLE(DecodeImage{}, gif_rows);
OP_EXAMPLE(DecodeBmp{}, bmp_rows);
OP_EXAMPLE(DecodeGif{}, gif_rows);
OP_EXAMPLE(DecodeWebp{.channels = 4}, webp_rows);

TEST(Decode, ReturnsThePixelsOfTensorFlowForAJpeg) {
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg()), array(bare_decode(jpeg(), {.fast = true}), {37, 53, 3}));
  EXPECT_EQ(*decoded<DecodeImage>(jpeg()), *decoded<DecodeJpeg>(jpeg()));
}

TEST(Decode, ReturnsThePixelsOfPillowIfRequested) {
  const Array pillow = array(bare_decode(jpeg(), {.fast = false}), {37, 53, 3});
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodeImage>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodePng>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.dct_method = "INTEGER_ACCURATE"}), pillow);
}

TEST(Decode, PassesItsParametersToTheJpegDecoder) {
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.channels = 1, .ratio = 2}),
            array(bare_decode(jpeg(), {.components = 1, .ratio = 2}), {19, 27, 1}));
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.fancy_upscaling = false}),
            array(bare_decode(jpeg(), {.fancy = false}), {37, 53, 3}));
  const std::string cut = jpeg().substr(0, jpeg().size() * 3 / 4);
  EXPECT_EQ(decoded<DecodeJpeg>(cut).error().code(), Code::kDataLoss);
  EXPECT_TRUE(decoded<DecodeJpeg>(cut, {.try_recover_truncated = true}).ok());
  EXPECT_TRUE(decoded<DecodeJpeg>(cut, {.acceptable_fraction = 0.3}).ok());
}

TEST(Decode, ReturnsThePixelsOfAPng) {
  EXPECT_EQ(*decoded<DecodePng>(png()), array<uint8_t>({1, 2, 3, 4, 5, 255}, {2, 1, 3}));
  EXPECT_EQ(*decoded<DecodePng>(png(), {.channels = 4}), array<uint8_t>({1, 2, 3, 255, 4, 5, 255, 255}, {2, 1, 4}));
  EXPECT_EQ(*decoded<DecodePng>(png(), {.dtype = DType::kUint16}),
            array<uint16_t>({257, 514, 771, 1028, 1285, 65535}, {2, 1, 3}));
}

TEST(Decode, RecognizesTheFormatByTheBytes) {
  EXPECT_EQ(*decoded<DecodeJpeg>(png()), *decoded<DecodePng>(png()));
  EXPECT_EQ(*decoded<DecodePng>(jpeg()), *decoded<DecodeJpeg>(jpeg()));
  EXPECT_EQ(*decoded<DecodeImage>(png()), *decoded<DecodePng>(png()));
}

TEST(Decode, ScalesToOtherTypes) {
  EXPECT_EQ(*decoded<DecodeImage>(png(), {.dtype = DType::kFloat32}),
            array<float>({257 * (1.0f / 65535), 514 * (1.0f / 65535), 771 * (1.0f / 65535), 1028 * (1.0f / 65535),
                          1285 * (1.0f / 65535), 65535 * (1.0f / 65535)},
                         {2, 1, 3}));
  const Array bytes = *decoded<DecodeImage>(jpeg());
  const Array wide = *decoded<DecodeImage>(jpeg(), {.dtype = DType::kUint16});
  const Array floats = *decoded<DecodeImage>(jpeg(), {.dtype = DType::kFloat32});
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(wide.values<uint16_t>()[i], bytes.values<uint8_t>()[i] * 256);
    EXPECT_EQ(floats.values<float>()[i], static_cast<float>(bytes.values<uint8_t>()[i]) * (1.0f / 255));
  }
}

std::string two_frames() { return make_gif({{.width = 2, .indices = {1, 2}}, {.left = 1, .indices = {3}}}); }
std::string bmp() {
  return "BM" + le32(0) + le32(0) + le32(54) + le32(40) + le32(1) + le32(1) + le16(1) + le16(24) + std::string(24, 0) +
         "\1\2\3";
}

TEST(Decode, ReturnsThePixelsOfABmp) {
  const Array pixel = array<uint8_t>({3, 2, 1}, {1, 1, 3});
  EXPECT_EQ(*decoded<DecodeBmp>(bmp()), pixel);
  EXPECT_EQ(*decoded<DecodeImage>(bmp()), pixel);
  EXPECT_EQ(*decoded<DecodeJpeg>(bmp()), pixel);
  EXPECT_EQ(*decoded<DecodeBmp>(bmp(), {.channels = 4}), array<uint8_t>({3, 2, 1, 255}, {1, 1, 4}));
  EXPECT_EQ(*decoded<DecodeImage>(bmp(), {.dtype = DType::kUint16}), array<uint16_t>({768, 512, 256}, {1, 1, 3}));
}

TEST(Decode, ReturnsTheFramesOfAGif) {
  const Array frames = array<uint8_t>({2, 1, 254, 4, 2, 253, 2, 1, 254, 6, 3, 252}, {2, 1, 2, 3});
  EXPECT_EQ(*decoded<DecodeGif>(two_frames()), frames);
  EXPECT_EQ(*decoded<DecodeImage>(two_frames()), frames);
  EXPECT_EQ(*decoded<DecodeImage>(two_frames(), {.expand_animations = false}), frames.row(0));
  const std::string one = make_gif({{.indices = {1}}});
  EXPECT_EQ(*decoded<DecodeImage>(one), array<uint8_t>({2, 1, 254}, {1, 1, 1, 3}));
  EXPECT_EQ(*decoded<DecodePng>(one), array<uint8_t>({2, 1, 254}, {1, 1, 3}));
  EXPECT_EQ(complaint_of<DecodePng>(two_frames()),
            "the GIF has 2 frames, expected one; use decode_image for all frames, with expand_animations=False for the "
            "first one");
}

TEST(Decode, ReturnsTheCompleteFramesOfATruncatedGifIfRequested) {
  const std::string cut = two_frames().substr(0, two_frames().size() - 3);
  EXPECT_EQ(decoded<DecodeGif>(cut).error().code(), Code::kDataLoss);
  EXPECT_EQ(decoded<DecodeImage>(cut).error().code(), Code::kDataLoss);
  EXPECT_EQ(decoded<DecodeGif>(cut, {.try_recover_truncated = true})->dim(0), 1);
  EXPECT_EQ(decoded<DecodeImage>(cut, {.try_recover_truncated = true})->dim(0), 1);
}

TEST(Decode, ReturnsAStillWebpWithoutAFrameAxisAndAnAnimationWithOne) {
  const std::string still = fixture("image_formats/still.webp"), moving = fixture("image_formats/animated.webp");
  EXPECT_EQ(decoded<DecodeImage>(still)->rank(), 3);
  EXPECT_EQ(*decoded<DecodeJpeg>(still), *decoded<DecodeImage>(still));
  EXPECT_EQ(decoded<DecodeImage>(moving)->dim(0), 3);
  EXPECT_EQ(*decoded<DecodeImage>(moving, {.expand_animations = false}), decoded<DecodeImage>(moving)->row(0));
  EXPECT_EQ(decoded<DecodeWebp>(still)->row(0), *decoded<DecodeImage>(still));
  EXPECT_EQ(decoded<DecodeWebp>(still, {.channels = 4})->dim(3), 4);
  EXPECT_EQ(decoded<DecodeGif>(png())->row(0), *decoded<DecodePng>(png()));
}

// Returns the image that a viewer shows for one of the eight EXIF orientations.
Array shown(const Array& image, int orientation) {
  return *eval(
      [=](Value x) {
        switch (orientation) {
          case 2: return image::flip_left_right(x);
          case 3: return image::rot90(x, {.k = 2});
          case 4: return image::flip_up_down(x);
          case 5: return image::transpose_image(x);
          case 6: return image::rot90(x, {.k = 3});
          case 7: return image::rot90(image::transpose_image(x), {.k = 2});
          case 8: return image::rot90(x, {.k = 1});
          default: return image::rot90(x, {.k = 0});
        }
      },
      {image});
}

TEST(Decode, AppliesTheExifOrientationIfRequested) {
  const Array plain = *decoded<DecodeJpeg>(jpeg());
  for (int orientation = 0; orientation <= 9; ++orientation) {
    const std::string noted = with_exif(jpeg(), exif_notes(orientation));
    EXPECT_EQ(*decoded<DecodeJpeg>(noted), plain);
    EXPECT_EQ(*decoded<DecodeJpeg>(noted, {.exif_orientation = true}), shown(plain, orientation)) << orientation;
    EXPECT_EQ(*decoded<DecodeImage>(noted, {.dtype = DType::kFloat32, .exif_orientation = true}),
              shown(*decoded<DecodeImage>(jpeg(), {.dtype = DType::kFloat32}), orientation));
  }
  const std::string webp = fixture("image_formats/turned.webp");
  EXPECT_EQ(*decoded<DecodeImage>(webp, {.exif_orientation = true}), shown(*decoded<DecodeImage>(webp), 6));
}

TEST(Decode, RejectsBytesThatAreNotAnImage) {
  EXPECT_EQ(complaint_of<DecodeImage>(""), "expected an image, got 0 bytes");
  EXPECT_EQ(complaint_of<DecodeJpeg>("<html>"),
            "expected an image, got an HTML page; a server may have returned it instead of the image");
  EXPECT_EQ(complaint([](Value x) { return io::decode_png(x); }, {Array::of(1)}),
            "the encoded image must be a string, got int32");
}

TEST(Decode, RejectsInvalidParameters) {
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.channels = 4}), "channels must be one of 0, 1, 3, got 4");
  EXPECT_EQ(complaint_of<DecodeImage>(jpeg(), {.channels = 2}), "channels must be one of 0, 1, 3, 4, got 2");
  EXPECT_EQ(complaint_of<DecodeImage>(jpeg(), {.channels = 4}),
            "a JPEG cannot be decoded to 4 channels, expected 0, 1 or 3");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.ratio = 3}), "ratio must be 1, 2, 4 or 8, got 3");
  EXPECT_EQ(complaint_of<DecodePng>(png(), {.dtype = DType::kFloat32}),
            "dtype must be one of uint8, uint16, got float32");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.dct_method = "FLOAT"}),
            "dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', got 'FLOAT'");
  EXPECT_EQ(complaint_of<DecodePng>(png(), {.like = "opencv"}), "like must be '' or 'pillow', got 'opencv'");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.dct_method = "INTEGER_FAST", .like = "pillow"}),
            "dct_method INTEGER_FAST contradicts like='pillow'; set only one of them");
}

TEST(Decode, ReportsItsTypeAndTheKnownPartOfItsShape) {
  const auto said = [](const Function& function) { return function.spec(Spec::scalar(DType::kBytes))->describe(); };
  EXPECT_EQ(said([](Value x) { return io::decode_jpeg(x, {.channels = 3}); }), "uint8[?, ?, 3]");
  EXPECT_EQ(said([](Value x) { return io::decode_image(x, {.dtype = DType::kFloat32, .expand_animations = false}); }),
            "float32[?, ?, ?]");
  const Spec of_any_rank{Nest::leaf(), {{DType::kUint8, {}}}};
  EXPECT_EQ(said([](Value x) { return io::decode_image(x); }), of_any_rank.describe());
  EXPECT_EQ(said([](Value x) { return io::decode_gif(x); }), "uint8[?, ?, ?, 3]");
}

TEST(Decode, WritesIntoTheRowsOfABatch) {
  const std::vector<std::string> bytes(6, jpeg());
  const Dataset batches = Dataset::from_tensor_slices({.tensors = Element(Array::from(bytes))})
                              .map({[](Value x) { return io::decode_jpeg(x, {.channels = 3}); }})
                              .batch({.batch_size = 3});
  const std::vector<Element> made = elements(batches);
  ASSERT_EQ(made.size(), 2u);
  for (const Element& batch : made)
    for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(batch.leaves[0].row(row), *decoded<DecodeJpeg>(jpeg()));
}

}  // namespace
}  // namespace stoker
