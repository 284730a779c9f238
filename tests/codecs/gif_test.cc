#include "stoker/codecs/gif.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/decoded.h"
#include "support/gifs.h"

namespace stoker {
namespace {

using Samples = std::vector<int>;

Result<DecodedImage> decoded(Bytes bytes, const GifOptions& options = {}) {
  return decoded_by(decode_gif, gif_info, bytes, options);
}
std::string complaint(Bytes bytes, const GifOptions& options = {}) {
  const Result<DecodedImage> result = decoded(bytes, options);
  return result ? "" : result.error().message();
}

// A build without the library cannot decode.
class Gif : public testing::Test {
  void SetUp() override {
    if (gif_info("").error().code() == Code::kUnimplemented) GTEST_SKIP() << gif_info("").error().message();
  }
};

// Red identifies the color of gif_palette() that a pixel has; black is 0.
Samples reds(const Result<DecodedImage>& image) {
  Samples result;
  if (!image) return {-1};
  for (size_t i = 0; i < image->samples.size(); i += 3) result.push_back(image->samples[i] / 2);
  return result;
}

std::string three_frames() {
  return make_gif({{.width = 2, .height = 2, .indices = {1, 2, 3, 4}},
                   {.left = 1, .width = 1, .height = 2, .indices = {5, 6}},
                   {.top = 1, .width = 2, .height = 1, .indices = {7, 8}, .transparent = 7}});
}

TEST_F(Gif, AppliesItsPalette) {
  EXPECT_EQ(decoded(make_gif({{.width = 2, .indices = {3, 100}}}))->samples, (Samples{6, 3, 252, 200, 100, 155}));
  EXPECT_EQ(decoded(make_gif({{.width = 2, .indices = {3, 100}}}), {.channels = 1})->samples, (Samples{32, 136}));
  std::string own = gif_palette();
  own.replace(9, 3, "abc");
  EXPECT_EQ(decoded(make_gif({{.indices = {3}, .palette = own}}))->samples, (Samples{'a', 'b', 'c'}));
}

TEST_F(Gif, DrawsEachFrameOverThePreviousOne) {
  EXPECT_EQ(*gif_info(three_frames()), (ImageInfo{2, 2, 3, 8, 3}));
  EXPECT_EQ(reds(decoded(three_frames())), (Samples{1, 2, 3, 4, 1, 5, 3, 6, 1, 5, 3, 8}));
}

TEST_F(Gif, ReturnsOnlyItsFirstFrameOnRequest) {
  EXPECT_EQ(reds(decoded(three_frames(), {.first_only = true})), (Samples{1, 2, 3, 4}));
  const std::string grows = make_gif({{.indices = {1}}, {.width = 2, .indices = {2, 3}}});
  EXPECT_EQ(reds(decoded(grows, {.first_only = true})), (Samples{1, 0}));
}

TEST_F(Gif, IsAsLargeAsItsLargestFrame) {
  const std::string bytes = make_gif({{.left = 1, .top = 1, .width = 2, .height = 2, .indices = {1, 2, 3, 4}},
                                      {.width = 1, .height = 3, .indices = {5, 6, 7}}});
  EXPECT_EQ(reds(decoded(bytes)), (Samples{0, 0, 0, 1, 0, 3, 5, 0, 6, 1, 7, 3}));
}

TEST_F(Gif, MayBeInterlaced) {
  Samples rows;
  TestFrame frame{.width = 1, .height = 19, .interlaced = true};
  for (const int y : {0, 8, 16, 4, 12, 2, 6, 10, 14, 18, 1, 3, 5, 7, 9, 11, 13, 15, 17}) frame.indices.push_back(y);
  for (int y = 0; y < 19; ++y) rows.push_back(y);
  EXPECT_EQ(reds(decoded(make_gif({frame}))), rows);
}

TEST_F(Gif, ThatIsTruncatedIsDataLossAndItsCompleteFramesCanBeRecovered) {
  const std::string bytes = three_frames();
  const size_t one = make_gif({{.width = 2, .height = 2, .indices = {1, 2, 3, 4}}}).size() - 1;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut = Bytes(bytes).substr(0, size);
    const Result<DecodedImage> result = decoded(cut);
    ASSERT_FALSE(result.ok()) << size;
    EXPECT_EQ(result.error().code(), Code::kDataLoss) << size;
    const Result<ImageInfo> rest = gif_info(cut, {.try_recover_truncated = true});
    EXPECT_EQ(rest.ok(), size >= one) << size;
  }
  const std::string cut = bytes.substr(0, bytes.size() - 4);
  EXPECT_EQ(complaint(cut),
            "GIF data ends early: it has " + std::to_string(cut.size()) + " bytes with 2 complete frames");
  EXPECT_EQ(reds(decoded(cut, {.try_recover_truncated = true})), (Samples{1, 2, 3, 4, 1, 5, 3, 6}));
}

TEST_F(Gif, WithADamagedFrameIsDataLossAndTheFramesBeforeItCanBeRecovered) {
  const std::string bytes =
      make_gif({{.width = 2, .indices = {1, 2}}, {.width = 2, .height = 2, .indices = {3, 4, 5}}, {.indices = {6}}});
  EXPECT_EQ(decoded(bytes).error().code(), Code::kDataLoss);
  EXPECT_EQ(reds(decoded(bytes, {.try_recover_truncated = true})), (Samples{1, 2}));
  EXPECT_EQ(decoded(make_gif({{.width = 9, .indices = {3}}}), {.try_recover_truncated = true}).error().code(),
            Code::kDataLoss);
}

TEST_F(Gif, WithoutAFrameOrAPaletteIsDataLoss) {
  EXPECT_EQ(complaint(make_gif({})), "a GIF of 398 bytes has no frames");
  EXPECT_EQ(complaint("GIF89a" + le16(1) + le16(1) + std::string(3, '\0') + gif_frame({.indices = {1}}) + ";"),
            "GIF data is damaged: frame 0 has no palette");
  EXPECT_EQ(complaint(make_gif({{.width = 0, .height = 4}})), "an image of 4x0 has no pixels");
  EXPECT_EQ(complaint(make_gif({}).substr(0, 397) + "x"),
            "GIF data ends early: it has 398 bytes with 0 complete frames");
}

// Every position between two blocks, and every stray byte or block that decoders skip.
TEST_F(Gif, SkipsStrayBytesBetweenFramesAndAfterItsEnd) {
  const std::vector<TestFrame> frames = {{.width = 2, .height = 2, .indices = {1, 2, 3, 4}},
                                         {.left = 1, .width = 1, .height = 2, .indices = {5, 6}},
                                         {.top = 1, .width = 2, .height = 1, .indices = {7, 8}, .transparent = 7}};
  const std::string header = make_gif({}).substr(0, make_gif({}).size() - 1);
  const std::string unknown_extension("!\x42\3abc\2de\0", 10), comment("!\xfe\1x\0", 5);
  for (const std::string& stray : {std::string(1, '\0'), std::string(5, '\0'), std::string("x\xff\x01"),
                                   unknown_extension, unknown_extension + '\0' + comment})
    for (size_t place = 0; place <= frames.size(); ++place) {
      std::string bytes = header;
      for (size_t i = 0; i < frames.size(); ++i) bytes += (i == place ? stray : "") + gif_frame(frames[i]);
      bytes += (place == frames.size() ? stray : "") + ";";
      EXPECT_EQ(reds(decoded(bytes)), reds(decoded(three_frames()))) << place;
      EXPECT_EQ(reds(decoded(bytes + stray + ",!;")), reds(decoded(three_frames()))) << place;
    }
}

TEST_F(Gif, OfEnormousSizeIsRejectedBeforeAllocation) {
  EXPECT_EQ(complaint(make_gif({{.width = 65535, .height = 65535, .indices = {1}}})),
            "an image of 65535x65535 exceeds the limit of 268435456 pixels");
  const std::string claims = complaint(make_gif({{.width = 10'000, .height = 10'000, .indices = {1}}}));
  EXPECT_EQ(claims, "GIF data is damaged: 5 bytes cannot hold a frame of 10000x10000");
  const std::vector<TestFrame> tiny(70'000, TestFrame{.indices = {1}});
  std::string bytes = make_gif(tiny);
  bytes.insert(bytes.size() - 1, gif_frame({.width = 64, .height = 64, .indices = std::vector<int>(4096, 2)}));
  EXPECT_EQ(complaint(bytes), "an animation of 70001 frames of 64x64 exceeds the limit of 268435456 pixels");
}

TEST_F(Gif, WithAnyByteChangedReturnsPixelsOrAnError) {
  const std::string bytes = three_frames();
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 0x80, 0xff})
      for (const bool recover : {false, true}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ change);
        const Result<DecodedImage> result = decoded(changed, {.try_recover_truncated = recover});
        EXPECT_TRUE(result.ok() || !result.error().message().empty()) << "byte " << i;
      }
}

TEST_F(Gif, RejectsInvalidOptions) {
  EXPECT_EQ(complaint("", {.channels = 4}), "a GIF cannot be decoded to 4 channels, expected 0, 1 or 3");
}

}  // namespace
}  // namespace stoker
