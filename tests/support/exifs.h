#pragma once

#include <string>

namespace stoker {

// EXIF data with another tag and the orientation.
inline std::string exif_notes(int orientation, bool big = false) {
  const auto number = [big](int value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * (big ? size - 1 - i : i));
    return bytes;
  };
  const auto entry = [&](int tag, int value) {
    return number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + number(0, 2);
  };
  return (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(2, 2) + entry(0x0103, 6) +
         entry(0x0112, orientation) + number(0, 4);
}

// A JPEG with this EXIF data after its first segment.
inline std::string with_exif(std::string jpeg, const std::string& notes) {
  const std::string body = std::string("Exif\0\0", 6) + notes;
  const size_t length = body.size() + 2;
  const std::string segment{'\xff', '\xe1', static_cast<char>(length >> 8), static_cast<char>(length)};
  const size_t first = static_cast<unsigned char>(jpeg[4]) * 256u + static_cast<unsigned char>(jpeg[5]);
  return jpeg.insert(4 + first, segment + body);
}

}  // namespace stoker
