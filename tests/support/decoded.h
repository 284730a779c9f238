#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/codecs/picture.h"

namespace stoker {

// What a decoder gives: decoded(decode_gif, gif_info, bytes, GifOptions{}). A
// gap between rows shows what is written there.
struct DecodedPicture {
  PictureInfo info;
  std::vector<int> samples;  // of 8 bits
};

template <typename Decode, typename Info, typename Options>
Result<DecodedPicture> decoded_by(Decode decode, Info info_of, Bytes bytes, const Options& options) {
  DecodedPicture result;
  std::vector<uint8_t> memory;
  int64_t stride = 0;
  const std::string own(bytes);  // a copy, so that reading too far shows
  const Result<void> done = decode(own, options, [&](const PictureInfo& info) -> Result<PixelRows> {
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
