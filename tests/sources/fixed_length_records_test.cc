#include "stoker/sources/fixed_length_records.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

// Two files with records of three bytes, a header of two bytes and a footer of one byte. Written once: the laws build
// the example again while other loaders read the files.
FixedLengthRecords example(const std::string& compression = {}) {
  static const TempDir dir;
  static const std::string a = "hhabcdeff", b = "hhghif";
  static const std::vector<std::string> plain = {dir.write("a", a), dir.write("b", b)};
  static const std::vector<std::string> packed = {dir.write("a.gz", gzipped(a)), dir.write("b.gz", gzipped(b))};
  return {.filenames = compression.empty() ? plain : packed,
          .record_bytes = 3,
          .header_bytes = 2,
          .footer_bytes = 1,
          .compression_type = compression};
}

DATASET_EXAMPLE(Dataset::fixed_length_records(example()));
DATASET_EXAMPLE(Dataset::fixed_length_records(example("GZIP")));

// Runs one pass. An error becomes "error".
Texts texts(const Dataset& dataset) {
  Texts found;
  Loader loader(dataset);
  while (true) {
    auto next = loader.next();
    if (next && !*next) return found;
    found.emplace_back(next ? std::string((*next)->leaves[0].bytes()) : "error");
  }
}

TEST(FixedLengthRecords, YieldsTheRecordsBetweenTheHeaderAndTheFooterOfEachFile) {
  EXPECT_EQ(texts(Dataset::fixed_length_records(example())), (Texts{"abc", "def", "ghi"}));
  EXPECT_EQ(texts(Dataset::fixed_length_records(example("GZIP"))), (Texts{"abc", "def", "ghi"}));
}

TEST(FixedLengthRecords, IsAListIfTheFilesAreNotCompressed) {
  const Dataset plain = Dataset::fixed_length_records(example());
  EXPECT_EQ(*plain.cardinality(), 3);
  EXPECT_EQ(plain.at(2)->leaves[0].bytes(), "ghi");
  const auto source = plain.at(1)->leaves[0].source();
  ASSERT_TRUE(source);
  EXPECT_EQ(source->offset, 5);
  EXPECT_EQ(*Dataset::fixed_length_records(example("GZIP")).cardinality(), kUnknown);
}

TEST(FixedLengthRecords, ReturnsOneErrorForAFileWhoseSizeDoesNotFitAndContinuesWithTheNext) {
  const TempDir dir;
  const std::string odd = dir.write("odd", "abcd"), good = dir.write("good", "xyz"), none = dir.write("none", "");
  const Dataset ds = Dataset::fixed_length_records({.filenames = {odd, none, dir.at("gone"), good}, .record_bytes = 3});
  EXPECT_EQ(texts(ds), (Texts{"error", "error", "xyz"}));
  EXPECT_EQ(first_error(ds), odd + " has 4 bytes of records, expected a multiple of 3");
  const Dataset small =
      Dataset::fixed_length_records({.filenames = {odd}, .record_bytes = 1, .header_bytes = 3, .footer_bytes = 2});
  EXPECT_EQ(first_error(small), odd + " has 4 bytes, expected at least a header of 3 and a footer of 2");
}

TEST(FixedLengthRecords, ReturnsOneErrorForAnIncompleteRecordAtTheEndOfACompressedFile) {
  const TempDir dir;
  const std::string odd = dir.write("odd", zlibbed("abcde")), good = dir.write("good", zlibbed("xyz"));
  const std::string short_header = dir.write("short", zlibbed("a"));
  const Dataset ds =
      Dataset::fixed_length_records({.filenames = {odd, good}, .record_bytes = 3, .compression_type = "ZLIB"});
  EXPECT_EQ(texts(ds), (Texts{"abc", "error", "xyz"}));
  EXPECT_EQ(first_error(ds), odd + " ends with 2 bytes after its last complete record, expected a footer of 0");
  EXPECT_EQ(texts(Dataset::fixed_length_records(
                {.filenames = {short_header}, .record_bytes = 1, .header_bytes = 2, .compression_type = "ZLIB"})),
            Texts{"error"});
}

TEST(FixedLengthRecords, RejectsInvalidSizes) {
  EXPECT_EQ(error_of(Dataset::fixed_length_records({.filenames = {"a"}})),
            "fixed_length_records: record_bytes is 0, expected 1 to 1099511627776");
  EXPECT_EQ(error_of(Dataset::fixed_length_records({.filenames = {"a"}, .record_bytes = 1, .header_bytes = -1})),
            "fixed_length_records: header_bytes is -1, expected 0 to 1099511627776");
  EXPECT_EQ(error_of(Dataset::fixed_length_records({.filenames = {"a"}, .record_bytes = 1, .footer_bytes = -2})),
            "fixed_length_records: footer_bytes is -2, expected 0 to 1099511627776");
  EXPECT_EQ(error_of(Dataset::fixed_length_records({.record_bytes = 1})),
            "fixed_length_records: expected at least one file, got an empty list");
}

TEST(FixedLengthRecords, NamesAFileThatWasTruncatedAfterItWasOpened) {
  const TempDir dir;
  const std::string path = dir.write("a", "abcdef");
  const Dataset ds = Dataset::fixed_length_records({.filenames = {path}, .record_bytes = 3});
  ASSERT_EQ(*ds.cardinality(), 2);
  std::filesystem::resize_file(path, 4);
  EXPECT_EQ(texts(ds), (Texts{"abc", "error"}));
  EXPECT_EQ(first_error(ds), path + " ends at byte 4, expected 2 more bytes: it was truncated after it was opened");
}

}  // namespace
}  // namespace stoker
