#include "stoker/io/kept_mappings.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace stoker {
namespace {

File opened(const std::string& path) { return File::open(path).value(); }

TEST(KeptMappings, ReturnsTheSameMappingUntilTheFileChanges) {
  TempDir dir;
  const std::string path = dir.write("a", "one");
  KeptMappings kept;
  const auto first = kept.map(opened(path));
  EXPECT_EQ(kept.map(opened(path)), first);
  std::filesystem::rename(dir.write("b", "two"), path);
  EXPECT_EQ(kept.map(opened(path))->bytes(), "two");
  EXPECT_EQ(first->bytes(), "one");
}

TEST(KeptMappings, ReleasesTheLeastRecentlyUsedFirst) {
  TempDir dir;
  KeptMappings kept(10);
  std::weak_ptr<const MappedFile> a = kept.map(opened(dir.write("a", "aaaa")));
  std::weak_ptr<const MappedFile> b = kept.map(opened(dir.write("b", "bbbb")));
  EXPECT_FALSE(a.expired());
  EXPECT_EQ(kept.map(opened(dir.at("a"))), a.lock());
  EXPECT_EQ(kept.map(opened(dir.write("c", "cccc")))->bytes(), "cccc");
  EXPECT_TRUE(b.expired());
  EXPECT_FALSE(a.expired());
  EXPECT_EQ(kept.map(opened(dir.write("large", "more than ten")))->bytes(), "more than ten");
  EXPECT_FALSE(a.expired());
}

TEST(KeptMappings, MapsAFileAgainThatWasTruncatedWhileItWasRead) {
  TempDir dir;
  const std::string path = dir.write("a", std::string(100'000, 'x'));
  KeptMappings kept;
  const auto first = kept.map(opened(path));
  const auto time = std::filesystem::last_write_time(path);
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(first->bytes()[90'000], '\0');
  std::filesystem::resize_file(path, 100'000);
  std::filesystem::last_write_time(path, time);  // hides the change
  EXPECT_NE(kept.map(opened(path)), first);
}

}  // namespace
}  // namespace stoker
