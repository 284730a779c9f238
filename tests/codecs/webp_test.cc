#include "stoker/codecs/webp.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "support/decoded.h"
#include "support/fixture.h"

namespace stoker {
namespace {

using Samples = std::vector<int>;

Result<DecodedImage> decoded(Bytes bytes, const WebpOptions& options = {}) {
  return decoded_by(decode_webp, webp_info, bytes, options);
}
std::string complaint(Bytes bytes, const WebpOptions& options = {}) {
  const Result<DecodedImage> result = decoded(bytes, options);
  return result ? "" : result.error().message();
}
std::string file(const std::string& name) { return fixture("image_formats/" + name + ".webp"); }

// A build without the library cannot decode.
class Webp : public testing::Test {
  void SetUp() override {
    if (webp_info("").error().code() == Code::kUnimplemented) GTEST_SKIP() << webp_info("").error().message();
  }
};

// The pixels that tools/make_format_golden.py wrote into the files.
Samples pattern(int channels, int frames = 1) {
  Samples samples;
  for (int frame = 0; frame < frames; ++frame)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x)
        for (int c = 0; c < channels; ++c) samples.push_back((x * 7 + y * 13 + c * 50 + frame * 31) % 256);
  return samples;
}

TEST_F(Webp, DecodesThePixelsThatWereEncoded) {
  EXPECT_EQ(*webp_info(file("still")), (ImageInfo{5, 7, 3}));
  EXPECT_EQ(decoded(file("still"))->samples, pattern(3));
  EXPECT_EQ(decoded(file("alpha"))->samples, pattern(4));
  const Samples lossy = decoded(file("lossy"))->samples, wanted = pattern(3);
  ASSERT_EQ(lossy.size(), wanted.size());
  for (size_t i = 0; i < lossy.size(); ++i) EXPECT_LE(std::abs(lossy[i] - wanted[i]), 40) << i;
}

TEST_F(Webp, HasTheRequestedChannels) {
  const Samples rgba = decoded(file("still"), {.channels = 4})->samples;
  const Samples rgb = pattern(3), grey = decoded(file("still"), {.channels = 1})->samples;
  ASSERT_EQ(grey.size() * 4, rgba.size());
  for (size_t i = 0; i < grey.size(); ++i) {
    EXPECT_EQ(rgba[4 * i + 3], 255);
    EXPECT_EQ(grey[i], (9797 * rgb[3 * i] + 19234 * rgb[3 * i + 1] + 3737 * rgb[3 * i + 2]) >> 15);
  }
  EXPECT_EQ(decoded(file("alpha"), {.channels = 3})->info.channels, 3);
}

TEST_F(Webp, MayBeAnAnimation) {
  EXPECT_EQ(*webp_info(file("animated")), (ImageInfo{5, 7, 3, 8, 3}));
  EXPECT_EQ(decoded(file("animated"))->samples, pattern(3, 3));
  EXPECT_EQ(decoded(file("animated"), {.first_only = true})->samples, pattern(3));
  EXPECT_EQ(webp_info(file("animated_alpha"))->channels, 4);
}

TEST_F(Webp, TruncatedAnywhereIsDataLoss) {
  for (const char* name : {"still", "alpha", "lossy", "animated", "turned"}) {
    const std::string bytes = file(name);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Result<DecodedImage> result = decoded(Bytes(bytes).substr(0, size));
      ASSERT_FALSE(result.ok()) << name << size;
      EXPECT_EQ(result.error().code(), Code::kDataLoss) << name << size;
    }
    EXPECT_EQ(decoded(bytes + "more")->samples, decoded(bytes)->samples);
  }
  EXPECT_EQ(complaint(file("still").substr(0, 40)), "WebP data ends early: it has 40 bytes, expected 52");
}

TEST_F(Webp, WithAnyByteChangedReturnsPixelsOrAnError) {
  for (const char* name : {"still", "lossy", "animated"}) {
    const std::string bytes = file(name);
    for (size_t i = 0; i < bytes.size(); ++i)
      for (const int change : {1, 0x80, 0xff}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(changed[i] ^ change);
        const Result<ImageInfo> info = webp_info(changed);
        if (info && info->height * info->width > 1 << 16) continue;
        (void)decoded(changed);
      }
  }
}

TEST_F(Webp, OfEnormousSizeIsRejectedBeforeAllocation) {
  std::string bytes = file("animated");
  const size_t canvas = bytes.find("VP8X") + 12;  // width and height minus one, three bytes each
  bytes.replace(canvas, 6, std::string("\xff\xff\0\xff\xff\0", 6));
  EXPECT_FALSE(decoded(bytes).ok());
}

TEST_F(Webp, RejectsInvalidOptions) {
  EXPECT_EQ(complaint("", {.channels = 2}), "a WebP cannot be decoded to 2 channels, expected 0, 1, 3 or 4");
  EXPECT_EQ(complaint("RIFF"), "WebP data ends early: it has 4 bytes");
}

}  // namespace
}  // namespace stoker
