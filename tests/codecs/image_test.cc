#include "stoker/codecs/image.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace stoker {
namespace {

TEST(Image, IsDetectedByItsFirstBytes) {
  EXPECT_EQ(format_of("\xff\xd8\xff\xe0"), ImageFormat::kJpeg);
  EXPECT_EQ(format_of("\x89PNG\r\n\x1a\n"), ImageFormat::kPng);
  EXPECT_EQ(format_of("GIF89a"), ImageFormat::kGif);
  EXPECT_EQ(format_of("BM"), ImageFormat::kBmp);
  EXPECT_EQ(format_of("RIFF....WEBPVP8 "), ImageFormat::kWebp);
}

TEST(Image, HasNoFormatIfItIsTruncatedOrOtherData) {
  for (const char* bytes : {"", "\xff\xd8", "\x89PNG", "GIF", "RIFF", "RIFF....WEB", "RIFF....WAVE", "B", "hello"})
    EXPECT_EQ(format_of(bytes), ImageFormat::kUnknown) << bytes;
}

TEST(Image, HasALimitedNumberOfPixels) {
  EXPECT_TRUE(check_size(1 << 14, 1 << 14).ok());
  EXPECT_EQ(check_size(1 << 14, (1 << 14) + 1).error().message(),
            "an image of 16384x16385 exceeds the limit of 268435456 pixels");
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(check_size(most, most).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(check_size(0, 7).error().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace stoker
