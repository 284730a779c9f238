#pragma once

#include <string>
#include <vector>

#include "support/little_endian.h"

namespace stoker {

// Builds GIF files for tests, block by block. Codes have 8 bits and represent one
// pixel each.
struct TestFrame {
  int left = 0, top = 0, width = 1, height = 1;
  std::vector<int> indices;  // below 128, row by row
  int transparent = -1;
  bool interlaced = false;
  std::string palette = "";  // 384 bytes; empty: the palette of the file
};

inline std::string gif_pixels(const std::vector<int>& indices) {
  std::string codes;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (i % 126 == 0) codes += '\x80';  // clear the code table before codes become longer
    codes += static_cast<char>(indices[i]);
  }
  codes += '\x81';
  std::string parts = "\7";
  for (size_t i = 0; i < codes.size(); i += 255) {
    const std::string part = codes.substr(i, 255);
    parts += static_cast<char>(part.size());
    parts += part;
  }
  return parts + '\0';
}

inline std::string gif_frame(const TestFrame& frame) {
  std::string bytes;
  if (frame.transparent >= 0) bytes += std::string("!\xf9\4\1\0\0", 6) + static_cast<char>(frame.transparent) + '\0';
  bytes += "," + le16(frame.left) + le16(frame.top) + le16(frame.width) + le16(frame.height);
  bytes += static_cast<char>((frame.interlaced ? 0x40 : 0) | (frame.palette.empty() ? 0 : 0x86));
  return bytes + frame.palette + gif_pixels(frame.indices);
}

// Color i is (2i, i, 255 - i).
inline std::string gif_palette() {
  std::string palette;
  for (int i = 0; i < 128; ++i) palette += {static_cast<char>(2 * i), static_cast<char>(i), static_cast<char>(255 - i)};
  return palette;
}

inline std::string make_gif(const std::vector<TestFrame>& frames) {
  std::string bytes = "GIF89a" + le16(64) + le16(64) + std::string("\x86\0\0", 3) + gif_palette();
  for (const TestFrame& frame : frames) bytes += gif_frame(frame);
  return bytes + ";";
}

}  // namespace stoker
