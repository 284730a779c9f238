#include "stoker/prepare/inspect.h"

#include <gtest/gtest.h>

#include "prepare/data_files.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"

namespace stoker::prepare {
namespace {

TEST(Inspect, DescribesTheFeaturesOfRecords) {
  const TempDir folder;
  folder.write("labels.txt", "cat\ndog\n");
  const std::string path = folder.write("a.tfrecord", record(small_jpeg(), 1) + record(small_jpeg(), 1));
  const Result<InspectResult> result = inspect({.paths = {path}});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->record_files, 1);
  EXPECT_EQ(result->data.records.count, 2);
  EXPECT_EQ(result->data.examples, 2);
  EXPECT_EQ(result->data.features.at("image").images.heights.least, 24);
  ASSERT_TRUE(result->labels);
  EXPECT_EQ(result->labels->feature, "label");
  ASSERT_EQ(result->labels->counts.size(), 1u);
  EXPECT_EQ(result->labels->counts[0].class_name, "dog");
  EXPECT_EQ(result->labels->counts[0].records, 2);
}

TEST(Inspect, CountsImageFilesPerFolder) {
  const TempDir folder;
  write_photos(folder);
  const Result<InspectResult> result = inspect({.paths = {folder.at("photos")}});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->image_files, 3);
  EXPECT_EQ(result->folders, (std::map<std::string, int64_t>{{"cat", 2}, {"dog", 1}}));
  EXPECT_EQ(result->images.widths.most, 32);
}

TEST(Inspect, ReportsTheFirstDamagedRecord) {
  const TempDir folder;
  std::string bytes = record("x", 0) + record("y", 1);
  bytes.back() ^= 1;
  const std::string path = folder.write("a.tfrecord", bytes);
  const Result<InspectResult> result = inspect({.paths = {path}});
  EXPECT_EQ(result->data.damaged, 1);
  ASSERT_TRUE(result->first_damage);
  EXPECT_EQ(result->first_damage->path, path);
  EXPECT_EQ(result->first_damage->place.record, 1);
}

TEST(Inspect, WritesAContactSheet) {
  const TempDir folder;
  write_photos(folder);
  ASSERT_TRUE(inspect({.paths = {folder.at("photos")}, .sheet = folder.at("sheet.html"), .limit = 2}));
  const std::string page = *read_file(folder.at("sheet.html"));
  EXPECT_NE(page.find("cat/1.jpg"), std::string::npos);
  ASSERT_TRUE(inspect({.paths = {folder.at("photos")}, .sheet = folder.at("sheet.png")}));
  EXPECT_TRUE(read_file(folder.at("sheet.png"))->starts_with("\x89PNG"));
}

TEST(Inspect, RejectsASheetBeforeItReadsData) {
  const auto error_of = [](const InspectOptions& options) { return inspect(options).error().message(); };
  EXPECT_EQ(error_of({.paths = {"gone"}, .sheet = "a.gif"}),
            "sheet is a.gif, expected a name that ends with .png or .html");
  EXPECT_EQ(error_of({.paths = {"gone"}, .sheet = "a.png", .limit = 0}), "limit is 0, expected 1 to 10000");
}

TEST(Inspect, AnInterruptCancelsIt) {
  const TempDir folder;
  write_photos(folder);
  const InterruptScope scope([] { return true; });
  EXPECT_EQ(inspect({.paths = {folder.at("photos")}}).error().code(), Code::kCancelled);
}

}  // namespace
}  // namespace stoker::prepare
