#include "stoker/codecs/picture.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace stoker {
namespace {

TEST(Picture, IsKnownByItsFirstBytes) {
  EXPECT_EQ(format_of("\xff\xd8\xff\xe0"), PictureFormat::kJpeg);
  EXPECT_EQ(format_of("\x89PNG\r\n\x1a\n"), PictureFormat::kPng);
  EXPECT_EQ(format_of("GIF89a"), PictureFormat::kGif);
  EXPECT_EQ(format_of("BM"), PictureFormat::kBmp);
  EXPECT_EQ(format_of("RIFF....WEBPVP8 "), PictureFormat::kWebp);
}

TEST(Picture, IsOfNoFormatWhenItIsCutOrSomethingElse) {
  for (const char* bytes : {"", "\xff\xd8", "\x89PNG", "GIF", "RIFF", "RIFF....WEB", "RIFF....WAVE", "B", "hello"})
    EXPECT_EQ(format_of(bytes), PictureFormat::kUnknown) << bytes;
}

TEST(Picture, HasAtMostSoManyPixels) {
  EXPECT_TRUE(check_size(1 << 14, 1 << 14).ok());
  EXPECT_EQ(check_size(1 << 14, (1 << 14) + 1).error().message(),
            "a picture of 16384x16385 has more than the 268435456 pixels allowed");
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(check_size(most, most).error().code(), Code::kResourceExhausted);
  EXPECT_EQ(check_size(0, 7).error().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace stoker
