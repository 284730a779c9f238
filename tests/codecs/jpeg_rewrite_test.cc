#include "stoker/codecs/jpeg_rewrite.h"

#include <gtest/gtest.h>

#include "support/jpegs.h"

namespace stoker {
namespace {

JpegLayout layout_of(const std::string& bytes) {
  JpegLayout layout;
  EXPECT_TRUE(walk_jpeg(bytes, layout));
  return layout;
}

TEST(JpegRewrite, KeepsEveryPixel) {
  for (const int components : {1, 3})
    for (const int across : {1, 2, 4})
      for (const int down : {1, 2})
        for (const int width : {7, 40, 141}) {
          const std::string bytes =
              make_jpeg({.height = 61, .width = width, .components = components, .across = across, .down = down});
          const std::optional<std::string> rewritten = with_restart_markers(bytes);
          ASSERT_TRUE(rewritten.has_value());
          EXPECT_EQ(bare_decode(*rewritten, {.components = components}),
                    bare_decode(bytes, {.components = components}));
          EXPECT_TRUE(layout_of(*rewritten).seekable());
        }
}

TEST(JpegRewrite, PutsMarkersWhereRowsCanBeSplit) {
  const auto interval = [](int64_t units) {
    return restart_interval_for({.width = 16 * units, .mcu_height = 16, .mcu_width = 16});
  };
  EXPECT_EQ(interval(1), 1);
  EXPECT_EQ(interval(2), 2);
  EXPECT_EQ(interval(32), 2);
  EXPECT_EQ(interval(27), 3);
  EXPECT_EQ(interval(25), 5);
  EXPECT_EQ(interval(31), 31);
}

// A camera's segment and a comment, after the first two bytes.
TEST(JpegRewrite, KeepsApplicationSegments) {
  const std::string comment = std::string("\xff\xfe\x00\x07", 4) + "hello";
  const std::string segment = std::string("\xff\xe1\x00\x0b", 4) + std::string("Exif\0\0xyz", 9);
  std::string bytes = make_jpeg({});
  bytes.insert(2, segment + comment);
  const std::optional<std::string> rewritten = with_restart_markers(bytes);
  ASSERT_TRUE(rewritten.has_value());
  EXPECT_NE(rewritten->find(segment), std::string::npos);
  EXPECT_NE(rewritten->find(comment), std::string::npos);
  EXPECT_NE(rewritten->find("JFIF"), std::string::npos);
  EXPECT_EQ(rewritten->find("JFIF"), rewritten->rfind("JFIF"));
}

// A gray block whose second coefficient is 32767, which no code of a baseline image can represent,
// after a large segment.
std::string too_large() {
  const auto segment = [](char marker, const std::string& body) {
    const size_t size = body.size() + 2;
    return std::string{'\xff', marker, static_cast<char>(size >> 8), static_cast<char>(size)} + body;
  };
  const auto codes = [](char table, const std::string& lengths, const std::string& symbols) {
    return std::string(1, table) + lengths + std::string(16 - lengths.size(), '\0') + symbols;
  };
  return "\xff\xd8" + segment('\xe1', std::string(60'000, 'x')) +
         segment('\xdb', std::string(1, '\0') + std::string(64, '\1')) +
         segment('\xc0', std::string("\x08\0\x08\0\x08\x01\x01\x11\0", 9)) +
         segment('\xc4', codes('\x00', "\1", std::string(1, '\0'))) +
         segment('\xc4', codes('\x10', "\1\1", std::string("\x0f\0", 2))) +
         segment('\xda', std::string("\x01\x01\0\0\x3f\0", 6)) +
         std::string("\x3f\xff\0\xdf\xff\xd9", 6);  // 0, 0 and fifteen ones, 10, ones to the end
}

TEST(JpegRewrite, SkipsImagesWithCoefficientsThatAreTooLarge) {
  EXPECT_EQ(layout_of(too_large()).end, too_large().size());
  EXPECT_FALSE(with_restart_markers(too_large()).has_value());
}

TEST(JpegRewrite, SkipsImagesThatItCannotImprove) {
  const std::string bytes = make_jpeg({});
  std::string damaged = bytes;
  damaged.replace(bytes.size() / 2, 20, std::string(20, '\xff'));
  EXPECT_FALSE(with_restart_markers(damaged).has_value());
  EXPECT_FALSE(with_restart_markers(bytes + "a second image").has_value());
  EXPECT_FALSE(with_restart_markers(Bytes(bytes).substr(0, bytes.size() - 2)).has_value());
  EXPECT_FALSE(with_restart_markers(make_jpeg({.progressive = true})).has_value());
  EXPECT_FALSE(with_restart_markers(make_jpeg({.arithmetic = true})).has_value());
  EXPECT_FALSE(with_restart_markers(make_jpeg({.components = 4})).has_value());
  EXPECT_FALSE(with_restart_markers(*with_restart_markers(bytes)).has_value());
  EXPECT_FALSE(with_restart_markers("").has_value());
  EXPECT_FALSE(with_restart_markers("\x89PNG").has_value());
}

}  // namespace
}  // namespace stoker
