#include "stoker/sources/npz.h"

#include <gtest/gtest.h>

#include "stoker/graph/npy.h"
#include "support/support.h"
#include "support/temp_dir.h"
#include "support/zips.h"

namespace stoker {
namespace {

std::string npy_of(const Array& array) {
  return *npy_header(array) +
         std::string(static_cast<const char*>(array.raw()), static_cast<size_t>(array.byte_size()));
}
Array numbers_up_to(int64_t n) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < n; ++i) all.push_back(i);
  return Array::from(all);
}
std::string npz(int64_t images, int64_t labels, bool deflate) {
  const std::vector<int64_t> dims{images, 2};
  return zip_of(
      {{"image.npy", npy_of(numbers_up_to(2 * images).reshaped(dims))}, {"label.npy", npy_of(numbers_up_to(labels))}},
      deflate);
}

// Written once: the laws build the example again while other loaders read the files.
const std::vector<std::string>& example_files() {
  static const TempDir dir;
  static const std::vector<std::string> files = {dir.write("a.npz", npz(2, 2, false)),
                                                 dir.write("b.npz", npz(3, 3, true))};
  return files;
}

DATASET_EXAMPLE(Dataset::npz({.filenames = example_files()}));

TEST(NpzSource, YieldsDictsOfTheRowsOfSeveralFilesStoredOrDeflated) {
  const Dataset ds = Dataset::npz({.filenames = example_files()});
  EXPECT_EQ(ds.element_spec().describe(), "(image: int64[2], label: int64[])");
  EXPECT_EQ(*ds.cardinality(), 5);
  EXPECT_EQ((*ds.at(4))["label"], Array::of(int64_t{2}));
  EXPECT_EQ((*ds.at(4))["image"], Array::from(std::vector<int64_t>{4, 5}));
  EXPECT_EQ((*ds.at(1))["image"], Array::from(std::vector<int64_t>{2, 3}));
}

TEST(NpzSource, NamesTheFileAndTheProblem) {
  const TempDir dir;
  const std::string uneven = dir.write("uneven.npz", npz(2, 3, false)), text = dir.write("text.npz", "text");
  EXPECT_EQ(error_of(Dataset::npz({.filenames = {uneven}})),
            "npz: " + uneven + ": the array label has 3 rows, but image has 2");
  EXPECT_TRUE(error_of(Dataset::npz({.filenames = {text}})).starts_with("npz: " + text + ": not a zip"));
  std::string damaged = npz(2, 2, false);
  damaged[damaged.find("NUMPY") + 150] ^= 1;  // changes a value, which the checksum detects
  const std::string broken = dir.write("broken.npz", damaged);
  EXPECT_TRUE(
      error_of(Dataset::npz({.filenames = {broken}})).starts_with("npz: " + broken + ": the member image.npy: "))
      << error_of(Dataset::npz({.filenames = {broken}}));
  const std::string other = dir.write("other.npz", zip_of({{"image.npy", npy_of(numbers_up_to(2))}}, false));
  EXPECT_EQ(error_of(Dataset::npz({.filenames = {example_files()[0], other}})),
            "npz: rows of " + other +
                " are (image: int64[]), expected (image: int64[2], label: int64[]) as in the first file");
}

}  // namespace
}  // namespace stoker
