#include "stoker/sources/npy.h"

#include <gtest/gtest.h>

#include "stoker/graph/npy.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

std::string npy(const std::string& header, const std::string& values) {
  std::string text = "{" + header + "}\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + values;
}
constexpr const char* kC = "'descr': '|u1', 'fortran_order': False, 'shape': ";
constexpr const char* kFortran = "'descr': '|u1', 'fortran_order': True, 'shape': ";

// Written once: the laws build the example again while other loaders read the files.
const std::vector<std::string>& example_files() {
  static const TempDir dir;
  static const std::vector<std::string> files = {dir.write("a.npy", npy(std::string(kC) + "(3, 2)", "abcdef")),
                                                 dir.write("b.npy", npy(std::string(kFortran) + "(2, 2)", "gihj"))};
  return files;
}

DATASET_EXAMPLE(Dataset::npy({.filenames = example_files()}));

TEST(NpySource, YieldsTheRowsOfSeveralFilesInCAndInFortranOrder) {
  const Dataset ds = Dataset::npy({.filenames = example_files()});
  EXPECT_EQ(ds.element_spec().describe(), "uint8[2]");
  EXPECT_EQ(*ds.cardinality(), 5);
  EXPECT_EQ(values(ds), (Values{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}));
  EXPECT_EQ(ds.at(3)->leaves[0], Array::from(std::vector<uint8_t>{'g', 'h'}));
}

TEST(NpySource, YieldsScalarsIfTheArrayHasOneAxis) {
  const TempDir dir;
  const Dataset ds =
      Dataset::npy({.filenames = {dir.write("a", npy("'descr': '>i2', 'fortran_order': False, 'shape': (2,)",
                                                     std::string("\0\1\2\0", 4)))}});
  EXPECT_EQ(ds.element_spec().describe(), "int16[]");
  EXPECT_EQ(values(ds), (Values{1, 512}));
}

TEST(NpySource, ConvertsFortranOrderForAnyRank) {
  const TempDir dir;
  std::string values_in_file(24, '\0');
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        values_in_file[static_cast<size_t>(i + 2 * (j + 3 * k))] = static_cast<char>(12 * i + 4 * j + k);
  const Dataset ds =
      Dataset::npy({.filenames = {dir.write("a", npy(std::string(kFortran) + "(2, 3, 4)", values_in_file))}});
  Values rising(24);
  for (int64_t i = 0; i < 24; ++i) rising[static_cast<size_t>(i)] = i;
  EXPECT_EQ(values(ds), rising);
}

TEST(NpySource, NamesTheFileAndTheProblem) {
  const TempDir dir;
  const std::string cut = dir.write("cut", npy(std::string(kC) + "(3, 2)", "abcde"));
  const std::string one = dir.write("one", npy(std::string(kC) + "()", "a"));
  const std::string other = dir.write("other", npy(std::string(kC) + "(1, 3)", "abc"));
  EXPECT_TRUE(error_of(Dataset::npy({.filenames = {cut}})).starts_with("npy: " + cut + ": .npy data ends at byte "));
  EXPECT_EQ(error_of(Dataset::npy({.filenames = {one}})),
            "npy: " + one + ": the array is a scalar, expected at least one axis");
  EXPECT_EQ(error_of(Dataset::npy({.filenames = {example_files()[0], other}})),
            "npy: " + other + ": rows are uint8 of shape [3], expected uint8 of shape [2] as in the first file");
  const std::string empty = dir.write("empty", npy(std::string(kC) + "(4611686018427387904, 0)", ""));
  EXPECT_EQ(error_of(Dataset::npy({.filenames = {empty, empty}})),
            "npy: " + empty + ": the array has 4611686018427387904 rows, expected at most 281474976710656");
  EXPECT_TRUE(error_of(Dataset::npy({.filenames = {dir.at("gone")}})).starts_with("npy: cannot open "));
}

}  // namespace
}  // namespace stoker
