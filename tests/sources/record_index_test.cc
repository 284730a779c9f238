#include "stoker/sources/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "stoker/codecs/crc32c.h"
#include "stoker/codecs/tfrecord.h"
#include "support/no_rights.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Sets a cache folder for the test.
class RecordIndexFiles : public testing::Test {
 protected:
  RecordIndexFiles() { setenv("STOKER_CACHE", dir.at("cache").c_str(), 1); }
  ~RecordIndexFiles() override { unsetenv("STOKER_CACHE"); }

  // Large enough that its index is stored.
  std::string large_file(char letter = 'a') const {
    std::string file;
    for (int i = 0; i < 40; ++i) append_record(file, std::string(30'000 + static_cast<size_t>(i), letter));
    return file;
  }
  Words kept() const {
    Words names;
    if (fs::exists(dir.path() / "cache" / "index"))
      for (const auto& entry : fs::directory_iterator(dir.path() / "cache" / "index"))
        names.push_back(entry.path().string());
    return names;
  }

  TempDir dir;
};

std::string numbered(int begin, int end) {
  std::string file;
  for (int i = begin; i < end; ++i) append_record(file, std::to_string(i));
  return file;
}

// Returns each element or error with its origin.
Words results_of(const Dataset& dataset) {
  Words found;
  Loader loader(dataset);
  while (true) {
    const auto next = loader.next();
    if (!next.ok())
      found.push_back(next.error().place().origin + " " + next.error().message());
    else if (!*next)
      return found;
    else
      found.push_back(std::string((*next)->leaves[0].bytes()));
  }
}

// Damage of every kind, in several files, one of which is missing.
std::vector<std::string> damaged_files(const TempDir& dir) {
  std::string payload = numbered(0, 10), header = numbered(10, 20);
  payload[13] ^= 1;
  header[40] ^= 1;
  return {dir.write("payload", payload),
          dir.at("missing"),
          dir.write("header", header),
          dir.write("empty", ""),
          dir.write("cut", numbered(20, 25).substr(0, 80)),
          dir.write("between", numbered(40, 43) + "junk" + numbered(43, 46)),
          dir.write("stray", numbered(30, 33) + "stray")};
}

TEST_F(RecordIndexFiles, ReadsByPositionTheSameRecordsErrorsAndOriginsAsTheStream) {
  const std::vector<std::string> files = damaged_files(dir);
  const auto stream = [&] { return Dataset::tfrecord({.filenames = files}); };
  const Words in_order = results_of(stream());
  const Words evens = results_of(stream().shard({.num_shards = 2, .index = 0}));
  const Words odds = results_of(stream().shard({.num_shards = 2, .index = 1}));
  ASSERT_EQ(evens.size() + odds.size(), in_order.size());
  for (size_t i = 0; i < in_order.size(); ++i) EXPECT_EQ((i % 2 ? odds : evens)[i / 2], in_order[i]) << i;
  EXPECT_EQ(*stream().cardinality(), static_cast<int64_t>(in_order.size()));
  EXPECT_EQ(*stream().cardinality(Counting::kAsKnown), kUnknown);
}

// Reads files instead of mapping them.
class Unmapped {
 public:
  Unmapped() { setenv("STOKER_MAP", "0", 1); }
  ~Unmapped() { unsetenv("STOKER_MAP"); }
};

TEST_F(RecordIndexFiles, FindsTheSameRecordsInAFileThatIsNotMapped) {
  std::vector<std::string> files = damaged_files(dir);
  std::string large = large_file() + std::string(70'000, 'j') + large_file() + numbered(0, 5000);
  files.push_back(dir.write("large", large));
  large[0] ^= 1;
  files.push_back(dir.write("large damaged", large));
  large.resize(large.size() - 3);
  files.push_back(dir.write("large cut", large));
  files.push_back(dir.write("long gap", numbered(0, 3) + std::string(3'000'000, 'j') + large_file()));
  const auto places_of = [](const std::string& path) -> std::vector<int64_t> {
    const Result<FileIndex> index = FileIndex::made(path);
    if (!index) return {};
    std::vector<int64_t> places{index->view().file().bytes};
    for (int64_t i = 0; i < index->view().records(); ++i) places.push_back(index->view().place(i));
    return places;
  };
  for (const std::string& path : files) {
    const std::vector<int64_t> mapped = places_of(path);
    const Unmapped here;
    EXPECT_EQ(places_of(path), mapped) << path;
  }
}

TEST_F(RecordIndexFiles, ReadsOnlyTheHeadersOfAFileThatIsNotMapped) {
  // A record of 1 TB that takes no space, and one after it.
  constexpr int64_t kBytes = int64_t{1} << 40;
  std::string header;
  for (int i = 0; i < 8; ++i) header += static_cast<char>(kBytes >> (8 * i) & 0xff);
  const uint32_t checksum = masked_crc32c(header);
  for (int i = 0; i < 4; ++i) header += static_cast<char>(checksum >> (8 * i) & 0xff);
  const std::string path = dir.write("huge", header);
  fs::resize_file(path, 16 + kBytes);
  std::ofstream(path, std::ios::binary | std::ios::app) << numbered(0, 1);
  const Unmapped here;
  const Result<FileIndex> index = FileIndex::made(path);
  ASSERT_TRUE(index) << index.error().message();
  ASSERT_EQ(index->view().records(), 2);
  EXPECT_EQ(index->view().place(1), 16 + kBytes);
}

TEST_F(RecordIndexFiles, LeavesNoFileIfTheIndexCannotBeStored) {
  const std::string path = dir.write("one", numbered(0, 5));
  fs::create_directories(dir.at(".stoker/one.index/in the way"));
  const Result<void> kept = FileIndex::made(path)->keep_beside(path);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message(), "cannot write " + dir.at(".stoker/one.index") + ": Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.at(".stoker")), {}), 1);
}

TEST_F(RecordIndexFiles, NamesTheReasonIfTheFolderOfTheIndexCannotBeCreated) {
  const std::string path = dir.write("one", numbered(0, 5));
  dir.write(".stoker", "a file");
  EXPECT_EQ(FileIndex::made(path)->keep_beside(path).error().message(),
            "cannot create the folder " + dir.at(".stoker") + ": Not a directory");
}

TEST_F(RecordIndexFiles, ShufflesAllRecordsAndReadsEachPosition) {
  const std::string path = dir.write("a", numbered(0, 500));
  const Dataset ds = Dataset::tfrecord({.filenames = {path}});
  const Words all = results_of(ds.shuffle({.seed = 3}));
  EXPECT_NE(all, results_of(ds));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 500u);
  EXPECT_EQ(ds.at(123)->leaves[0].bytes(), "123");
  EXPECT_EQ(ds.at(500).error().code(), Code::kOutOfRange);
  EXPECT_NE(ds.shuffle({}).explain()->find("positions, 500"), std::string::npos);
}

TEST_F(RecordIndexFiles, ReadsUnshuffledAndCompressedFilesAsStreams) {
  const std::string path = dir.write("a", numbered(0, 5));
  const Dataset ds = Dataset::tfrecord({.filenames = {path}});
  EXPECT_NE(ds.shuffle({.buffer_size = 3}).explain()->find("shuffle of 3 elements"), std::string::npos);
  EXPECT_EQ(ds.explain()->find("positions"), std::string::npos);
  const Dataset compressed = Dataset::tfrecord({.filenames = {path}, .compression_type = "GZIP"});
  EXPECT_EQ(*compressed.cardinality(), kUnknown);
}

TEST_F(RecordIndexFiles, StoresTheIndexFoundByCountingOrReading) {
  const std::string one = dir.write("one", large_file()), two = dir.write("two", large_file());
  EXPECT_EQ(*Dataset::tfrecord({.filenames = {one}}).cardinality(), 40);
  EXPECT_EQ(kept().size(), 1u);
  EXPECT_EQ(results_of(Dataset::tfrecord({.filenames = {two}})).size(), 40u);
  EXPECT_EQ(kept().size(), 2u);
  EXPECT_EQ(FileIndex::kept(two)->view().records(), 40);
  EXPECT_EQ(FileIndex::kept(two)->view().place(1), 30'016);
}

TEST_F(RecordIndexFiles, IgnoresTheIndexOfAnotherFile) {
  const std::string path = dir.write("one", large_file());
  ASSERT_EQ(*Dataset::tfrecord({.filenames = {path}}).cardinality(), 40);
  dir.write("one", large_file() + numbered(0, 3));  // the file has grown
  EXPECT_FALSE(FileIndex::kept(path));
  EXPECT_EQ(*Dataset::tfrecord({.filenames = {path}}).cardinality(), 43);
  // The same size, the same first and last bytes, and two records in the middle merged into one.
  std::string other;
  for (int i = 0; i < 20; ++i) append_record(other, std::string(100, 'x'));
  std::string merged = other;
  append_record(other, std::string(2'000'000, 'y'));
  append_record(other, std::string(1'000, 'y'));
  append_record(merged, std::string(1'000'000, 'y'));
  append_record(merged, std::string(1'001'000, 'y'));
  for (int i = 0; i < 80; ++i)
    append_record(other, std::string(100, 'z')), append_record(merged, std::string(100, 'z'));
  const std::string swapped = dir.write("swapped", other);
  ASSERT_EQ(*Dataset::tfrecord({.filenames = {swapped}}).cardinality(), 102);
  const auto before = fs::last_write_time(swapped);
  dir.write("swapped", merged);
  fs::last_write_time(swapped, before + std::chrono::seconds(1));
  EXPECT_EQ(results_of(Dataset::tfrecord({.filenames = {swapped}}).shuffle({})).size(), 102u);
}

TEST_F(RecordIndexFiles, UsesTheIndexOfACopy) {
  const std::string path = dir.write("a/one", large_file());
  ASSERT_TRUE(FileIndex::made(path)->keep_beside(path).ok());
  fs::copy(dir.at("a"), dir.at("b"), fs::copy_options::recursive);
  fs::last_write_time(dir.at("b/one"), fs::last_write_time(path) + std::chrono::hours(1));
  EXPECT_TRUE(FileIndex::kept(dir.at("b/one")));
}

TEST_F(RecordIndexFiles, FailsIfAFileChangedAfterItsRecordsWereCounted) {
  const std::string path = dir.write("one", large_file());
  const Dataset ds = Dataset::tfrecord({.filenames = {path}});
  ASSERT_EQ(*ds.cardinality(), 40);
  // FileSet keeps files open, so the path gets a new file.
  fs::rename(path, dir.at("moved"));
  dir.write("one", large_file().substr(0, 50'000));
  const Dataset anew = Dataset::tfrecord({.filenames = {path}});
  EXPECT_EQ(*anew.cardinality(), 2);
  EXPECT_EQ(ds.at(39)->leaves[0].bytes().size(), 30'039u);
  fs::resize_file(dir.at("moved"), 40'000);
  const auto cut = ds.at(39);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code(), Code::kDataLoss);
  EXPECT_EQ(cut.error().place().path, path);
}

TEST_F(RecordIndexFiles, FailsIfAFileGrewAfterItsRecordsWereCounted) {
  const std::string path = dir.write("one", numbered(0, 5));
  const Dataset ds = Dataset::tfrecord({.filenames = {path}});
  ASSERT_EQ(*ds.cardinality(), 5);
  dir.write("one", numbered(1000, 1009));
  EXPECT_THAT(ds.at(2).error().message(), testing::HasSubstr("has changed since its records were counted"));
}

TEST_F(RecordIndexFiles, WorksWithAReadOnlyCacheFolder) {
  const std::string path = dir.write("one", large_file());
  fs::create_directories(dir.at("cache"));
  fs::permissions(dir.at("cache"), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(dir.path(), fs::perms::group_all | fs::perms::others_all, fs::perm_options::add);
  const NoRights none;
  EXPECT_EQ(*Dataset::tfrecord({.filenames = {path}}).cardinality(), 40);
  EXPECT_FALSE(FileIndex::made(path)->keep_in_cache(path).ok());
}

// Fails all elements in a stage that does not receive the bytes of the record.
Dataset failing_after_parsing(const Words& files) {
  return Dataset::tfrecord({.filenames = files})
      .map({.map_func = [](const Element&) { return Element(Array::of(int64_t{1})); }})
      .map({.map_func = [](const Element&) -> Result<Element> { return Error::invalid("refused"); }});
}

// What is known of other files does not matter: an error after a restore names the same record.
TEST_F(RecordIndexFiles, NamesTheRecordInAnErrorWhereverReadingStarts) {
  Words files;
  for (int i = 0; i < 40; ++i) files.push_back(dir.write("f" + std::to_string(100 + i), numbered(2 * i, 2 * i + 2)));
  const auto dataset = [&] { return failing_after_parsing(files); };
  Loader whole(dataset());
  for (size_t i = 0; i < 80; ++i) {
    const std::string saved = whole.save().value();
    const std::string record = "record " + std::to_string(i % 2) + " of " + files[i / 2];
    Loader restored(dataset());
    ASSERT_TRUE(restored.restore(saved).ok());
    for (Loader* loader : {&whole, &restored}) {
      const Result<std::optional<Element>> next = loader->next();
      ASSERT_FALSE(next.ok());
      EXPECT_EQ(next.error().place().record, record);
      EXPECT_EQ(next.error().place().path, files[i / 2]);
    }
    const Result<Element> replayed = dataset().replay("tfrecord:" + std::to_string(i));
    ASSERT_FALSE(replayed.ok());
    EXPECT_EQ(replayed.error().place().record, record);
    EXPECT_EQ(replayed.error().place().path, files[i / 2]);
  }
}

TEST_F(RecordIndexFiles, ReturnsTheErrorOfARecordAfterAnInterrupt) {
  Words files;
  for (int i = 0; i < 40; ++i) files.push_back(dir.write("f" + std::to_string(100 + i), numbered(i, i + 1)));
  std::atomic<bool> interrupted = false;
  Loader first(failing_after_parsing(files));
  (void)text_of_rest(first, 30);
  Loader loader(failing_after_parsing(files), {.interrupted = [&] { return interrupted.load(); }});
  ASSERT_TRUE(loader.restore(first.save().value()).ok());
  interrupted = true;
  EXPECT_EQ(loader.next().error().code(), Code::kCancelled);
  interrupted = false;
  EXPECT_EQ(loader.next().error().place().record, "record 0 of " + files[30]);
}

TEST_F(RecordIndexFiles, ContinuesFromACheckpointByPosition) {
  const std::string path = dir.write("a", numbered(0, 300));
  const Dataset ds = Dataset::tfrecord({.filenames = {path}}).shuffle({.seed = 5});
  Loader first(ds);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(first.next().ok());
  const std::string saved = *first.save();
  Loader second(ds);
  ASSERT_TRUE(second.restore(saved).ok());
  EXPECT_EQ(text_of_rest(second), text_of_rest(first));
}

}  // namespace
}  // namespace stoker
