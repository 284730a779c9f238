#include "stoker/sources/tfrecord.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "stoker/codecs/tfrecord.h"
#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Words = std::vector<std::string>;

std::string file_of(const Words& payloads) {
  std::string file;
  for (const std::string& payload : payloads) append_record(file, payload);
  return file;
}

std::string numbered(int begin, int end) {
  std::string file;
  for (int i = begin; i < end; ++i) append_record(file, std::to_string(i));
  return file;
}

// Several files, one of them empty and one damaged in the middle. Written once, because loaders of other copies of the
// dataset may have them open.
Words example_files(bool compressed) {
  static const TempDir dir;
  std::string damaged = numbered(10, 20);
  damaged[100] ^= 1;
  Words names;
  for (const std::string& file : {numbered(0, 9), std::string(), damaged, numbered(20, 25).substr(0, 80)}) {
    const std::string name = (compressed ? "compressed" : "plain") + std::to_string(names.size());
    names.push_back(dir.write(name, compressed ? gzipped(file) : file));
  }
  return names;
}

Dataset example(const std::string& compression_type) {
  static const Words plain = example_files(false), compressed = example_files(true);
  return Dataset::tfrecord(
      {.filenames = compression_type.empty() ? plain : compressed, .compression_type = compression_type});
}

DATASET_EXAMPLE(example(""));
DATASET_EXAMPLE(example("").shuffle({}));
DATASET_EXAMPLE(example("").shard({.num_shards = 3, .index = 1}).shuffle({.seed = 7}));
DATASET_EXAMPLE(example("GZIP"));

Words payloads(const Dataset& dataset) {
  Words found;
  for (const Element& e : elements(dataset)) found.emplace_back(e.leaves[0].bytes());
  return found;
}

TEST(TFRecordSource, YieldsTheRecordsOfSeveralFilesInOrder) {
  TempDir dir;
  const Words names{dir.write("a", file_of({"one", ""})), dir.write("b", ""), dir.write("c", file_of({"three"}))};
  EXPECT_EQ(payloads(Dataset::tfrecord({.filenames = names})), (Words{"one", "", "three"}));
}

TEST(TFRecordSource, ReadsCompressedFiles) {
  TempDir dir;
  const std::string file = file_of({"one", std::string(3'000'000, 'x'), "three"});
  const Words wanted{"one", std::string(3'000'000, 'x'), "three"};
  EXPECT_EQ(payloads(Dataset::tfrecord({.filenames = {dir.write("z", zlibbed(file))}, .compression_type = "ZLIB"})),
            wanted);
  EXPECT_EQ(payloads(Dataset::tfrecord({.filenames = {dir.write("g", gzipped(file))}, .compression_type = "GZIP"})),
            wanted);
}

// Sizes close to the block size, so that records and headers cross the end of a block at every offset.
TEST(TFRecordSource, ReadsRecordsThatCrossBlocks) {
  TempDir dir;
  Words wanted;
  for (const int size : {1'048'500, 20, 30, 1, 1'048'576, 5'000'000, 0, 1'048'550, 9, 9, 9, 700'000, 700'000})
    wanted.emplace_back(static_cast<size_t>(size), static_cast<char>('a' + wanted.size()));
  EXPECT_EQ(payloads(Dataset::tfrecord({.filenames = {dir.write("a", file_of(wanted))}})), wanted);
  const std::string compressed = dir.write("z", gzipped(file_of(wanted)));
  EXPECT_EQ(payloads(Dataset::tfrecord({.filenames = {compressed}, .compression_type = "GZIP"})), wanted);
}

TEST(TFRecordSource, EndsAFileThatIsTruncatedWhileItIsRead) {
  TempDir dir;
  const std::string path = dir.write("cut", file_of({std::string(10'000, 'a'), std::string(50'000, 'b'), "c"}));
  const TFRecord source{.filenames = {path, dir.write("next", file_of({"d"}))}};
  TFRecord::State state;
  Context context;
  EXPECT_EQ((*source.next(state, context))->leaves[0].bytes().size(), 10'000u);
  std::filesystem::resize_file(path, 11'000);
  const auto cut = source.next(state, context);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code(), Code::kDataLoss);
  EXPECT_EQ(cut.error().message(), truncated_error("", -1).message());
  EXPECT_EQ(cut.error().place().path, path);
  EXPECT_EQ((*source.next(state, context))->leaves[0].bytes(), "d");
  EXPECT_FALSE(source.next(state, context)->has_value());
}

// Returns each result and the state after it, row by row or as many rows at a time as are ready.
Words walked(const TFRecord& source, int64_t at_once) {
  TFRecord::State state;
  Context context;
  Words found;
  while (true) {
    const Column rows = at_once > 0 ? source.next_rows(state, at_once, context) : Column();
    EXPECT_LE(rows.size(), at_once);
    for (int64_t i = 0; i < rows.size(); ++i) found.emplace_back(rows.row(i).bytes());
    if (rows.size() > 0) continue;
    const auto next = source.next(state, context);
    if (next && !*next) return found;
    found.push_back(next ? std::string((*next)->leaves[0].bytes())
                         : next.error().place().path + " " + next.error().message());
    found.back() += " then " + std::to_string(state.file) + ":" + std::to_string(state.offset);
  }
}

Words without_states(Words found) {
  for (std::string& word : found) word = word.substr(0, word.find(" then "));
  return found;
}

TEST(TFRecordSource, YieldsTheSameRecordsInRunsAsOneByOne) {
  for (const std::string type : {"", "GZIP"}) {
    const TFRecord source{.filenames = example_files(type == "GZIP"), .compression_type = type};
    const Words one_by_one = walked(source, 0);
    for (const int64_t at_once : {1, 2, 3, 1000})
      EXPECT_EQ(without_states(walked(source, at_once)), without_states(one_by_one)) << at_once;
  }
}

TEST(TFRecordSource, AdvancesTheStateByTheRowsItReturned) {
  TempDir dir;
  const TFRecord source{.filenames = {dir.write("a", numbered(0, 9))}};
  TFRecord::State state;
  Context context;
  EXPECT_EQ(source.next_rows(state, 3, context).size(), 0);  // next() opens the first file
  ASSERT_TRUE(source.next(state, context).ok());
  EXPECT_EQ(source.next_rows(state, 3, context).size(), 3);
  EXPECT_EQ(state.offset, 4 * 17);
  TFRecord::State again{.file = state.file, .offset = state.offset, .reader = nullptr};
  EXPECT_EQ((*source.next(again, context))->leaves[0].bytes(), "4");
}

// A row refers to the file, not to the table of views that contained it, and keeps only the file alive.
TEST(TFRecordSource, NamesTheOffsetOfARowInARun) {
  TempDir dir;
  const std::string path = dir.write("a", numbered(0, 9));
  const TFRecord source{.filenames = {path}};
  TFRecord::State state;
  Context context;
  ASSERT_TRUE(source.next(state, context).ok());
  const Array row = source.next_rows(state, 8, context).row(2);
  state = {};
  EXPECT_EQ(row.bytes(), "3");
  EXPECT_EQ(row.source()->path, path);
  EXPECT_EQ(row.source()->offset, 3 * 17);
}

TEST(TFRecordSource, EndsARunWhereAFileIsTruncated) {
  TempDir dir;
  const std::string path = dir.write("cut", file_of(Words(100, std::string(10'000, 'a'))));
  const TFRecord source{.filenames = {path}};
  TFRecord::State state;
  Context context;
  ASSERT_TRUE(source.next(state, context).ok());
  std::filesystem::resize_file(path, 45'000);
  EXPECT_EQ(source.next_rows(state, 100, context).size(), 0);  // before the cut, too: none of them would be delivered
  EXPECT_EQ(source.next(state, context).error().message(), truncated_error("", -1).message());
}

TEST(TFRecordSource, ContinuesAfterDamageAndNamesTheFileAndTheByte) {
  TempDir dir;
  std::string file = file_of({"one", "two", "three"});
  file[19 + 12] ^= 1;
  const std::string path = dir.write("a", file);
  Loader loader(Dataset::tfrecord({.filenames = {path}}));
  ASSERT_TRUE(loader.next().ok());
  const auto damaged = loader.next();
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code(), Code::kDataLoss);
  EXPECT_EQ(damaged.error().place().path, path);
  EXPECT_EQ(damaged.error().place().offset, 19);
  EXPECT_EQ(text_of_rest(loader), (Words{"string[] 'three';"}));
}

TEST(TFRecordSource, ContinuesWithTheNextFileAfterAMissingOrTruncatedOne) {
  TempDir dir;
  const std::string cut = dir.write("cut", file_of({"one", "two"}).substr(0, 33));
  const std::string whole = dir.write("whole", file_of({"three"}));
  Loader loader(Dataset::tfrecord({.filenames = {dir.at("gone"), cut, whole}}));
  EXPECT_EQ(loader.next().error().code(), Code::kNotFound);
  ASSERT_TRUE(loader.next().ok());
  const auto lost = loader.next();
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().message(), "the record at byte 19 is truncated: the file ends 5 bytes too early");
  EXPECT_EQ(text_of_rest(loader), (Words{"string[] 'three';"}));
}

TEST(TFRecordSource, LetsDownstreamErrorsNameTheOffsetOfTheRecord) {
  TempDir dir;
  const std::string path = dir.write("a", file_of({"one", "two", "three"}));
  const auto fail_two = [](const Element& e) -> Result<Element> {
    if (e.leaves[0].bytes() == "two") return Error::invalid("not this one");
    return e;
  };
  Loader loader(Dataset::tfrecord({.filenames = {path}}).map({.map_func = fail_two}));
  ASSERT_TRUE(loader.next().ok());
  const auto failed = loader.next();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().place().path, path);
  EXPECT_EQ(failed.error().place().offset, 19);
}

TEST(TFRecordSource, ContinuesFromACheckpointByOffset) {
  TempDir dir;
  const std::string path = dir.write("a", numbered(0, 500));
  const Dataset ds = Dataset::tfrecord({.filenames = {path}});
  Loader first(ds);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(first.next().ok());
  const std::string saved = *first.save();
  Loader second(ds);
  ASSERT_TRUE(second.restore(saved).ok());
  EXPECT_EQ(text_of_rest(second), text_of_rest(first));
}

TEST(TFRecordSource, RequiresAFileAndAKnownCompression) {
  EXPECT_NE(error_of(Dataset::tfrecord({})).find("expected at least one file"), std::string::npos);
  EXPECT_NE(error_of(Dataset::tfrecord({.filenames = {"a"}, .compression_type = "XZ"})).find("'XZ'"),
            std::string::npos);
}

// The reader uses the block of a delivered record for the next one.
TEST(TFRecord, TheBlocksOfACompressedFileAreInTheBudgetForEveryRecord) {
  const TempDir dir;
  const WithResources alone({.workers = 0, .memory_bytes = int64_t{1} << 28});
  constexpr size_t kBytes = size_t{3} << 20;
  const std::string file = gzipped(file_of(std::vector<std::string>(4, std::string(kBytes, 'a'))));
  std::vector<int64_t> held;
  const auto look = [&](const Array&) { return held.push_back(memory_use().held), true; };
  Loader loader(Dataset::tfrecord({.filenames = {dir.write("g", file)}, .compression_type = "GZIP"}).filter(look),
                {.prefetch_next_epoch = false});
  while (loader.next().value()) {
  }
  ASSERT_EQ(held.size(), 4u);
  for (const int64_t bytes : held) EXPECT_GE(bytes, static_cast<int64_t>(kBytes));
}

}  // namespace
}  // namespace stoker
