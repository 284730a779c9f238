#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// JPEG for tests, written and read by libjpeg as its manual shows.

struct TestJpeg {
  int height = 37;
  int width = 53;
  int components = 3;  // 1 grey, 3 RGB, 4 CMYK
  bool as_ycck = false;
  int across = 2;  // chroma has so many times fewer samples
  int down = 2;
  bool progressive = false;
  bool arithmetic = false;
  int restart_rows = 0;
  int restart_interval = 0;  // in units of the scan
  int quality = 90;
};

// Soft colours with some noise; the same for the same size.
std::vector<uint8_t> test_pixels(int height, int width, int components);
std::string make_jpeg(const TestJpeg& picture);

struct BareJpeg {
  int components = 3;  // 1, 3, or 4: CMYK as stored
  bool fast = true;
  bool fancy = true;
  int ratio = 1;
};
std::vector<uint8_t> bare_decode(std::string_view bytes, const BareJpeg& how);

}  // namespace stoker
