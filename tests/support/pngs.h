#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/error.h"
#include "support/compress.h"

namespace stoker {

// Builds PNG files for tests, chunk by chunk and unfiltered.
struct TestPng {
  int height = 1;
  int width = 1;
  int bit_depth = 8;
  int color_type = 2;  // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
  bool interlaced = false;
  std::vector<uint16_t> samples;  // row by row
  std::string palette;
  std::string transparent;
};

inline std::string big_endian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16), static_cast<char>(number >> 8),
          static_cast<char>(number)};
}

inline std::string png_chunk(std::string_view type, std::string_view data) {
  std::string body = std::string(type) + std::string(data);
  const auto crc =
      static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
  return big_endian(static_cast<uint32_t>(data.size())) + body + big_endian(crc);
}

inline std::string make_png(const TestPng& png) {
  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  const int channels = kChannels[png.color_type];
  STOKER_CHECK(png.samples.size() == static_cast<size_t>(png.height) * png.width * channels);
  struct Pass {
    int x, y, dx, dy;
  };
  const std::vector<Pass> passes = png.interlaced
                                       ? std::vector<Pass>{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
                                       : std::vector<Pass>{{0, 0, 1, 1}};
  std::string raw;
  for (const Pass& pass : passes)
    for (int y = pass.y; y < png.height && pass.x < png.width; y += pass.dy) {
      raw += '\0';
      int bits = 0, used = 0;
      for (int x = pass.x; x < png.width; x += pass.dx)
        for (int c = 0; c < channels; ++c) {
          const int sample = png.samples[(static_cast<size_t>(y) * png.width + x) * channels + c];
          if (png.bit_depth == 16) raw += static_cast<char>(sample >> 8);
          if (png.bit_depth >= 8) {
            raw += static_cast<char>(sample);
            continue;
          }
          bits = bits << png.bit_depth | sample;
          used += png.bit_depth;
          if (used < 8) continue;
          raw += static_cast<char>(bits);
          bits = used = 0;
        }
      if (used > 0) raw += static_cast<char>(bits << (8 - used));
    }
  std::string header = big_endian(static_cast<uint32_t>(png.width)) + big_endian(static_cast<uint32_t>(png.height));
  header += {static_cast<char>(png.bit_depth), static_cast<char>(png.color_type), 0, 0, png.interlaced ? '\1' : '\0'};
  std::string bytes = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header);
  if (!png.palette.empty()) bytes += png_chunk("PLTE", png.palette);
  if (!png.transparent.empty()) bytes += png_chunk("tRNS", png.transparent);
  return bytes + png_chunk("IDAT", zlibbed(raw)) + png_chunk("IEND", "");
}

}  // namespace stoker
