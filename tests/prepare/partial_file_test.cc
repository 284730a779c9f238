#include "stoker/prepare/partial_file.h"

#include <gtest/gtest.h>

#include "stoker/io/file.h"
#include "support/temp_dir.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

int64_t files_in(const TempDir& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

TEST(PartialFile, GetsItsNameWhenItIsComplete) {
  const TempDir folder;
  const std::string large(100'000, 'x');  // written without the buffer
  Result<PartialFile> file = PartialFile::create(folder.at("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("small "));
  ASSERT_TRUE(file->append(large));
  ASSERT_TRUE(file->finish());
  EXPECT_FALSE(fs::exists(folder.at("a")));
  ASSERT_TRUE(file->keep());
  EXPECT_EQ(*read_file(folder.at("a")), "small " + large);
  EXPECT_EQ(files_in(folder), 1);
}

TEST(PartialFile, IsRemovedIfItIsNotKept) {
  const TempDir folder;
  {
    Result<PartialFile> file = PartialFile::create(folder.at("a"));
    ASSERT_TRUE(file->append("text"));
    EXPECT_EQ(files_in(folder), 1);
  }
  EXPECT_EQ(files_in(folder), 0);
}

TEST(PartialFile, TwoWritersOfOnePathDoNotDisturbEachOther) {
  const TempDir folder;
  Result<PartialFile> first = PartialFile::create(folder.at("a")), second = PartialFile::create(folder.at("a"));
  for (PartialFile* file : {&*first, &*second}) {
    ASSERT_TRUE(file->append(file == &*first ? "first" : "second"));
    ASSERT_TRUE(file->finish());
    ASSERT_TRUE(file->keep());
  }
  EXPECT_EQ(*read_file(folder.at("a")), "second");
}

TEST(WriteFile, WritesDevicesInPlace) { EXPECT_TRUE(write_file("/dev/null", "text")); }

TEST(WriteFile, LeavesTheOldFileIfItFails) {
  const TempDir folder;
  EXPECT_EQ(write_file(folder.at("gone/a"), "text").error().code(), Code::kNotFound);
  EXPECT_EQ(check_writable(folder.path().string()).error().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace stoker::prepare
