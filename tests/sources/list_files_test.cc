#include "stoker/sources/list_files.h"

#include <gtest/gtest.h>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

// Twenty files. Written once: the laws build the example again while other loaders list the files.
ListFiles example(bool shuffle) {
  static const TempDir dir;
  static const std::string pattern = [] {
    for (int i = 0; i < 20; ++i) dir.write("f" + std::to_string(i), "x");
    return dir.at("f*");
  }();
  return {.file_pattern = {pattern}, .shuffle = shuffle};
}

DATASET_EXAMPLE(Dataset::list_files(example(/*shuffle=*/false)));
DATASET_EXAMPLE(Dataset::list_files(example(/*shuffle=*/true)));

TEST(ListFiles, YieldsNamesInByteOrderIfNotShuffled) {
  TempDir dir;
  for (const char* name : {"b.txt", "a.txt", "c.dat"}) dir.write(name, "x");
  std::vector<std::string> names;
  for (const Element& e :
       elements(Dataset::list_files({.file_pattern = {dir.path().string() + "/*.txt"}, .shuffle = false})))
    names.emplace_back(e.leaves[0].bytes());
  EXPECT_EQ(names, (std::vector<std::string>{dir.path().string() + "/a.txt", dir.path().string() + "/b.txt"}));
}

TEST(ListFiles, ShufflesInTheSameOrderForTheSameSeed) {
  TempDir dir;
  for (int i = 0; i < 20; ++i) dir.write("f" + std::to_string(i), "x");
  auto listed = [&] {
    return text_of(Dataset::list_files({.file_pattern = {dir.path().string() + "/f*"}, .seed = 5}));
  };
  EXPECT_EQ(listed(), listed());
}

TEST(ListFiles, FailsIfNoFileMatches) {
  TempDir dir;
  const Dataset ds = Dataset::list_files({.file_pattern = {dir.path().string() + "/*.none"}});
  ASSERT_NE(ds.error(), nullptr);
  EXPECT_EQ(ds.error()->code(), Code::kInvalidArgument);
  EXPECT_NE(error_of(ds).find("*.none"), std::string::npos);
}

}  // namespace
}  // namespace stoker
