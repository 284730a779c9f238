#include "stoker/codecs/exif.h"

#include "stoker/codecs/image.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr Bytes kExif = "Exif\0\0"sv;
constexpr uint32_t kOrientation = 0x0112;

uint32_t number_at(Bytes bytes, size_t at, size_t size, bool big) {
  uint32_t number = 0;
  for (size_t i = 0; i < size; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + (big ? i : size - 1 - i)]);
  return number;
}

// EXIF metadata is a TIFF file. Its first directory is a count, then entries of tag, type, count
// and value.
int orientation_in(Bytes notes) {
  const bool big = notes.starts_with("MM\0*"sv);
  if (!big && !notes.starts_with("II*\0"sv)) return 1;
  if (notes.size() < 8) return 1;
  const size_t directory = number_at(notes, 4, 4, big);
  if (directory + 2 > notes.size()) return 1;
  const uint32_t count = number_at(notes, directory, 2, big);
  for (uint32_t i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + size_t{i} * 12;
    if (entry + 12 > notes.size()) return 1;
    constexpr uint32_t kShort = 3;
    if (number_at(notes, entry, 2, big) != kOrientation || number_at(notes, entry + 2, 2, big) != kShort) continue;
    const uint32_t value = number_at(notes, entry + 8, 2, big);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

// A segment is a marker, its length, and that many bytes minus two.
Bytes notes_of_jpeg(Bytes bytes) {
  size_t at = 2;
  while (at + 4 <= bytes.size() && bytes[at] == '\xff') {
    const uint32_t marker = number_at(bytes, at + 1, 1, true);
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return {};  // the scan, or the end
    const uint32_t length = number_at(bytes, at + 2, 2, true);
    if (length < 2) return {};
    const Bytes segment = bytes.substr(at + 4, length - 2);
    if (marker == 0xe1 && segment.starts_with(kExif)) return segment.substr(kExif.size());
    at += 2 + size_t{length};
  }
  return {};
}

// A chunk has a name and a length. In WebP, it is padded to an even number of bytes.
Bytes chunk_of(Bytes bytes, size_t at, std::string_view name, bool png) {
  while (at + 8 <= bytes.size()) {
    const size_t length = number_at(bytes, png ? at : at + 4, 4, png);
    if (bytes.substr(png ? at + 4 : at, 4) == name) return bytes.substr(at + 8, length);
    at += 8 + length + (png ? 4 : length % 2);
  }
  return {};
}

}  // namespace

int exif_orientation(Bytes image) {
  switch (format_of(image)) {
    case ImageFormat::kJpeg: return orientation_in(notes_of_jpeg(image));
    case ImageFormat::kPng: return orientation_in(chunk_of(image, 8, "eXIf", true));
    case ImageFormat::kWebp: {
      Bytes notes = chunk_of(image, 12, "EXIF", false);
      if (notes.starts_with(kExif)) notes.remove_prefix(kExif.size());
      return orientation_in(notes);
    }
    default: return 1;
  }
}

}  // namespace stoker
