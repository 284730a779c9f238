#include "stoker/codecs/file_kind.h"

#include <algorithm>
#include <span>
#include <string>

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr size_t kLookedAt = 1024;  // of a text, for what tells its kind

struct Magic {
  std::string_view start;
  std::string_view kind;
};

// Pictures that somebody else could turn into one of ours.
constexpr Magic kPictures[] = {
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

// The first box of HEIF and of MP4 alike lists brands, of which several may stand there.
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

// No control characters, and none of the bytes that UTF-8 never has.
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
         std::ranges::any_of(kPictures, [&](const Magic& magic) { return magic.kind == kind; });
}

bool is_answer(std::string_view kind) { return kind == "an HTML page" || kind == "XML" || kind == "JSON"; }

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
  for (const std::string_view kind : {named_by(kPictures, bytes), named_by(kOthers, bytes), kind_of_box(bytes)})
    if (!kind.empty()) return kind;
  if (bytes.size() >= 132 && bytes.substr(128, 4) == "DICM") return "DICOM";
  return kind_of_text(bytes);
}

Error not_a_picture(Bytes bytes) {
  if (bytes.empty()) return Error::invalid("no picture: there are 0 bytes");
  constexpr std::string_view kDecoded = "JPEG, PNG, GIF, BMP or WebP";
  if (std::ranges::all_of(bytes, [](char byte) { return byte == 0; }))
    return Error::invalid("no picture: all of its ", bytes.size(),
                          " bytes are zero, as when a copy or a download broke off");
  const std::string_view kind = kind_of(bytes);
  if (is_convertible(kind)) return Error::invalid("it is ", kind, ", not ", kDecoded, "; convert it to one of these");
  if (is_answer(kind))
    return Error::invalid("it is ", kind, ", not a picture: perhaps what a server answered instead of one");
  if (kind == "a Git LFS pointer")
    return Error::invalid("it is ", kind, ", not a picture; `git lfs pull` brings the file it stands for");
  if (!kind.empty()) return Error::invalid("it is ", kind, ", not a picture");
  return Error::invalid("not a picture of a format that is known, it begins with", in_hex(bytes.substr(0, 4)));
}

}  // namespace stoker
