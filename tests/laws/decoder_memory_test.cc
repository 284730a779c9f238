// The memory of decoders that grows with the number of pixels is charged to the account of the thread.

#include <gtest/gtest.h>

#include "stoker/codecs/bmp.h"
#include "stoker/codecs/gif.h"
#include "stoker/codecs/jpeg.h"
#include "stoker/codecs/webp.h"
#include "support/fixture.h"
#include "support/gifs.h"
#include "support/jpegs.h"
#include "support/limited_account.h"
#include "support/little_endian.h"

namespace stoker {
namespace {

using Decode = std::function<Result<void>(const std::string& bytes, const PixelPlace& place)>;

struct Case {
  const char* name;
  std::string bytes;
  Decode decode;
  int64_t per_pixel;  // bytes that are charged, at least
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

// One color, and the end of the image.
std::string run_length_bmp() {
  const std::string info = le32(40) + le32(100) + le32(70) + le16(1) + le16(8) + le32(1) + std::string(12, '\0') +
                           le32(1) + le32(0) + std::string(4, '\0');
  return "BM" + le32(0) + le32(0) + le32(static_cast<int64_t>(14 + info.size())) + info + std::string("\0\1", 2);
}

std::vector<Case> cases() {
  const Decode jpeg = [](const std::string& bytes, const PixelPlace& place) { return decode_jpeg(bytes, {}, place); };
  const Decode gif = [](const std::string& bytes, const PixelPlace& place) { return decode_gif(bytes, {}, place); };
  const Decode bmp = [](const std::string& bytes, const PixelPlace& place) { return decode_bmp(bytes, {}, place); };
  const Decode webp = [](const std::string& bytes, const PixelPlace& place) { return decode_webp(bytes, {}, place); };
  return {
      {"jpeg", make_jpeg({}), jpeg, 0},
      {"progressive_jpeg", make_jpeg({.across = 1, .down = 1, .progressive = true}), jpeg, 6},
      {"progressive_gray_jpeg", make_jpeg({.components = 1, .progressive = true}), jpeg, 2},
      {"gif", make_gif({{.width = 2, .height = 2, .indices = {1, 2, 3, 4}}}), gif, 3},
      {"run_length_bmp", run_length_bmp(), bmp, 1},
      {"animated_webp", fixture("image_formats/animated.webp"), webp, 8},
  };
}

class DecoderMemory : public testing::TestWithParam<Case> {};

TEST_P(DecoderMemory, IsChargedAndReturned) {
  const Case& each = GetParam();
  std::vector<std::byte> pixels;
  int64_t count = 0;  // of one frame
  const PixelPlace place = [&](const ImageInfo& info) -> Result<PixelRows> {
    count = info.height * info.width;
    pixels.resize(static_cast<size_t>(count * info.channels * info.frames));
    return PixelRows{pixels.data(), info.width * info.channels};
  };
  const auto account = std::make_shared<LimitedAccount>(int64_t{1} << 30);
  {
    const AccountScope scope(account);
    const Result<void> decoded = each.decode(each.bytes, place);
    if (!decoded && decoded.error().code() == Code::kUnimplemented) GTEST_SKIP() << decoded.error().message();
    ASSERT_TRUE(decoded.ok()) << decoded.error().message();
  }
  EXPECT_GE(account->most(), count * each.per_pixel);
  EXPECT_EQ(account->held(), 0);

  const auto none = std::make_shared<LimitedAccount>(count * each.per_pixel - 1);
  const AccountScope scope(none);
  const Result<void> refused = each.decode(each.bytes, place);
  EXPECT_EQ(refused.ok(), each.per_pixel == 0);
  if (!refused) {
    EXPECT_EQ(refused.error().code(), Code::kResourceExhausted);
  }
  EXPECT_EQ(none->held(), 0);
}

INSTANTIATE_TEST_SUITE_P(Every, DecoderMemory, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stoker
