#include "stoker/ops/decode.h"

#include "stoker/codecs/png.h"
#include "support/eval.h"
#include "support/jpegs.h"
#include "support/pngs.h"
#include "support/support.h"

namespace stoker {
namespace {

// A function that calls one of the decoders: decoder<DecodePng>({.channels = 3}).
Value decode(Value bytes, DecodeJpeg params) { return io::decode_jpeg(std::move(bytes), std::move(params)); }
Value decode(Value bytes, DecodePng params) { return io::decode_png(std::move(bytes), std::move(params)); }
Value decode(Value bytes, DecodeImage params) { return io::decode_image(std::move(bytes), std::move(params)); }

template <typename Op>
Result<Array> decoded(const std::string& bytes, Op op = {}) {
  return eval([op](Value x) { return decode(x, op); }, {Array::of_bytes(bytes)}, Shapes::kInPart);
}
template <typename Op>
std::string complaint_of(const std::string& bytes, Op op = {}) {
  const Result<Array> picture = decoded(bytes, op);
  return picture ? "" : picture.error().message();
}

const std::string& jpeg() {
  static const std::string bytes = make_jpeg({});
  return bytes;
}
const std::string& png() {
  static const std::string bytes = make_png({.height = 2, .width = 1, .samples = {1, 2, 3, 4, 5, 255}});
  return bytes;
}

TEST(Decode, GivesTensorFlowsPixelsOfAJpeg) {
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg()), array(bare_decode(jpeg(), {.fast = true}), {37, 53, 3}));
  EXPECT_EQ(*decoded<DecodeImage>(jpeg()), *decoded<DecodeJpeg>(jpeg()));
}

TEST(Decode, GivesPillowsPixelsWhereAsked) {
  const Array pillow = array(bare_decode(jpeg(), {.fast = false}), {37, 53, 3});
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodeImage>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodePng>(jpeg(), {.like = "pillow"}), pillow);
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.dct_method = "INTEGER_ACCURATE"}), pillow);
}

TEST(Decode, PassesOnWhatIsAskedOfAJpeg) {
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.channels = 1, .ratio = 2}),
            array(bare_decode(jpeg(), {.components = 1, .ratio = 2}), {19, 27, 1}));
  EXPECT_EQ(*decoded<DecodeJpeg>(jpeg(), {.fancy_upscaling = false}),
            array(bare_decode(jpeg(), {.fancy = false}), {37, 53, 3}));
  const std::string cut = jpeg().substr(0, jpeg().size() * 3 / 4);
  EXPECT_EQ(decoded<DecodeJpeg>(cut).error().code(), Code::kDataLoss);
  EXPECT_TRUE(decoded<DecodeJpeg>(cut, {.try_recover_truncated = true}).ok());
  EXPECT_TRUE(decoded<DecodeJpeg>(cut, {.acceptable_fraction = 0.3}).ok());
}

TEST(Decode, GivesThePixelsOfAPng) {
  EXPECT_EQ(*decoded<DecodePng>(png()), array<uint8_t>({1, 2, 3, 4, 5, 255}, {2, 1, 3}));
  EXPECT_EQ(*decoded<DecodePng>(png(), {.channels = 4}), array<uint8_t>({1, 2, 3, 255, 4, 5, 255, 255}, {2, 1, 4}));
  EXPECT_EQ(*decoded<DecodePng>(png(), {.dtype = DType::kUint16}),
            array<uint16_t>({257, 514, 771, 1028, 1285, 65535}, {2, 1, 3}));
}

TEST(Decode, GoesByTheBytesAndNotByTheName) {
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

TEST(Decode, NamesFormatsThatAreNotDecoded) {
  for (const auto& [bytes, name] :
       {std::pair{"GIF89a......", "GIF"}, {"BM..........", "BMP"}, {"RIFF....WEBP", "WebP"}}) {
    const Error error = decoded<DecodeImage>(bytes).error();
    EXPECT_EQ(error.code(), Code::kUnimplemented);
    EXPECT_EQ(error.message(), "a " + std::string(name) + " picture, which is not decoded; JPEG and PNG are");
  }
}

TEST(Decode, RefusesWhatIsNoPicture) {
  EXPECT_EQ(complaint_of<DecodeImage>(""), "no picture: there are 0 bytes");
  EXPECT_EQ(complaint_of<DecodeJpeg>("<html>"),
            "it is an HTML page, not a picture: perhaps what a server answered instead of one");
  EXPECT_EQ(complaint([](Value x) { return io::decode_png(x); }, {Array::of(1)}),
            "a picture's bytes must be a string, found int32");
}

TEST(Decode, RefusesWrongParameters) {
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.channels = 4}), "channels is 4, it must be one of 0, 1, 3");
  EXPECT_EQ(complaint_of<DecodeImage>(jpeg(), {.channels = 2}), "channels is 2, it must be one of 0, 1, 3, 4");
  EXPECT_EQ(complaint_of<DecodeImage>(jpeg(), {.channels = 4}), "a JPEG is decoded to 0, 1 or 3 channels, not 4");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.ratio = 3}), "ratio is 3, it must be 1, 2, 4 or 8");
  EXPECT_EQ(complaint_of<DecodePng>(png(), {.dtype = DType::kFloat32}),
            "dtype is float32, it must be one of uint8, uint16");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.dct_method = "FLOAT"}),
            "dct_method is 'FLOAT', it must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'");
  EXPECT_EQ(complaint_of<DecodePng>(png(), {.like = "opencv"}), "like is 'opencv', it must be '' or 'pillow'");
  EXPECT_EQ(complaint_of<DecodeJpeg>(jpeg(), {.dct_method = "INTEGER_FAST", .like = "pillow"}),
            "dct_method is INTEGER_FAST and like is 'pillow', which are two pictures");
}

TEST(Decode, SaysItsTypeAndWhatItKnowsOfTheShape) {
  const auto said = [](const Function& function) { return function.spec(Spec::scalar(DType::kBytes))->words(); };
  EXPECT_EQ(said([](Value x) { return io::decode_jpeg(x, {.channels = 3}); }), "uint8[?, ?, 3]");
  EXPECT_EQ(said([](Value x) { return io::decode_image(x, {.dtype = DType::kFloat32}); }), "float32[?, ?, ?]");
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
