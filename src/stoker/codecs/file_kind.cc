#include "stoker/codecs/file_kind.h"

#include <algorithm>
#include <span>
#include <string>

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr size_t kLookedAt = 1024;      // bytes of a text that determine its kind
constexpr size_t kSmallestHeader = 12;  // bytes; no image has fewer

struct Magic {
  std::string_view start;
  std::string_view kind;
};

// Image formats that other programs can convert to a supported one.
constexpr Magic kImages[] = {
    {"II*\0"sv, "TIFF"},
    {"MM\0*"sv, "TIFF"},
    {"II+\0"sv, "TIFF"},
    {"MM\0+"sv, "TIFF"},
    {"\xff\x0a"sv, "JPEG XL"},
    {"\0\0\0\x0cJXL "sv, "JPEG XL"},
    {"\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {"\xff\x4f\xff\x51"sv, "JPEG 2000"},
    {"8BPS"sv, "PSD"},
    {"\0\0\1\0"sv, "ICO"},
    {"qoif"sv, "QOI"},
    {"DDS "sv, "DDS"},
    {"\x76\x2f\x31\x01"sv, "OpenEXR"},
    {"#?RADIANCE"sv, "Radiance HDR"},
};

// Image formats that are decoded.
constexpr Magic kDecodable[] = {
    {"\xff\xd8\xff"sv, "JPEG"},
    {"\x89PNG\r\n\x1a\n"sv, "PNG"},
    {"GIF8"sv, "GIF"},
    {"RIFF"sv, "WebP"},
};

constexpr Magic kOthers[] = {
    {"%PDF-"sv, "PDF"},
    {"%!PS"sv, "PostScript"},
    {"PK\3\4"sv, "a ZIP archive"},
    {"\x1f\x8b"sv, "GZIP data"},
    {"\x28\xb5\x2f\xfd"sv, "zstd data"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive"},
    {"Rar!\x1a\7"sv, "a RAR archive"},
    {"\x93NUMPY"sv, "an npy file"},
    {"\x89HDF\r\n"sv, "an HDF5 file"},
    {"\0\5\x16\7"sv, "a macOS resource file"},
    {"version https://git-lfs"sv, "a Git LFS pointer"},
    {"\x1a\x45\xdf\xa3"sv, "a Matroska or WebM video"},
};

std::string_view named_by(std::span<const Magic> table, Bytes bytes) {
  const auto found = std::ranges::find_if(table, [&](const Magic& magic) { return bytes.starts_with(magic.start); });
  return found == table.end() ? std::string_view() : found->kind;
}

// The first box of both HEIF and MP4 lists brands. There may be several.
std::string_view kind_of_box(Bytes bytes) {
  if (bytes.size() < 12 || bytes.substr(4, 4) != "ftyp") return {};
  const Bytes brands = bytes.substr(8, 64);
  const auto has = [&](std::string_view brand) { return brands.find(brand) != Bytes::npos; };
  if (has("avif") || has("avis")) return "AVIF";
  for (const std::string_view brand : {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"})
    if (has(brand)) return "HEIC";
  if (has("crx ")) return "a camera's raw file";
  return "an MP4 video";
}

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

// Whether there are no control characters and no bytes that never occur in UTF-8.
bool is_text(Bytes bytes) {
  return std::ranges::none_of(bytes, [](char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return (value < ' ' && "\n\r\t\f"sv.find(byte) == Bytes::npos) || value >= 0xf5 || value == 0xc0 || value == 0xc1;
  });
}

std::string_view kind_of_text(Bytes bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  std::string start(bytes.substr(0, kLookedAt));
  if (!is_text(start)) return {};
  std::ranges::transform(start, start.begin(), lower);
  const size_t begin = start.find_first_not_of(" \t\r\n\f");
  if (begin == std::string::npos) return "blanks";
  const auto has = [&](std::string_view part) { return start.find(part) != std::string::npos; };
  if (start[begin] == '<') {
    if (has("<svg")) return "SVG";
    return has("<html") || has("<!doctype html") || has("<head") || has("<body") ? "an HTML page" : "XML";
  }
  if (start[begin] == '{' || start[begin] == '[') return "JSON";
  return "text";
}

bool is_convertible(std::string_view kind) {
  return kind == "HEIC" || kind == "AVIF" || kind == "SVG" || kind == "a camera's raw file" ||
         std::ranges::any_of(kImages, [&](const Magic& magic) { return magic.kind == kind; });
}

bool is_answer(std::string_view kind) { return kind == "an HTML page" || kind == "XML" || kind == "JSON"; }

// The format of an image of which only the first bytes are left, too few for a decoder to recognize it. Empty for
// other bytes. A single byte can be the start of several formats.
std::string_view kind_of_stub(Bytes bytes) {
  if (bytes.size() < 2 || bytes.size() >= kSmallestHeader) return {};
  const auto found = std::ranges::find_if(
      kDecodable, [&](const Magic& magic) { return magic.start.starts_with(bytes) || bytes.starts_with(magic.start); });
  return found == std::end(kDecodable) ? std::string_view() : found->kind;
}

std::string in_hex(Bytes bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string words;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    words += {' ', kDigits[value >> 4], kDigits[value & 15]};
  }
  return words;
}

}  // namespace

std::string_view kind_of(Bytes bytes) {
  if (bytes.empty()) return {};
  for (const std::string_view kind : {named_by(kImages, bytes), named_by(kOthers, bytes), kind_of_box(bytes)})
    if (!kind.empty()) return kind;
  if (bytes.size() >= 132 && bytes.substr(128, 4) == "DICM") return "DICOM";
  return kind_of_text(bytes);
}

Error not_a_image(Bytes bytes) {
  if (bytes.empty()) return Error::invalid("expected an image, got 0 bytes");
  constexpr std::string_view kDecoded = "JPEG, PNG, GIF, BMP or WebP";
  if (std::ranges::all_of(bytes, [](char byte) { return byte == 0; }))
    return Error::invalid("expected an image, got ", bytes.size(),
                          " zero bytes; the copy or download of the file may be incomplete");
  if (const std::string_view stub = kind_of_stub(bytes); !stub.empty())
    return Error::corrupt(stub, " data ends early: it has ", bytes.size(),
                          " bytes; the copy or download of the file may be incomplete");
  const std::string_view kind = kind_of(bytes);
  if (is_convertible(kind))
    return Error::invalid("the image is ", kind, ", expected ", kDecoded, "; convert it to one of these");
  if (is_answer(kind))
    return Error::invalid("expected an image, got ", kind, "; a server may have returned it instead of the image");
  if (kind == "a Git LFS pointer")
    return Error::invalid("expected an image, got ", kind, "; run `git lfs pull` to get the file");
  if (!kind.empty()) return Error::invalid("expected an image, got ", kind);
  if (bytes.size() < kSmallestHeader)
    return Error::invalid("expected an image, got ", bytes.size(), bytes.size() == 1 ? " byte" : " bytes", ":",
                          in_hex(bytes), "; no image is that short");
  return Error::invalid("unknown image format: the data starts with", in_hex(bytes.substr(0, 4)));
}

}  // namespace stoker
