#include "stoker/codecs/jpeg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/jpegs.h"

namespace stoker {
namespace {

using Pixels = std::vector<uint8_t>;

Result<Pixels> decoded(Bytes bytes, const JpegOptions& options = {}, int64_t gap = 0) {
  Pixels pixels;
  ImageInfo seen;
  const Result<void> done = decode_jpeg(bytes, options, [&](const ImageInfo& info) -> Result<PixelRows> {
    seen = info;
    const int64_t stride = info.width * info.channels + gap;
    pixels.assign(static_cast<size_t>(info.height * stride), 7);
    return PixelRows{reinterpret_cast<std::byte*>(pixels.data()), stride};
  });
  if (!done) return done.error();
  EXPECT_EQ(*jpeg_info(bytes, options), seen);
  return pixels;
}

std::string complaint(Bytes bytes, const JpegOptions& options = {}) {
  const Result<Pixels> pixels = decoded(bytes, options);
  return pixels ? "" : pixels.error().message();
}

int worst(const Pixels& a, const Pixels& b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Jpeg, DecodesToTheSamePixelsAsLibjpeg) {
  for (const bool progressive : {false, true})
    for (const int across : {1, 2, 4})
      for (const int down : {1, 2})
        for (const bool fast : {false, true})
          for (const bool fancy : {false, true}) {
            const std::string bytes = make_jpeg({.across = across, .down = down, .progressive = progressive});
            const JpegOptions options{.fancy_upscaling = fancy,
                                      .dct = fast ? JpegDct::kIntegerFast : JpegDct::kIntegerAccurate};
            EXPECT_EQ(*decoded(bytes, options), bare_decode(bytes, {.fast = fast, .fancy = fancy}))
                << progressive << across << down << fast << fancy;
          }
}

TEST(Jpeg, IsCloseToTheOriginalImage) {
  const std::string bytes = make_jpeg({.across = 1, .down = 1, .quality = 100});
  EXPECT_LE(worst(*decoded(bytes, {.dct = JpegDct::kIntegerAccurate}), test_pixels(37, 53, 3)), 4);
}

TEST(Jpeg, ReportsItsSizeBeforeItIsDecoded) {
  const std::string bytes = make_jpeg({});
  EXPECT_EQ(*jpeg_info(bytes), (ImageInfo{37, 53, 3, 8}));
  EXPECT_EQ(*jpeg_info(bytes, {.channels = 1, .ratio = 4}), (ImageInfo{10, 14, 1, 8}));
  EXPECT_EQ(jpeg_info(make_jpeg({.components = 1}))->channels, 1);
  EXPECT_EQ(jpeg_info(make_jpeg({.components = 4}))->channels, 3);
}

TEST(Jpeg, IsDecodedToGrayOrRgbOnRequest) {
  const std::string colour = make_jpeg({}), grey = make_jpeg({.components = 1});
  EXPECT_EQ(*decoded(colour, {.channels = 1}), bare_decode(colour, {.components = 1}));
  EXPECT_EQ(*decoded(grey), bare_decode(grey, {.components = 1}));
  EXPECT_EQ(*decoded(grey, {.channels = 3}), bare_decode(grey, {.components = 3}));
}

TEST(Jpeg, IsDownscaledByTheRatio) {
  const std::string bytes = make_jpeg({});
  for (const int ratio : {2, 4, 8}) EXPECT_EQ(*decoded(bytes, {.ratio = ratio}), bare_decode(bytes, {.ratio = ratio}));
}

TEST(Jpeg, InCmykIsDecodedToRgb) {
  for (const bool as_ycck : {false, true}) {
    const std::string bytes = make_jpeg({.components = 4, .as_ycck = as_ycck});
    const Pixels inks = bare_decode(bytes, {.components = 4});
    Pixels colours;
    for (size_t i = 0; i < inks.size(); i += 4)
      for (size_t c = 0; c < 3; ++c) colours.push_back(static_cast<uint8_t>(inks[i + c] * inks[i + 3] / 255));
    EXPECT_EQ(*decoded(bytes), colours);
    EXPECT_EQ(complaint(bytes, {.channels = 1}), "a JPEG of 4 components cannot be decoded to 1 channel");
  }
}

TEST(Jpeg, MayHaveRestartMarkersAndArithmeticCodes) {
  const std::string restarts = make_jpeg({.restart_rows = 1}), arithmetic = make_jpeg({.arithmetic = true});
  EXPECT_EQ(*decoded(restarts), *decoded(make_jpeg({})));
  EXPECT_EQ(*decoded(arithmetic), *decoded(make_jpeg({})));
}

TEST(Jpeg, DoesNotWriteBetweenRows) {
  const std::string bytes = make_jpeg({.height = 5, .width = 3});
  const Pixels tight = *decoded(bytes), wide = *decoded(bytes, {}, 11);
  for (size_t y = 0; y < 5; ++y) {
    EXPECT_TRUE(std::equal(&tight[y * 9], &tight[y * 9] + 9, &wide[y * 20]));
    EXPECT_TRUE(std::all_of(&wide[y * 20 + 9], &wide[y * 20] + 20, [](uint8_t gap) { return gap == 7; }));
  }
}

TEST(Jpeg, TruncatedAnywhereIsDataLoss) {
  for (const bool progressive : {false, true}) {
    const std::string bytes = make_jpeg({.progressive = progressive});
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string cut = bytes.substr(0, size);  // a copy, so that sanitizers detect reads beyond the end
      const Result<Pixels> pixels = decoded(cut);
      ASSERT_FALSE(pixels.ok()) << size;
      EXPECT_EQ(pixels.error().code(), Code::kDataLoss) << size << pixels.error().message();
    }
  }
  const std::string bytes = make_jpeg({});
  EXPECT_EQ(complaint(bytes.substr(0, 100)), "JPEG data ends early: it has 100 bytes, less than a complete header");
  const size_t half = bytes.size() / 2;
  EXPECT_THAT(complaint(bytes.substr(0, half)),
              testing::StartsWith("JPEG data ends early: it has " + std::to_string(half) + " bytes, from which "));
  EXPECT_THAT(complaint(bytes.substr(0, half)), testing::EndsWith(" of 37 rows were decoded"));
}

TEST(Jpeg, ThatIsTruncatedCanBeRecovered) {
  const std::string bytes = make_jpeg({});
  const Pixels whole = *decoded(bytes);
  const Pixels rest = *decoded(bytes.substr(0, bytes.size() * 3 / 4), {.try_recover_truncated = true});
  EXPECT_TRUE(std::equal(&whole[0], &whole[0] + 53 * 3 * 8, &rest[0]));
  EXPECT_NE(whole, rest);
}

TEST(Jpeg, TruncatedAfterTheAcceptableFractionIsAccepted) {
  const std::string bytes = make_jpeg({});
  const Bytes cut = Bytes(bytes).substr(0, bytes.size() * 3 / 4);
  const Pixels rest = *decoded(cut, {.acceptable_fraction = 0.3f});
  EXPECT_TRUE(std::all_of(rest.end() - 53 * 3, rest.end(), [](uint8_t sample) { return sample == 0; }));
  EXPECT_FALSE(decoded(cut, {.acceptable_fraction = 0.95f}).ok());
}

TEST(Jpeg, WithDamagedDataIsDecodedAsLibjpegDoesWithANote) {
  const std::string whole = make_jpeg({.restart_rows = 1});
  std::string bytes = whole, note;
  bytes.replace(bytes.size() * 3 / 4, 2, "\xff\xd9");
  const Result<Pixels> pixels = decoded(bytes, {.note = &note});
  ASSERT_TRUE(pixels.ok()) << pixels.error().message();
  EXPECT_THAT(note, testing::HasSubstr("premature end of data segment"));
  EXPECT_EQ(*pixels, *decoded(bytes, {.try_recover_truncated = true}));
  EXPECT_TRUE(std::equal(pixels->begin(), pixels->begin() + 53 * 3 * 8, decoded(whole)->begin()));
}

TEST(Jpeg, MayHaveStrayBytesAfterItsEnd) {
  const std::string bytes = make_jpeg({});
  EXPECT_EQ(*decoded(bytes + std::string(100, 'x')), *decoded(bytes));
}

TEST(Jpeg, ReportsAWarningThatWasIgnored) {
  std::string bytes = make_jpeg({});
  std::string note;
  EXPECT_EQ(complaint(bytes, {.note = &note}), "");
  EXPECT_EQ(note, "");
  bytes.insert(bytes.size() - 2, 100, 'x');
  EXPECT_EQ(complaint(bytes, {.note = &note}), "");
  EXPECT_NE(note.find("extraneous bytes"), std::string::npos) << note;
}

TEST(Jpeg, WithRandomChangesReturnsPixelsOrAnError) {
  const std::string bytes = make_jpeg({.progressive = true});
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    for (const bool recover : {false, true}) {
      const Result<Pixels> pixels = decoded(changed, {.try_recover_truncated = recover});
      EXPECT_TRUE(pixels.ok() || !pixels.error().message().empty()) << "byte " << i;
    }
  }
}

// If parts of an image may be missing, libjpeg decodes the codes itself.
TEST(Jpeg, WithRandomChangesIsDecodedAsLibjpegDoes) {
  for (const TestJpeg& image : {TestJpeg{}, TestJpeg{.across = 1, .down = 1, .quality = 100}, TestJpeg{.components = 1},
                                TestJpeg{.restart_interval = 3}}) {
    const std::string bytes = make_jpeg(image);
    int fine = 0, bad = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      SCOPED_TRACE(i);
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
      const Result<Pixels> ours = decoded(changed), theirs = decoded(changed, {.acceptable_fraction = 0.999f});
      ++(ours ? fine : bad);
      if (ours && theirs) {
        EXPECT_EQ(*ours, *theirs);
        continue;
      }
      const std::string our_words = ours ? "" : ours.error().message();
      const std::string their_words = theirs ? "" : theirs.error().message();
      if (our_words.find("ends early") != std::string::npos) continue;
      EXPECT_EQ(our_words, their_words);
    }
    EXPECT_GT(fine, 20);
    EXPECT_GT(bad, 20);
  }
}

TEST(Jpeg, OfEnormousSizeIsRejectedBeforeAllocation) {
  std::string bytes = make_jpeg({});
  const size_t frame = bytes.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  bytes.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  EXPECT_EQ(complaint(bytes), "an image of 65500x65500 exceeds the limit of 268435456 pixels");
  bytes.replace(frame + 5, 4, std::string("\x20\0\x20\0", 4));
  EXPECT_EQ(complaint(bytes),
            "JPEG data ends early: " + std::to_string(bytes.size()) + " bytes cannot hold an image of 8192x8192");
}

TEST(Jpeg, WithTooManyScansIsRejected) {
  std::string bytes = make_jpeg({.height = 8, .width = 8, .components = 1, .progressive = true});
  const size_t begin = bytes.find("\xff\xda"), end = bytes.find("\xff\xc4", begin);
  const std::string scan = bytes.substr(begin, end - begin);
  for (int i = 0; i < 600; ++i) bytes.insert(begin, scan);
  EXPECT_EQ(complaint(bytes), "a JPEG exceeds the limit of 500 scans");
}

TEST(Jpeg, RejectsOtherData) {
  EXPECT_EQ(complaint(""), "expected JPEG data, got 0 bytes");
  EXPECT_EQ(complaint("GIF89a, no JPEG"), "JPEG data is damaged: Not a JPEG file: starts with 0x47 0x49");
}

TEST(Jpeg, RejectsInvalidOptions) {
  EXPECT_EQ(complaint(make_jpeg({}), {.channels = 4}), "a JPEG cannot be decoded to 4 channels, expected 0, 1 or 3");
  EXPECT_EQ(complaint(make_jpeg({}), {.ratio = 3}), "ratio must be 1, 2, 4 or 8, got 3");
}

TEST(Jpeg, ReturnsTheErrorOfThePlaceFunction) {
  const Result<void> done = decode_jpeg(
      make_jpeg({}), {}, [](const ImageInfo&) -> Result<PixelRows> { return Error::exhausted("no memory"); });
  EXPECT_EQ(done.error().message(), "no memory");
}

// Reads the pixels of the window, several rows at a time. If `step` is more than 1, it skips rows.
Result<Pixels> window_of(Bytes bytes, const JpegOptions& options, const ImageRegion& window, int64_t step = 1) {
  Pixels pixels;
  const auto use = [&](const ImageInfo& info, JpegRows& rows) -> Result<void> {
    for (int64_t y = 0; y < window.height; y += 3 * step) {
      const auto n = static_cast<int>(std::min<int64_t>(3, window.height - y));
      const void* found[3];
      STOKER_TRY(rows.rows(y, n, found));
      for (int k = 0; k < n; ++k)
        for (int64_t x = 0; x < window.width; ++x) {
          const auto* pixel = static_cast<const uint8_t*>(found[k]) + x * rows.pixel();
          pixels.insert(pixels.end(), pixel, pixel + info.channels);
        }
    }
    return {};
  };
  STOKER_TRY(decode_jpeg_rows(bytes, options, {[&](const ImageInfo&) { return window; }, use}));
  return pixels;
}

Pixels cut_out(const Pixels& whole, int width, int channels, const ImageRegion& window, int64_t step = 1) {
  Pixels part;
  for (int64_t y = 0; y < window.height; ++y) {
    if (y / 3 % step != 0) continue;
    const auto first = whole.begin() + ((window.top + y) * width + window.left) * channels;
    part.insert(part.end(), first, first + window.width * channels);
  }
  return part;
}

std::vector<ImageRegion> windows_in(int64_t height, int64_t width) {
  std::vector<ImageRegion> windows{{0, 0, height, width}, {height - 1, width - 1, 1, 1}, {0, 0, 1, 1}};
  uint32_t noise = 1;
  const auto below = [&](int64_t most) {
    noise = noise * 1664525 + 1013904223;
    return static_cast<int64_t>(noise >> 8) % most;
  };
  for (int i = 0; i < 12; ++i) {
    const int64_t h = 1 + below(height), w = 1 + below(width);
    windows.push_back({below(height - h + 1), below(width - w + 1), h, w});
  }
  return windows;
}

void expect_windows_agree(const TestJpeg& made, const JpegOptions& options) {
  const std::string bytes = make_jpeg(made);
  const Pixels whole = *decoded(bytes, options);
  const int channels = jpeg_info(bytes, options)->channels;
  for (const ImageRegion& window : windows_in(made.height, made.width))
    for (const int64_t step : {1, 2, 9})
      EXPECT_EQ(*window_of(bytes, options, window, step), cut_out(whole, made.width, channels, window, step))
          << made.height << "x" << made.width << " sampled " << made.across << "x" << made.down << " interval "
          << made.restart_interval << " rows " << made.restart_rows << ", window " << window.height << "x"
          << window.width << " at " << window.top << ", " << window.left << ", step " << step;
}

TEST(JpegRows, OfAWindowAreThoseOfTheWholeImage) {
  for (const bool progressive : {false, true})
    for (const int across : {1, 2, 4})
      for (const int down : {1, 2})
        for (const bool fancy : {true, false})
          expect_windows_agree(
              {.height = 117, .width = 143, .across = across, .down = down, .progressive = progressive},
              {.fancy_upscaling = fancy, .dct = JpegDct::kIntegerAccurate});
}

TEST(JpegRows, OfAWindowAreThoseOfTheWholeImageWithRestartIntervals) {
  for (const int across : {1, 2})
    for (const int down : {1, 2})
      for (const int interval : {1, 2, 3, 6, 9, 18, 36})
        expect_windows_agree(
            {.height = 117, .width = 141, .across = across, .down = down, .restart_interval = interval},
            {.dct = JpegDct::kIntegerAccurate});
  for (const int rows : {1, 2, 5}) expect_windows_agree({.height = 117, .width = 141, .restart_rows = rows}, {});
  expect_windows_agree({.height = 61, .width = 40, .components = 1, .restart_interval = 5}, {});
  expect_windows_agree({.height = 61, .width = 80, .components = 4, .restart_interval = 5}, {});
}

TEST(JpegRows, OfCmykGrayAndDownscaledImagesAreThoseOfTheWholeImage) {
  expect_windows_agree({.height = 61, .width = 83, .components = 4}, {});
  expect_windows_agree({.height = 61, .width = 83, .components = 1}, {});
  expect_windows_agree({.height = 61, .width = 83, .components = 1}, {.channels = 3});
  expect_windows_agree({.height = 61, .width = 83}, {.channels = 1});
}

TEST(JpegRows, OfAFileWithoutEndMarkerAreAnErrorForEveryWindow) {
  for (const int interval : {0, 2}) {
    const std::string bytes = make_jpeg({.height = 117, .width = 141, .restart_interval = interval});
    for (const ImageRegion& window : windows_in(117, 141)) {
      EXPECT_FALSE(window_of(bytes.substr(0, bytes.size() - 2), {}, window).ok());
      EXPECT_FALSE(window_of(bytes.substr(0, bytes.size() * 9 / 10), {}, window).ok());
      EXPECT_TRUE(window_of(bytes + "more", {}, window).ok());
    }
  }
}

TEST(JpegRows, OfAWindowOutsideTheImageAreRejected) {
  const std::string bytes = make_jpeg({});
  EXPECT_EQ(window_of(bytes, {}, {30, 0, 8, 53}).error().message(),
            "a window of 8x53 at row 30 and column 0 does not fit an image of 37x53");
  EXPECT_FALSE(window_of(bytes, {}, {0, 0, 0, 1}).ok());
  EXPECT_FALSE(window_of(bytes, {}, {-1, 0, 2, 1}).ok());
}

}  // namespace
}  // namespace stoker
