#include "stoker/io/file_set.h"

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(FileSet, ReadsAnyPlaceOfMoreFilesThanStayOpen) {
  const TempDir dir;
  std::vector<std::string> paths;
  for (int i = 0; i < 200; ++i) paths.push_back(dir.write(std::to_string(i), "file " + std::to_string(i)));
  FileSet files(paths);
  for (const size_t i : {0, 199, 0, 100, 7}) EXPECT_EQ(files.read(i, 5, 1)->bytes(), std::to_string(i).substr(0, 1));
  for (size_t i = 0; i < 200; ++i)
    EXPECT_EQ(files.read(i, 0, *files.bytes_of(i))->bytes(), "file " + std::to_string(i));
  EXPECT_EQ(files.read(3, 5, 1)->source()->path, paths[3]);
  EXPECT_EQ(files.read(3, 5, 1)->source()->offset, 5);
}

TEST(FileSet, SaysWhereAFileEnds) {
  const TempDir dir;
  const std::string path = dir.write("a", "abc");
  FileSet files({path});
  const Error error = files.read(0, 1, 5).error();
  EXPECT_EQ(error.code(), Code::kDataLoss);
  EXPECT_EQ(error.message(), path + " ends at byte 3, 3 more were wanted: it was cut since it was opened");
  EXPECT_EQ(error.place().offset, 3);
}

TEST(FileSet, KnowsTheSizeOfAnEmptyFileAndNamesOneThatIsGone) {
  const TempDir dir;
  FileSet files({dir.write("none", ""), dir.at("gone")});
  EXPECT_EQ(*files.bytes_of(0), 0);
  EXPECT_EQ(files.bytes_of(1).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace stoker
