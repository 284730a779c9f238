#include "stoker/io/lines.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/streams.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(LineReader reader) {
  Lines lines;
  std::string_view line;
  while (reader.next(line).value()) lines.emplace_back(line);
  return lines;
}

Lines lines_of(const std::string& text, size_t buffer_bytes = 256 << 10) {
  return lines_of(LineReader(memory_stream(text), {.buffer_bytes = buffer_bytes}));
}

TEST(LineReader, SplitsAtNewlines) {
  EXPECT_EQ(lines_of("one\ntwo\n"), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("one\n\ntwo\n\n"), (Lines{"one", "", "two", ""}));
  EXPECT_EQ(lines_of("\n"), (Lines{""}));
}

TEST(LineReader, KeepsALastLineWithoutNewlineUnlessItIsEmpty) {
  EXPECT_EQ(lines_of("one\ntwo"), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("one\n"), (Lines{"one"}));
  EXPECT_EQ(lines_of(""), (Lines{}));
}

TEST(LineReader, DropsEveryCarriageReturn) {
  EXPECT_EQ(lines_of("one\r\ntwo\r\n"), (Lines{"one", "two"}));
  EXPECT_EQ(lines_of("\ro\rn\r\re\r"), (Lines{"one"}));
  EXPECT_EQ(lines_of("\r\n"), (Lines{""}));
  EXPECT_EQ(lines_of("one\n\r"), (Lines{"one"}));
}

TEST(LineReader, KeepsAllOtherBytes) {
  const std::string bytes("\0\xff\t \x1a", 5);
  EXPECT_EQ(lines_of(bytes + "\n" + bytes), (Lines{bytes, bytes}));
}

TEST(LineReader, DoesNotDependOnTheBufferSize) {
  const std::string text = "\r\n\none\r\n\rtw\ro\n" + std::string(50, 'x') + "\r\n\n\nlast\r";
  const Lines lines = lines_of(text);
  EXPECT_EQ(lines, (Lines{"", "", "one", "two", std::string(50, 'x'), "", "", "last"}));
  for (size_t bytes = 0; bytes < 80; ++bytes) EXPECT_EQ(lines_of(text, bytes), lines) << bytes;
  for (size_t piece = 1; piece < 80; ++piece)
    EXPECT_EQ(lines_of(LineReader(faulty_stream({.bytes = text, .piece = piece}))), lines) << piece;
}

TEST(LineReader, ReadsLinesOfAnyLength) {
  const std::string line(3000000, 'x');
  EXPECT_EQ(lines_of("a\n" + line + "\nb\n" + line), (Lines{"a", line, "b", line}));
}

TEST(LineReader, ReturnsTheOffsetOfALine) {
  const std::string text = "one\r\n\ntwo\nthree";
  for (size_t bytes : {1, 3, 100}) {
    LineReader reader(memory_stream(text), {.buffer_bytes = bytes});
    std::string_view line;
    std::vector<int64_t> offsets;
    while (reader.next(line).value()) offsets.push_back(reader.offset());
    EXPECT_EQ(offsets, (std::vector<int64_t>{0, 5, 6, 10}));
  }
}

TEST(LineReader, ReadsCompressedFiles) {
  const TempDir dir;
  const std::string path = dir.write("lines.gz", gzipped("one\ntw") + gzipped("o\nthree"));
  EXPECT_EQ(lines_of(LineReader::open(path, Compression::kGzip).value()), (Lines{"one", "two", "three"}));
}

TEST(LineReader, CountsOffsetsInTheUncompressedText) {
  LineReader reader(decompress(memory_stream(gzipped("one\ntwo\n")), Compression::kGzip).value());
  std::string_view line;
  ASSERT_TRUE(reader.next(line).value());
  ASSERT_TRUE(reader.next(line).value());
  EXPECT_EQ(line, "two");
  EXPECT_EQ(reader.offset(), 4);
}

TEST(LineReader, ReturnsTheLinesBeforeAnErrorThenTheErrorThenTheEnd) {
  LineReader reader(faulty_stream({.bytes = "one\ntwo\nthr", .fault = Error::corrupt("the disk is gone")}));
  std::string_view line;
  EXPECT_TRUE(reader.next(line).value());
  EXPECT_TRUE(reader.next(line).value());
  EXPECT_EQ(line, "two");
  EXPECT_EQ(reader.next(line).error().message(), "the disk is gone");
  EXPECT_FALSE(reader.next(line).value());
}

TEST(LineReader, ReportsWhereATruncatedFileEnds) {
  const TempDir dir;
  const std::string bytes = gzipped("one\ntwo\n");
  LineReader reader =
      LineReader::open(dir.write("cut.gz", bytes.substr(0, bytes.size() - 2)), Compression::kGzip).value();
  std::string_view line;
  EXPECT_TRUE(reader.next(line).value());
  EXPECT_TRUE(reader.next(line).value());
  const Error error = reader.next(line).error();
  EXPECT_EQ(error.code(), Code::kDataLoss);
  EXPECT_EQ(error.place().path, dir.at("cut.gz"));
  EXPECT_EQ(error.place().offset, static_cast<int64_t>(bytes.size()) - 2);
}

TEST(LineReader, NamesAFileThatItCannotOpen) {
  const TempDir dir;
  EXPECT_EQ(LineReader::open(dir.at("missing")).error().place().path, dir.at("missing"));
  EXPECT_EQ(LineReader::open(dir.path()).error().code(), Code::kFailedPrecondition);
}

TEST(LineReader, ContinuesAfterALineThatIsTooLong) {
  for (size_t bytes : {1, 4, 100}) {
    LineReader reader(memory_stream("12345\n1234567\n\r1\r2\r345\n123456", "long.txt"),
                      {.buffer_bytes = bytes, .line_bytes_at_most = 5});
    std::string_view line;
    EXPECT_TRUE(reader.next(line).value());
    EXPECT_EQ(line, "12345");
    const Error error = reader.next(line).error();
    EXPECT_EQ(error.code(), Code::kResourceExhausted);
    EXPECT_EQ(error.message(),
              "the line at byte 6 of long.txt is larger than the limit of 5 bytes; check that the file has the "
              "expected format");
    EXPECT_EQ(error.place().offset, 6);
    EXPECT_TRUE(reader.next(line).value());
    EXPECT_EQ(line, "12345");
    EXPECT_EQ(reader.next(line).error().place().offset, 23);
    EXPECT_FALSE(reader.next(line).value());
  }
}

}  // namespace
}  // namespace stoker
