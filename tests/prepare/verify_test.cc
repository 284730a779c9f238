#include "stoker/prepare/verify.h"

#include <gtest/gtest.h>

#include "prepare/data_files.h"
#include "stoker/core/interrupt.h"

namespace stoker::prepare {
namespace {

TEST(Verify, CountsRecordsAndImages) {
  const TempDir folder;
  folder.write("a.tfrecord", record(small_jpeg(), 0) + record(small_jpeg(), 1));
  folder.write("b.jpg", small_jpeg());
  folder.write("notes.txt", "text");
  const Result<VerifyResult> result = verify({.paths = {folder.path().string()}});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->files, 2);
  EXPECT_EQ(result->records, 2);
  EXPECT_EQ(result->images, 3);
  EXPECT_EQ(result->left_out, 1);
  EXPECT_TRUE(result->bad.empty());
}

TEST(Verify, FindsBadRecordsAndImagesWithTheirPlaces) {
  const TempDir folder;
  const std::string good = record(small_jpeg(), 0);
  std::string bad = record(small_jpeg(), 1);
  bad[40] ^= 1;
  const std::string records = folder.write("a.tfrecord", good + bad);
  const std::string image = folder.write("b.jpg", small_jpeg().substr(0, 200));
  const Result<VerifyResult> result = verify({.paths = {records, image}});
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_EQ(result->bad.size(), 2u);
  EXPECT_EQ(result->bad[0].path, records);
  ASSERT_TRUE(result->bad[0].place);
  EXPECT_EQ(result->bad[0].place->record, 1);
  EXPECT_EQ(result->bad[0].place->offset, static_cast<int64_t>(good.size()));
  EXPECT_EQ(result->bad[1].path, image);
  EXPECT_FALSE(result->bad[1].place);
}

TEST(Verify, WithoutImagesChecksOnlyChecksums) {
  const TempDir folder;
  const std::string path = folder.write("a.tfrecord", record(small_jpeg().substr(0, 200), 0));
  EXPECT_EQ(verify({.paths = {path}})->bad.size(), 1u);
  EXPECT_EQ(verify({.paths = {path}, .images = false})->bad.size(), 0u);
}

TEST(Verify, ProgressCountsBytes) {
  const TempDir folder;
  const std::string bytes = record(small_jpeg(), 0);
  std::vector<Progress> updates;
  ASSERT_TRUE(
      verify({.paths = {folder.write("a.tfrecord", bytes)}}, [&](const Progress& now) { updates.push_back(now); }));
  EXPECT_EQ(updates.front().phase, Phase::kFind);
  EXPECT_EQ(updates.back().phase, Phase::kRead);
  EXPECT_EQ(updates.back().unit, Unit::kBytes);
  EXPECT_EQ(updates.back().done, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(updates.back().total, static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(updates.back().items, 1);
  EXPECT_EQ(updates.back().item_unit, Unit::kRecords);
}

TEST(Verify, AnInterruptCancelsIt) {
  const TempDir folder;
  folder.write("a.jpg", small_jpeg());
  const InterruptScope scope([] { return true; });
  EXPECT_EQ(verify({.paths = {folder.path().string()}}).error().code(), Code::kCancelled);
}

TEST(Verify, RejectsPathsWithoutData) {
  const TempDir folder;
  for (const std::vector<std::string>& paths : {std::vector<std::string>{}, std::vector{folder.path().string()}})
    EXPECT_EQ(verify({.paths = paths}).error().code(), Code::kFailedPrecondition);
  EXPECT_EQ(verify({.paths = {folder.at("gone")}}).error().code(), Code::kNotFound);
}

TEST(Verify, DoesNotCountTheClassesNextToRecordsAsSkipped) {
  const TempDir folder;
  folder.write("a.tfrecord", record(small_jpeg(), 0));
  folder.write("labels.txt", "cat\n");
  const Result<VerifyResult> result = verify({.paths = {folder.path().string()}});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->left_out, 0);
}

}  // namespace
}  // namespace stoker::prepare
