#include "stoker/codecs/file_kind.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stoker {
namespace {

using namespace std::string_literals;

std::string box(const std::string& brands) { return "\0\0\0\x18"s + "ftyp" + brands; }

TEST(FileKind, IsToldFromTheFirstBytes) {
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

TEST(FileKind, IsUnknownOfOtherBytes) {
  for (const std::string& bytes : {""s, "\1\2\3"s, "\xff\xd8"s, "text and\0zero"s, std::string(200, '\2')})
    EXPECT_EQ(kind_of(bytes), "");
}

TEST(FileKind, SaysWhatCanBeDone) {
  const auto said = [](Bytes bytes) { return not_a_picture(bytes).message(); };
  EXPECT_EQ(said(box("heic")), "it is HEIC, not JPEG, PNG, GIF, BMP or WebP; convert it to one of these");
  EXPECT_EQ(said("<html>"), "it is an HTML page, not a picture: perhaps what a server answered instead of one");
  EXPECT_EQ(said("%PDF-1.7"), "it is PDF, not a picture");
  EXPECT_EQ(said(""), "no picture: there are 0 bytes");
  EXPECT_EQ(said("\0\0\0"s), "no picture: all of its 3 bytes are zero, as when a copy or a download broke off");
  EXPECT_EQ(said("\1\2\3\4\5"), "not a picture of a format that is known, it begins with 01 02 03 04");
}

}  // namespace
}  // namespace stoker
