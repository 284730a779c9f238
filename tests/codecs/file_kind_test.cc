#include "stoker/codecs/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stoker {
namespace {

using namespace std::string_literals;

std::string box(const std::string& brands) { return "\0\0\0\x18"s + "ftyp" + brands; }

TEST(FileKind, IsDetectedByTheFirstBytes) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {box("heic\0\0\0\0mif1heic"s), "HEIC"},
      {box("mif1\0\0\0\0mif1miaf"s), "HEIC"},
      {box("avif\0\0\0\0avifmif1"s), "AVIF"},
      {box("mif1\0\0\0\0mif1avif"s), "AVIF"},
      {box("isom\0\0\2\0isommp41"s), "an MP4 video"},
      {"II*\0\x08\0\0\0"s, "TIFF"},
      {"MM\0*\0\0\0\x08"s, "TIFF"},
      {"\xff\x0a\xfa"s, "JPEG XL"},
      {"\0\0\0\x0cJXL \r\n\x87\n"s, "JPEG XL"},
      {"\0\0\0\x0cjP  \r\n\x87\n"s, "JPEG 2000"},
      {"8BPS\0\1"s, "PSD"},
      {"\0\0\1\0\1\0"s, "ICO"},
      {"%PDF-1.7", "PDF"},
      {"PK\3\4....", "a ZIP archive"},
      {"\x1f\x8b\x08", "GZIP data"},
      {"<svg xmlns='http://www.w3.org/2000/svg'>", "SVG"},
      {"<?xml version='1.0'?>\n<!-- drawn -->\n<svg>", "SVG"},
      {"\n <!DOCTYPE HTML><title>404</title>", "an HTML page"},
      {"\xef\xbb\xbf<HTML>", "an HTML page"},
      {"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "XML"},
      {"{\"error\": 403}", "JSON"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0", "a Git LFS pointer"},
      {"not found", "text"},
      {" \n", "blanks"},
      {std::string(128, '\1') + "DICM", "DICOM"},
  };
  for (const auto& [bytes, kind] : kinds) EXPECT_EQ(kind_of(bytes), kind);
}

TEST(FileKind, IsUnknownForOtherBytes) {
  for (const std::string& bytes : {""s, "\1\2\3"s, "\xff\xd8"s, "text and\0zero"s, std::string(200, '\2')})
    EXPECT_EQ(kind_of(bytes), "");
}

TEST(FileKind, SuggestsWhatToDo) {
  const auto said = [](Bytes bytes) { return not_a_image(bytes).message(); };
  EXPECT_EQ(said(box("heic")), "the image is HEIC, expected JPEG, PNG, GIF, BMP or WebP; convert it to one of these");
  EXPECT_EQ(said("<html>"), "expected an image, got an HTML page; a server may have returned it instead of the image");
  EXPECT_EQ(said("%PDF-1.7"), "expected an image, got PDF");
  EXPECT_EQ(said(""), "expected an image, got 0 bytes");
  EXPECT_EQ(said("\0\0\0"s), "expected an image, got 3 zero bytes; the copy or download of the file may be incomplete");
  EXPECT_EQ(said("\1\2\3\4\5"), "expected an image, got 5 bytes: 01 02 03 04 05; no image is that short");
  EXPECT_EQ(said("\xff"), "expected an image, got 1 byte: ff; no image is that short");
  EXPECT_EQ(said("\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c"), "unknown image format: the data starts with 01 02 03 04");
}

// Law: the first bytes of an image, too few to recognize it, are a truncated image with its format and size.
TEST(FileKind, ReportsATruncatedImageAsTruncated) {
  const std::vector<std::pair<std::string, std::string>> images{
      {"PNG", "\x89PNG\r\n\x1a\n"}, {"JPEG", "\xff\xd8\xff"}, {"GIF", "GIF89a"}, {"WebP", "RIFF\x24\1\1\1WEB"}};
  for (const auto& [format, start] : images)
    for (size_t size = 2; size < start.size(); ++size) {
      const Error error = not_a_image(start.substr(0, size));
      EXPECT_EQ(error.code(), Code::kDataLoss);
      EXPECT_EQ(error.message(), format + " data ends early: it has " + std::to_string(size) +
                                     " bytes; the copy or download of the file may be incomplete");
    }
}

}  // namespace
}  // namespace stoker
