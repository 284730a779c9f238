#include "stoker/prepare/index.h"

#include <gtest/gtest.h>

#include "prepare/data_files.h"
#include "stoker/core/interrupt.h"

namespace stoker::prepare {
namespace {

using Counts = std::map<int64_t, int64_t>;

TEST(Index, StoresWhereRecordsStartAndKeepsTheIndexUntilTheFileChanges) {
  const TempDir folder;
  const std::string path = folder.write("a.tfrecord", record("x", 3) + record("y", 4));
  Result<IndexResult> result = index({.paths = {path}});
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_EQ(result->files.size(), 1u);
  EXPECT_EQ(result->files[0].records, 2);
  EXPECT_TRUE(result->files[0].created);
  EXPECT_TRUE(result->files[0].next_to_data);
  EXPECT_TRUE(std::filesystem::exists(result->files[0].index));
  EXPECT_FALSE(index({.paths = {path}})->files[0].created);
  folder.write("a.tfrecord", record("x", 3));
  EXPECT_TRUE(index({.paths = {path}})->files[0].created);
}

TEST(Index, CountsTheRecordsOfEachLabel) {
  const TempDir folder;
  const std::string path = folder.write("a.tfrecord", record("x", 3) + record("y", 4) + record("z", 3));
  EXPECT_EQ(index({.paths = {path}})->files[0].labels, std::nullopt);
  EXPECT_EQ(index({.paths = {path}, .label = "label"})->files[0].labels, (Counts{{3, 2}, {4, 1}}));
  EXPECT_EQ(index({.paths = {path}})->files[0].labels, (Counts{{3, 2}, {4, 1}}));  // now stored
}

TEST(Index, AFileThatCannotBeIndexedHasAnErrorAndTheOthersAreIndexed) {
  const TempDir folder;
  folder.write("a.tfrecord", record("x", 0));
  folder.write("b.jpg", small_jpeg());
  const Result<IndexResult> result = index({.paths = {folder.path().string()}});
  ASSERT_EQ(result->files.size(), 2u);
  EXPECT_EQ(result->files[0].records, 1);
  ASSERT_TRUE(result->files[1].error);
  EXPECT_EQ(result->files[1].error->message(), "the file is an image, expected a TFRecord file");
}

TEST(Index, AnInterruptCancelsIt) {
  const TempDir folder;
  folder.write("a.tfrecord", record("x", 0));
  const InterruptScope scope([] { return true; });
  EXPECT_EQ(index({.paths = {folder.path().string()}}).error().code(), Code::kCancelled);
}

}  // namespace
}  // namespace stoker::prepare
