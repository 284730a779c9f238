#include "stoker/codecs/jpeg_layout.h"

#include <gtest/gtest.h>

#include "support/jpegs.h"

namespace stoker {
namespace {

JpegLayout walked(const std::string& bytes) {
  JpegLayout layout;
  EXPECT_TRUE(walk_jpeg(bytes, layout));
  return layout;
}

TEST(JpegLayout, FindsTheFrameTheScanAndTheEnd) {
  const std::string bytes = make_jpeg({.height = 37, .width = 53, .across = 2, .down = 1});
  const JpegLayout layout = walked(bytes);
  EXPECT_TRUE(layout.ends);
  EXPECT_TRUE(layout.baseline);
  EXPECT_EQ(layout.scans, 1);
  EXPECT_EQ(layout.height, 37);
  EXPECT_EQ(layout.width, 53);
  EXPECT_EQ(layout.components, 3);
  EXPECT_EQ(layout.mcu_height, 8);
  EXPECT_EQ(layout.mcu_width, 16);
  EXPECT_EQ(layout.end, bytes.size());
  EXPECT_EQ(layout.data_end, bytes.size() - 2);
  EXPECT_FALSE(layout.seekable());
  EXPECT_EQ(walked(bytes + "photographs of the same moment").end, bytes.size());
}

TEST(JpegLayout, DetectsWhetherPartsCanBeDecodedSeparately) {
  // 9 units in a row, 8 rows of units.
  const TestJpeg image{.height = 117, .width = 141};
  const auto seekable = [&](int interval) {
    TestJpeg made = image;
    made.restart_interval = interval;
    return walked(make_jpeg(made)).seekable();
  };
  EXPECT_TRUE(seekable(1));
  EXPECT_TRUE(seekable(3));
  EXPECT_TRUE(seekable(9));
  EXPECT_TRUE(seekable(18));
  EXPECT_FALSE(seekable(2));
  EXPECT_FALSE(seekable(12));
  EXPECT_FALSE(walked(make_jpeg({.progressive = true, .restart_rows = 1})).seekable());
  EXPECT_FALSE(walked(make_jpeg({.arithmetic = true, .restart_rows = 1})).seekable());
}

TEST(JpegLayout, RejectsMarkersThatAreMissingOrOutOfOrder) {
  const std::string bytes = make_jpeg({.height = 117, .width = 141, .restart_interval = 3});
  const JpegLayout layout = walked(bytes);
  ASSERT_EQ(layout.restarts.size(), 23u);
  std::string swapped = bytes;
  std::swap(swapped[layout.restarts[3] + 1], swapped[layout.restarts[4] + 1]);
  EXPECT_FALSE(walked(swapped).seekable());
  std::string without = bytes;
  without.erase(layout.restarts[22], 2);
  EXPECT_FALSE(walked(without).seekable());
}

TEST(JpegLayout, DetectsAMissingEndMarker) {
  const std::string bytes = make_jpeg({});
  EXPECT_FALSE(walked(bytes.substr(0, bytes.size() - 1)).ends);
  EXPECT_FALSE(walked(bytes.substr(0, bytes.size() - 40)).ends);
  JpegLayout layout;
  EXPECT_FALSE(walk_jpeg("", layout));
  EXPECT_FALSE(walk_jpeg("\x89PNG", layout));
  for (size_t size = 0; size < 400; ++size) {
    walk_jpeg(Bytes(bytes).substr(0, size), layout);
    EXPECT_FALSE(layout.ends);
  }
}

TEST(JpegLayout, RejectsAScanWithoutAHeader) {
  const std::string file("\xff\xd8\xff\xda\x00\x02", 6);
  JpegLayout layout;
  EXPECT_FALSE(walk_jpeg(file, layout));
  EXPECT_EQ(layout.scans, 0);
}

TEST(JpegLayout, SplicesThePartsThatAWindowNeeds) {
  const std::string bytes = make_jpeg({.height = 117, .width = 141, .restart_interval = 3});
  const JpegLayout layout = walked(bytes);
  std::string part;
  // Rows 3 and 4 of units need rows 2 to 5; columns 4 and 5 need columns 3 to 6, the second and
  // third part.
  EXPECT_EQ(splice_jpeg(bytes, layout, {48, 64, 30, 30}, part), (ImageRegion{32, 48, 64, 93}));
  const JpegLayout spliced = walked(part);
  EXPECT_TRUE(spliced.seekable());
  EXPECT_EQ(spliced.height, 64);
  EXPECT_EQ(spliced.width, 93);
  EXPECT_LT(part.size(), bytes.size());
  EXPECT_EQ(splice_jpeg(bytes, layout, {0, 0, 117, 141}, part), (ImageRegion{0, 0, 117, 141}));
  EXPECT_EQ(part, bytes);
}

}  // namespace
}  // namespace stoker
