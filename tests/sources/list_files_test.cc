#include "stoker/sources/list_files.h"

#include <gtest/gtest.h>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(ListFiles, GivesNamesInByteOrderWhenNotShuffled) {
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
    return words_of(Dataset::list_files({.file_pattern = {dir.path().string() + "/f*"}, .seed = 5}));
  };
  EXPECT_EQ(listed(), listed());
}

TEST(ListFiles, SaysWhenNothingMatches) {
  TempDir dir;
  const Dataset ds = Dataset::list_files({.file_pattern = {dir.path().string() + "/*.none"}});
  ASSERT_NE(ds.error(), nullptr);
  EXPECT_EQ(ds.error()->code(), Code::kInvalidArgument);
  EXPECT_NE(error_of(ds).find("*.none"), std::string::npos);
}

}  // namespace
}  // namespace stoker
