#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/codecs/image.h"

namespace stoker {

// The result of a decoder: decoded(decode_gif, gif_info, bytes, GifOptions{}). A gap
// between rows detects writes beyond the end of a row.
struct DecodedImage {
  ImageInfo info;
  std::vector<int> samples;  // 8 bits each
};

template <typename Decode, typename Info, typename Options>
Result<DecodedImage> decoded_by(Decode decode, Info info_of, Bytes bytes, const Options& options) {
  DecodedImage result;
  std::vector<uint8_t> memory;
  int64_t stride = 0;
  const std::string own(bytes);  // a copy, so that sanitizers detect reads beyond its end
  const Result<void> done = decode(own, options, [&](const ImageInfo& info) -> Result<PixelRows> {
    result.info = info;
    stride = info.width * info.channels + 4;
    memory.assign(static_cast<size_t>(info.frames * info.height * stride), 7);
    return PixelRows{reinterpret_cast<std::byte*>(memory.data()), stride};
  });
  if (!done) return done.error();
  EXPECT_EQ(*info_of(own, options), result.info);
  for (int64_t y = 0; y < result.info.frames * result.info.height; ++y) {
    const uint8_t* row = memory.data() + y * stride;
    result.samples.insert(result.samples.end(), row, row + stride - 4);
    EXPECT_EQ(std::memcmp(row + stride - 4, "\7\7\7\7", 4), 0);
  }
  return result;
}

}  // namespace stoker
