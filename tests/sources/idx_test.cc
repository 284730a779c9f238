#include "stoker/sources/idx.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

std::string idx(char type, const std::vector<uint8_t>& dims, const std::string& values) {
  std::string file{0, 0, type, static_cast<char>(dims.size())};
  for (const uint8_t dim : dims) file += {0, 0, 0, static_cast<char>(dim)};
  return file + values;
}

constexpr char kUint8 = 8, kInt8 = 9;

// The files exist as long as the program, because the laws build the example several times.
std::vector<std::string> example_files() {
  static const TempDir dir;
  return {dir.write("a", idx(kUint8, {3, 2}, "abcdef")), dir.write("b.gz", gzipped(idx(kUint8, {2, 2}, "ghij")))};
}

DATASET_EXAMPLE(Dataset::idx({.filenames = example_files()}));

TEST(IdxSource, YieldsTheEntriesOfSeveralFilesInOrderPlainOrGzip) {
  const Dataset ds = Dataset::idx({.filenames = example_files()});
  EXPECT_EQ(ds.element_spec().describe(), "uint8[2]");
  EXPECT_EQ(*ds.cardinality(), 5);
  EXPECT_EQ(values(ds), (Values{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}));
  EXPECT_EQ(ds.at(3)->leaves[0], Array::from(std::vector<uint8_t>{'g', 'h'}));
}

TEST(IdxSource, YieldsScalarsIfTheFileHasOneAxis) {
  const TempDir dir;
  const Dataset ds = Dataset::idx({.filenames = {dir.write("labels", idx(kUint8, {3}, "\x07\x01\x02"))}});
  EXPECT_EQ(ds.element_spec().describe(), "uint8[]");
  EXPECT_EQ(values(ds), (Values{7, 1, 2}));
}

TEST(IdxSource, SkipsFilesWithoutEntries) {
  const TempDir dir;
  const std::string none = dir.write("none", idx(kUint8, {0}, "")),
                    two = dir.write("two", idx(kUint8, {2}, "\x05\x06"));
  EXPECT_EQ(values(Dataset::idx({.filenames = {none, two, none, two}})), (Values{5, 6, 5, 6}));
  EXPECT_EQ(values(Dataset::idx({.filenames = {none}})), Values{});
}

TEST(IdxSource, RejectsFilesWhoseEntriesDiffer) {
  const TempDir dir;
  const std::string a = dir.write("a", idx(kUint8, {1, 2}, "ab")), b = dir.write("b", idx(kUint8, {1, 3}, "abc")),
                    c = dir.write("c", idx(kInt8, {1, 2}, "ab")), one = dir.write("one", idx(kUint8, {}, "a"));
  EXPECT_EQ(error_of(Dataset::idx({.filenames = {a, b}})),
            "idx: entries of " + b + " are uint8 of shape [3], expected uint8 of shape [2] as in the first file");
  EXPECT_EQ(error_of(Dataset::idx({.filenames = {a, c}})),
            "idx: entries of " + c + " are int8 of shape [2], expected uint8 of shape [2] as in the first file");
  EXPECT_EQ(error_of(Dataset::idx({.filenames = {one}})),
            "idx: " + one + " contains a scalar, expected at least one axis");
  EXPECT_EQ(error_of(Dataset::idx({})), "idx: expected at least one file, got an empty list");
}

TEST(IdxSource, NamesAFileThatCannotBeRead) {
  const TempDir dir;
  const std::string whole = idx(kUint8, {2, 3}, "abcdef");
  const std::string cut = dir.write("cut", whole.substr(0, whole.size() - 1));
  EXPECT_EQ(error_of(Dataset::idx({.filenames = {cut}})),
            "idx: " + cut + ": an idx file of shape [2, 3] and type uint8 has 5 bytes of values, expected 6");
  const std::string zipped = gzipped(whole);
  const Dataset cut_gzip = Dataset::idx({.filenames = {dir.write("cut.gz", zipped.substr(0, zipped.size() - 9))}});
  ASSERT_NE(cut_gzip.error(), nullptr);
  EXPECT_EQ(cut_gzip.error()->code(), Code::kDataLoss);
  EXPECT_NE(error_of(cut_gzip).find("cut.gz"), std::string::npos);
  const Dataset missing = Dataset::idx({.filenames = {dir.at("gone")}});
  ASSERT_NE(missing.error(), nullptr);
  EXPECT_EQ(missing.error()->code(), Code::kNotFound);
}

TEST(IdxSource, RejectsACheckpointIfAFileChanged) {
  const TempDir dir;
  const auto labels = [&](const std::string& bytes) {
    return Dataset::idx({.filenames = {dir.write("labels", idx(kUint8, {3}, bytes))}});
  };
  Loader loader(labels("abc"));
  ASSERT_TRUE(loader.next().ok());
  const std::string saved = *loader.save();
  EXPECT_TRUE(Loader(labels("abc")).restore(saved).ok());
  EXPECT_FALSE(Loader(labels("abd")).restore(saved).ok());
}

}  // namespace
}  // namespace stoker
