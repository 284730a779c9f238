#include "stoker/prepare/pack.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "prepare/data_files.h"
#include "stoker/core/interrupt.h"
#include "support/jpegs.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST(Pack, WritesShardsAndReturnsWhatTheyContain) {
  const TempDir folder;
  write_photos(folder);
  const Result<PackResult> result = pack({.source = folder.at("photos"), .destination = folder.at("packed")});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->records, 3);
  EXPECT_EQ(result->shards, std::vector{folder.at("packed/photos-00000-of-00001.tfrecord")});
  EXPECT_EQ(result->classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(result->bytes, static_cast<int64_t>(fs::file_size(result->shards[0])));
  EXPECT_EQ(names_in(folder.at("packed")), (std::set<std::string>{"labels.txt", "photos-00000-of-00001.tfrecord"}));
}

TEST(Pack, ReportsProgressFromTheStartToTheEndOfEachPhase) {
  const TempDir folder;
  write_photos(folder);
  std::vector<Progress> updates;
  ASSERT_TRUE(pack({.source = folder.at("photos"), .destination = folder.at("packed")},
                   [&](const Progress& now) { updates.push_back(now); }));
  EXPECT_EQ(updates.front().phase, Phase::kFind);
  EXPECT_EQ(updates[1].phase, Phase::kWrite);
  EXPECT_EQ(updates[1].done, 0);
  EXPECT_EQ(updates.back().done, 3);
  EXPECT_EQ(updates.back().total, 3);
  EXPECT_EQ(updates.back().unit, Unit::kImages);
  EXPECT_GT(updates.back().bytes, 0);
}

TEST(Pack, ABadFileIsAnErrorThatNamesTheOptionToSkipIt) {
  const TempDir folder;
  write_photos(folder);
  folder.write("photos/dog/4.jpg", "no image");
  PackOptions options{.source = folder.at("photos"), .destination = folder.at("packed")};
  const Result<PackResult> failed = pack(options);
  EXPECT_EQ(failed.error().code(), Code::kDataLoss);
  EXPECT_NE(failed.error().message().find("photos/dog/4.jpg"), std::string::npos);
  EXPECT_TRUE(failed.error().message().ends_with("skip such files with on_error=skip")) << failed.error().message();
  options.option_names = OptionNames::kFlags;
  EXPECT_TRUE(pack(options).error().message().ends_with("skip such files with --on-error skip"));
  options.on_error = OnError::kSkip;
  const Result<PackResult> result = pack(options);
  EXPECT_EQ(result->records, 3);
  ASSERT_EQ(result->skipped.size(), 1u);
  EXPECT_EQ(result->skipped[0].path, "dog/4.jpg");
}

// libjpeg cannot decode a marker of a reserved type, also if the file has an end marker.
std::string with_reserved_marker(std::string jpeg) {
  return jpeg.insert(jpeg.find("\xff\xda"), std::string("\xff\xae\x00\x04zz", 6));
}

TEST(Pack, RejectsAJpegThatCannotBeDecoded) {
  const TempDir folder;
  for (const bool progressive : {false, true}) {
    folder.write("photos/cat/1.jpg", with_reserved_marker(make_jpeg({.progressive = progressive})));
    const Result<PackResult> failed = pack({.source = folder.at("photos"), .destination = folder.at("packed")});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), Code::kDataLoss);
    EXPECT_NE(failed.error().message().find("1.jpg"), std::string::npos) << failed.error().message();
  }
}

TEST(Pack, RejectsOptionsThatAreOutOfRange) {
  const TempDir folder;
  write_photos(folder);
  const auto error_of = [&](PackOptions options) {
    options.source = folder.at("photos");
    options.destination = folder.at("packed");
    return pack(options).error().message();
  };
  EXPECT_EQ(error_of({.shards = 0}), "shards is 0, expected 1 to 99999");
  EXPECT_EQ(error_of({.resize = 65501}), "resize is 65501, expected 1 to 65500");
  EXPECT_EQ(error_of({.resize = 8, .quality = 101}), "quality is 101, expected 1 to 100");
  EXPECT_EQ(error_of({.resize = 8, .keep_bytes = true}),
            "resize changes images and keep_bytes does not; use only one of them");
  EXPECT_EQ(error_of({.shards = 4}), "shards is 4, and 'photos' has 3 records; use at most 3");
  EXPECT_FALSE(fs::exists(folder.at("packed")));
}

TEST(Pack, KeepsExistingShardsUnlessTheyMayBeReplaced) {
  const TempDir folder;
  write_photos(folder);
  PackOptions options{.source = folder.at("photos"), .destination = folder.at("packed")};
  ASSERT_TRUE(pack(options));
  EXPECT_EQ(pack(options).error().code(), Code::kFailedPrecondition);
  options.overwrite = true;
  EXPECT_TRUE(pack(options));
}

TEST(Pack, AnInterruptCancelsItAndLeavesNoFiles) {
  const TempDir folder;
  write_mnist(folder, 100'000);  // takes seconds
  bool writes = false;
  const InterruptScope scope([&] { return writes; });
  const Result<PackResult> result = pack({.source = folder.at("mnist"), .destination = folder.at("packed")},
                                         [&](const Progress& now) { writes = now.phase == Phase::kWrite; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kCancelled);
  EXPECT_EQ(names_in(folder.at("packed")), std::set<std::string>{});
}

TEST(Pack, TheSameCallContinuesAfterAnInterrupt) {
  const TempDir folder;
  write_mnist(folder, 20'000);
  const PackOptions options{.source = folder.at("mnist"), .destination = folder.at("packed"), .shards = 100};
  const fs::path work = folder.at("packed/.train.packing");
  UnfinishedPack unfinished;
  {
    const InterruptScope scope([&] { return fs::exists(work / "train-00000-of-00100.tfrecord.whole"); });
    const Result<PackResult> stopped = pack(options, {}, &unfinished);
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().code(), Code::kCancelled);
  }
  EXPECT_EQ(unfinished.folder, work.string());
  EXPECT_GT(unfinished.shards, 0);
  const Result<PackResult> result = pack(options);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->continued, unfinished.shards);
  EXPECT_EQ(result->records, 20'000);
  EXPECT_FALSE(fs::exists(work));
}

TEST(Pack, StartsAgainAfterAnInterruptIfALabelHasChanged) {
  const TempDir folder;
  write_mnist(folder, 20'000);
  const PackOptions options{.source = folder.at("mnist"), .destination = folder.at("packed"), .shards = 100};
  {
    const InterruptScope scope(
        [&] { return fs::exists(folder.at("packed/.train.packing/train-00000-of-00100.tfrecord.whole")); });
    ASSERT_FALSE(pack(options));
  }
  const std::string labels = folder.at("mnist/train-labels-idx1-ubyte");
  const fs::file_time_type before = fs::last_write_time(labels);
  std::fstream(labels, std::ios::binary | std::ios::in | std::ios::out).seekp(10'000).put(7);  // not at the ends
  fs::last_write_time(labels, before);
  const Result<PackResult> result = pack(options);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->continued, 0);
}

TEST(Pack, AnExceptionOfTheCallbackReachesTheCaller) {
  const TempDir folder;
  write_photos(folder);
  const auto fail = [](const Progress& now) {
    if (now.phase == Phase::kWrite) throw std::runtime_error("no more");
  };
  EXPECT_THROW((void)pack({.source = folder.at("photos"), .destination = folder.at("packed")}, fail),
               std::runtime_error);
  EXPECT_EQ(names_in(folder.at("packed")), std::set<std::string>{});
}

}  // namespace
}  // namespace stoker::prepare
