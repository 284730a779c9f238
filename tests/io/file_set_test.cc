#include "stoker/io/file_set.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/temp_dir.h"

namespace stoker {
namespace {

TEST(FileSet, ReadsAnyOffsetOfMoreFilesThanStayOpen) {
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

// Sets how many files the process may have open; undone with the object.
class OpenFileLimit {
 public:
  explicit OpenFileLimit(rlim_t files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const struct rlimit lower{files, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~OpenFileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  struct rlimit before_ = {};
};

TEST(FileSet, ReadsFilesOfAProcessThatMayHaveFewOpen) {
  const TempDir dir;
  std::vector<std::string> paths;
  for (int i = 0; i < 200; ++i) paths.push_back(dir.write(std::to_string(i), std::to_string(i)));
  FileSet first(paths), second(paths), third(paths), fourth(paths), fifth(paths);
  const OpenFileLimit limit(32);
  for (size_t i = 0; i < 200; ++i)
    for (FileSet* files : {&first, &second, &third, &fourth, &fifth})
      ASSERT_EQ(files->read(i, 0, *files->bytes_of(i)).value().bytes(), std::to_string(i));
  // Files that are read from front to back, too.
  std::vector<File> open;
  for (int i = 0; i < 15; ++i) open.push_back(File::open(paths[0]).value());
}

TEST(FileSet, ClosesNoFileWhereNoneIsOpen) {
  const TempDir dir;
  FileSet files({dir.write("a", "abc")});
  EXPECT_EQ(*files.bytes_of(0), 3);
  EXPECT_TRUE(FileSet::close_idle_file());
  EXPECT_FALSE(FileSet::close_idle_file());
  EXPECT_EQ(files.read(0, 1, 2)->bytes(), "bc");
}

TEST(FileSet, ReportsWhereATruncatedFileEnds) {
  const TempDir dir;
  const std::string path = dir.write("a", "abc");
  FileSet files({path});
  const Error error = files.read(0, 1, 5).error();
  EXPECT_EQ(error.code(), Code::kDataLoss);
  EXPECT_EQ(error.message(), path + " ends at byte 3, expected 3 more bytes: it was truncated after it was opened");
  EXPECT_EQ(error.place().offset, 3);
}

TEST(FileSet, ReturnsTheSizeOfAnEmptyFileAndNamesAMissingOne) {
  const TempDir dir;
  FileSet files({dir.write("none", ""), dir.at("gone")});
  EXPECT_EQ(*files.bytes_of(0), 0);
  EXPECT_EQ(files.bytes_of(1).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace stoker
