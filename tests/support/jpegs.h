#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Writes and reads JPEG files for tests, with libjpeg as in its manual.

struct TestJpeg {
  int height = 37;
  int width = 53;
  int components = 3;  // 1 gray, 3 RGB, 4 CMYK
  bool as_ycck = false;
  int across = 2;  // horizontal subsampling of the chroma components
  int down = 2;
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
  int restart_interval = 0;  // in MCUs
  int quality = 90;
};

// Smooth colors with some noise; the same for the same size.
std::vector<uint8_t> test_pixels(int height, int width, int components);
std::string make_jpeg(const TestJpeg& image);

struct BareJpeg {
  int components = 3;  // 1, 3, or 4: CMYK as stored
  bool fast = true;
  bool fancy = true;
  int ratio = 1;
};
std::vector<uint8_t> bare_decode(std::string_view bytes, const BareJpeg& how);

}  // namespace stoker
