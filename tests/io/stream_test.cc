#include "stoker/io/stream.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/compress.h"
#include "support/no_rights.h"
#include "support/streams.h"
#include "support/temp_dir.h"
#include "support/zstd.h"

namespace stoker {
namespace {

std::string text_of_size(size_t size) {
  std::string text;
  for (uint32_t i = 0; text.size() < size; i = i * 1664525 + 1013904223) text += std::to_string(i >> 12) + '\n';
  text.resize(size);
  return text;
}

Drained inflated(const std::string& bytes, Compression compression, size_t piece = 4096) {
  const auto stream = decompress(memory_stream(bytes, "data.gz"), compression);
  return stream.ok() ? drain(**stream, piece) : Drained{"", stream.error()};
}

TEST(OpenStream, ReadsAPlainFile) {
  const TempDir dir;
  const std::string text = text_of_size(100000);
  const auto stream = open_stream(dir.write("text", text), Compression::kNone).value();
  EXPECT_EQ(drain(*stream).bytes, text);
  EXPECT_EQ(stream->path(), dir.at("text"));
}

TEST(OpenStream, DecompressesGzipAndZlib) {
  const TempDir dir;
  const std::string text = text_of_size(1000000);
  EXPECT_EQ(drain(*open_stream(dir.write("a", gzipped(text)), Compression::kGzip).value()).bytes, text);
  EXPECT_EQ(drain(*open_stream(dir.write("b", zlibbed(text)), Compression::kZlib).value()).bytes, text);
}

TEST(OpenStream, SkipsInPlainAndCompressedFiles) {
  const TempDir dir;
  const std::string text = text_of_size(600000);
  const std::string plain = dir.write("a", text), packed = dir.write("b", gzipped(text));
  for (const int64_t place : {0, 1, 300000, 600000}) {
    const auto stream = open_stream(plain, Compression::kNone).value();
    ASSERT_TRUE(stream->skip(place).ok());
    EXPECT_EQ(stream->left(), 600000 - place);
    EXPECT_EQ(drain(*stream).bytes, text.substr(static_cast<size_t>(place)));
    const auto inflated = open_stream(packed, Compression::kGzip).value();
    ASSERT_TRUE(inflated->skip(place).ok());
    EXPECT_EQ(inflated->left(), std::nullopt);
    EXPECT_EQ(drain(*inflated).bytes, text.substr(static_cast<size_t>(place)));
  }
  EXPECT_EQ(open_stream(plain, Compression::kNone).value()->skip(600001).error().message(),
            plain + " has 600000 bytes, expected at least 600001");
  EXPECT_EQ(open_stream(packed, Compression::kGzip).value()->skip(600002).error().message(),
            packed + " ends 2 bytes before the expected position");
}

TEST(OpenStream, NamesAFileThatItCannotOpen) {
  const TempDir dir;
  const Error missing = open_stream(dir.at("missing"), Compression::kGzip).error();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_EQ(missing.place().path, dir.at("missing"));
  EXPECT_EQ(open_stream(dir.path(), Compression::kNone).error().code(), Code::kFailedPrecondition);
  const std::string shut = dir.write("shut", "x");
  std::filesystem::permissions(dir.path(), std::filesystem::perms::all);
  std::filesystem::permissions(shut, std::filesystem::perms::none);
  const NoRights nobody;
  EXPECT_EQ(open_stream(shut, Compression::kNone).error().code(), Code::kPermissionDenied);
}

TEST(Decompress, DoesNotDependOnTheSizeOfOutputBuffers) {
  const std::string text = text_of_size(10000);
  for (int level : {0, 1, 6, 9})
    for (size_t piece : {1, 2, 7, 100, 4096, 100000}) {
      EXPECT_EQ(inflated(gzipped(text, level), Compression::kGzip, piece).bytes, text);
      EXPECT_EQ(inflated(zlibbed(text, level), Compression::kZlib, piece).bytes, text);
    }
}

TEST(Decompress, DoesNotDependOnTheSizeOfInputPieces) {
  const std::string text = text_of_size(10000);
  const std::string bytes = gzipped(text) + gzipped("") + gzipped(text) + std::string(50, '\0');
  for (size_t piece : {1, 2, 3, 10, 1000}) {
    const auto stream = decompress(faulty_stream({.bytes = bytes, .piece = piece}), Compression::kGzip).value();
    const Drained all = drain(*stream, 777);
    EXPECT_EQ(all.bytes, text + text);
    EXPECT_FALSE(all.error);
  }
}

TEST(Decompress, ReadsEveryMember) {
  EXPECT_EQ(inflated(gzipped("one") + gzipped("") + gzipped("two"), Compression::kGzip).bytes, "onetwo");
}

TEST(Decompress, AcceptsZerosAfterTheLastMember) {
  const Drained all = inflated(gzipped("one") + std::string(100000, '\0'), Compression::kGzip);
  EXPECT_EQ(all.bytes, "one");
  EXPECT_FALSE(all.error);
  EXPECT_EQ(inflated(gzipped("one") + std::string(9, '\0') + gzipped("two"), Compression::kGzip).bytes, "onetwo");
  EXPECT_FALSE(inflated(zlibbed("one") + std::string(9, '\0'), Compression::kZlib).error);
}

TEST(Decompress, ReadsAnEmptyMemberAsNothing) {
  const Drained all = inflated(gzipped(""), Compression::kGzip);
  EXPECT_EQ(all.bytes, "");
  EXPECT_FALSE(all.error);
}

TEST(Decompress, ReadsConcatenatedZstdFramesInPiecesOfEverySize) {
  const std::string text = text_of_size(100000);
  const std::string skippable("\x50\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  const std::string bytes = zstd_compressed(text) + skippable + zstd_compressed("") + zstd_compressed(text, 19);
  for (size_t piece : {1, 3, 1000, 1000000}) {
    const auto stream = decompress(faulty_stream({.bytes = bytes, .piece = piece}), Compression::kZstd).value();
    const Drained all = drain(*stream, 777);
    EXPECT_EQ(all.bytes, text + text);
    EXPECT_FALSE(all.error);
  }
  EXPECT_EQ(inflated(zstd_compressed("one") + std::string(512, '\0'), Compression::kZstd).bytes, "one");
  EXPECT_EQ(inflated(zstd_compressed("one"), Compression::kAuto).bytes, "one");
}

TEST(Decompress, DescribesDamageInZstdData) {
  const std::string text = text_of_size(100000), bytes = zstd_compressed(text);
  for (size_t size : {size_t{1}, size_t{4}, size_t{9}, bytes.size() / 2, bytes.size() - 1}) {
    const Drained cut = inflated(bytes.substr(0, size), Compression::kZstd);
    ASSERT_TRUE(cut.error) << size;
    EXPECT_EQ(cut.error->code(), Code::kDataLoss);
    EXPECT_EQ(cut.error->message(), "ZSTD data of data.gz ends too early, at byte " + std::to_string(size));
    EXPECT_EQ(text.compare(0, cut.bytes.size(), cut.bytes), 0);
  }
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);  // a byte of the checksum
  EXPECT_EQ(inflated(damaged, Compression::kZstd).error->code(), Code::kDataLoss);
  EXPECT_EQ(inflated("plain text", Compression::kZstd).error->message(),
            "data.gz does not start with ZSTD data; check its compression type");
  EXPECT_EQ(inflated("", Compression::kZstd).error->message(), "data.gz is empty, expected ZSTD data");
}

// The header declares 10 bytes, and the only block is empty. The library accepts this with small buffers.
TEST(Decompress, RejectsAZstdFrameOfAnotherSizeThanItDeclares) {
  const std::string bytes("\x28\xb5\x2f\xfd\x20\x0a\x01\x00\x00", 9);
  for (const size_t piece : {1, 2, 1000}) {
    for (const size_t buffer : {1, 7, 1 << 16}) {
      const auto stream = decompress(faulty_stream({.bytes = bytes, .piece = piece}), Compression::kZstd).value();
      const Drained all = drain(*stream, buffer);
      ASSERT_TRUE(all.error);
      EXPECT_EQ(all.error->code(), Code::kDataLoss);
    }
  }
}

TEST(Decompress, ReportsWhereTruncatedDataEnds) {
  const std::string text = text_of_size(100000);
  const std::string bytes = gzipped(text);
  for (size_t size : {size_t{1}, size_t{5}, size_t{20}, bytes.size() / 2, bytes.size() - 8, bytes.size() - 1}) {
    const Drained cut = inflated(bytes.substr(0, size), Compression::kGzip);
    ASSERT_TRUE(cut.error) << size;
    EXPECT_EQ(cut.error->code(), Code::kDataLoss);
    EXPECT_EQ(cut.error->message(), "GZIP data of data.gz ends too early, at byte " + std::to_string(size));
    EXPECT_EQ(cut.error->place().path, "data.gz");
    EXPECT_EQ(cut.error->place().offset, static_cast<int64_t>(size));
    EXPECT_EQ(text.compare(0, cut.bytes.size(), cut.bytes), 0);
  }
}

TEST(Decompress, ReturnsTheBytesBeforeATruncation) {
  const std::string text = text_of_size(100000);
  const std::string bytes = gzipped(text);
  EXPECT_GT(inflated(bytes.substr(0, bytes.size() / 2), Compression::kGzip).bytes.size(), 30000u);
  EXPECT_EQ(inflated(bytes.substr(0, bytes.size() - 4), Compression::kGzip).bytes, text);
}

TEST(Decompress, ReportsThatTheDataIsEmpty) {
  const Error error = *inflated("", Compression::kGzip).error;
  EXPECT_EQ(error.code(), Code::kDataLoss);
  EXPECT_EQ(error.message(), "data.gz is empty, expected GZIP data");
}

TEST(Decompress, RejectsGarbage) {
  for (const std::string& bytes : {std::string("plain text, not compressed"), std::string(100, '\0'),
                                   std::string(100, '\xff'), std::string("\x1f\x8b\x08\xff") + std::string(100, 'x')}) {
    const Drained gzip = inflated(bytes, Compression::kGzip);
    ASSERT_TRUE(gzip.error);
    EXPECT_EQ(gzip.error->code(), Code::kDataLoss);
    EXPECT_EQ(gzip.bytes, "");
    EXPECT_EQ(inflated(bytes, Compression::kZlib).error->code(), Code::kDataLoss);
  }
}

TEST(Decompress, RejectsGarbageAfterAMember) {
  const Drained gzip = inflated(gzipped("one") + "garbage", Compression::kGzip);
  EXPECT_EQ(gzip.bytes, "one");
  EXPECT_EQ(gzip.error->code(), Code::kDataLoss);
  EXPECT_NE(gzip.error->message().find("(complete members before it: 1)"), std::string::npos);
  const Drained zlib = inflated(zlibbed("one") + zlibbed("two"), Compression::kZlib);
  EXPECT_EQ(zlib.bytes, "one");
  EXPECT_EQ(zlib.error->code(), Code::kDataLoss);
}

TEST(Decompress, DetectsEveryFlippedBitThatMatters) {
  const std::string text = text_of_size(300);
  const std::string bytes = gzipped(text);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const Drained all = inflated(damaged, Compression::kGzip);
    const bool found = all.error && all.error->code() == Code::kDataLoss;
    EXPECT_TRUE(found || all.bytes == text) << "bit " << bit;
  }
}

TEST(Decompress, KeepsFailingAfterAnError) {
  const auto stream = decompress(memory_stream("garbage"), Compression::kGzip).value();
  char bytes[10];
  EXPECT_FALSE(stream->read(bytes).ok());
  EXPECT_FALSE(stream->read(bytes).ok());
}

TEST(Decompress, ReturnsAReadErrorAfterTheBytesBeforeIt) {
  const std::string text = text_of_size(100000);
  const Error fault = Error::corrupt("the disk is gone");
  for (size_t piece : {1, 100, 100000}) {
    const std::string bytes = gzipped(text);
    const auto stream =
        decompress(faulty_stream({.bytes = bytes.substr(0, bytes.size() - 3), .fault = fault}), Compression::kGzip)
            .value();
    const Drained all = drain(*stream, piece);
    EXPECT_EQ(all.bytes, text);
    EXPECT_EQ(all.error->message(), "the disk is gone");
  }
}

TEST(Decompress, DetectsGzipByItsFirstBytes) {
  EXPECT_EQ(inflated(gzipped("one"), Compression::kAuto).bytes, "one");
  EXPECT_EQ(inflated("x^ = 2", Compression::kAuto).bytes, "x^ = 2");
  EXPECT_EQ(inflated("\x1f", Compression::kAuto).bytes, "\x1f");
  EXPECT_EQ(inflated("", Compression::kAuto).bytes, "");
  const auto slow = decompress(faulty_stream({.bytes = gzipped("one"), .piece = 1}), Compression::kAuto).value();
  EXPECT_EQ(drain(*slow, 1).bytes, "one");
}

TEST(CompressionOf, AcceptsTheNamesOfTfData) {
  EXPECT_EQ(compression_of("").value(), Compression::kNone);
  EXPECT_EQ(compression_of("GZIP").value(), Compression::kGzip);
  EXPECT_EQ(compression_of("ZLIB").value(), Compression::kZlib);
  EXPECT_EQ(compression_of("BZIP2").error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace stoker
