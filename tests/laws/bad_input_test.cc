// Files that change, functions that fail, and invalid parameters: each is a clear
// error, never a hang, a crash or a silent end.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"
#include "support/watch.h"

namespace stoker {
namespace {

// The first error of one pass.
std::optional<Error> failure_of(Loader& loader) {
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (!next) return next.error();
    if (!*next) return {};
  }
}
std::optional<Error> failure_of(const Dataset& dataset) {
  Loader loader(dataset);
  return failure_of(loader);
}

// ---- files

std::string lines(int64_t n) {
  std::string text;
  for (int64_t i = 0; i < n; ++i) text += "line " + std::to_string(i * i % 7919) + "\n";
  return text;
}

Dataset lines_of_listed(const TempDir& dir) {
  return Dataset::list_files({.file_pattern = {dir.at("*.txt")}, .shuffle = false})
      .flat_map({.map_func = [](const Element& e) {
        return Dataset::text_lines({.filenames = {std::string(e.leaves[0].bytes())}});
      }});
}

TEST(BadFiles, AVanishedFileIsNamedAndTheOthersAreRead) {
  WatchScope watch("a file that vanishes");
  TempDir dir;
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) dir.write(name, std::string(name) + "\n");
  const Dataset ds = lines_of_listed(dir);
  ASSERT_EQ(error_of(ds), "");
  std::filesystem::remove(dir.at("b.txt"));
  Loader loader(ds);
  const std::vector<std::string> words = text_of_rest(loader);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0], "string[] 'a.txt';");
  EXPECT_TRUE(words[1].starts_with("error: cannot open " + dir.at("b.txt"))) << words[1];
  EXPECT_EQ(words[2], "string[] 'c.txt';");
  const std::optional<Error> error = failure_of(ds);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::kNotFound);
  EXPECT_EQ(error->place().path, dir.at("b.txt"));
}

TEST(BadFiles, AVanishedFolderIsNamed) {
  WatchScope watch("a folder that vanishes");
  auto dir = std::make_unique<TempDir>();
  dir->write("a.txt", "one\n");
  const Dataset ds = lines_of_listed(*dir);
  const std::string gone = dir->at("a.txt");
  dir.reset();
  const std::optional<Error> error = failure_of(ds);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::kNotFound);
  EXPECT_NE(error->message().find(gone), std::string::npos) << error->message();
}

// Reads some lines of a file, truncates it, and reads the rest. Without workers,
// the engine reads ahead one buffer.
std::optional<Error> error_after_cut(const std::string& path, const std::string& compression, uintmax_t keep) {
  WatchScope watch("a file that is cut while it is read");
  WithResources here({.workers = 0, .memory_bytes = int64_t{1} << 20});
  Loader loader(Dataset::text_lines({.filenames = {path}, .compression_type = compression}));
  EXPECT_EQ(text_of_rest(loader, 5).size(), 5u);
  std::filesystem::resize_file(path, keep);
  return failure_of(loader);
}

TEST(BadFiles, TruncatingAGzipFileWhileItIsReadIsDataLoss) {
  TempDir dir;
  const std::string path = dir.write("a.gz", gzipped(lines(2'000'000), 1));
  const uintmax_t size = std::filesystem::file_size(path);
  ASSERT_GT(size, 3'000'000u);
  const std::optional<Error> error = error_after_cut(path, "GZIP", size / 2);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::kDataLoss);
  EXPECT_NE(error->message().find(" ends at byte " + std::to_string(size / 2)), std::string::npos) << error->message();
}

TEST(BadFiles, TruncatingATextFileWhileItIsReadIsDataLoss) {
  TempDir dir;
  const std::string path = dir.write("a.txt", lines(1'000'000));
  const std::optional<Error> error = error_after_cut(path, "", std::filesystem::file_size(path) / 2);
  ASSERT_TRUE(error) << "the lines after the cut were lost without an error";
  EXPECT_EQ(error->code(), Code::kDataLoss);
}

TEST(BadFiles, EveryReaderReportsAPathThroughAFile) {
  TempDir dir;
  const std::string below = dir.write("a.txt", "one\n") + "/b.txt";
  const std::optional<Error> error = failure_of(Dataset::text_lines({.filenames = {below}}));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message().find(below + ": Not a directory"), std::string::npos) << error->message();
  EXPECT_NE(error_of(Dataset::list_files({.file_pattern = {below}})), "");
  EXPECT_NE(error_of(Dataset::list_files({.file_pattern = {dir.at("a.txt/*")}})), "");
}

TEST(BadFiles, AFolderInTheMiddleOfTheListIsAnError) {
  TempDir dir;
  dir.write("folder/inside", "x");
  const std::string a = dir.write("a.txt", "one\n");
  EXPECT_EQ(
      text_of(Dataset::text_lines({.filenames = {dir.at("folder"), a}})),
      (std::vector<std::string>{"error: " + dir.at("folder") + " is a directory, expected a file", "string[] 'one';"}));
}

TEST(BadFiles, ANameThatIsNotUtf8IsReadAndSavedLikeAnyOther) {
  TempDir dir;
  const std::string path = dir.write("caf\xe9.txt", "one\ntwo\nthree\n");
  const Dataset ds = Dataset::text_lines({.filenames = {path}});
  Loader loader(ds);
  ASSERT_TRUE(loader.next().ok());
  const Result<std::string> saved = loader.save();
  ASSERT_TRUE(saved.ok()) << saved.error().describe();
  Loader restored(ds);
  const Result<void> done = restored.restore(*saved);
  ASSERT_TRUE(done.ok()) << done.error().describe();
  EXPECT_EQ(text_of_rest(restored), (std::vector<std::string>{"string[] 'two';", "string[] 'three';"}));
}

TEST(BadFiles, ANameThatIsNotUtf8IsNamedWhenItIsMissing) {
  TempDir dir;
  const std::optional<Error> error = failure_of(Dataset::text_lines({.filenames = {dir.at("caf\xe9.txt")}}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Code::kNotFound);
  EXPECT_EQ(error->place().path, dir.at("caf\xe9.txt"));
}

// ---- checkpoints and files

Result<void> restored_after(const std::function<void(const TempDir&)>& change) {
  TempDir dir;
  const std::string a = dir.write("a.txt", "one\ntwo\nthree\n");
  const std::string b = dir.write("b.txt", "four\nfive\n");
  const Dataset ds = Dataset::text_lines({.filenames = {a, b}});
  Loader loader(ds);
  EXPECT_EQ(text_of_rest(loader, 2).size(), 2u);
  const std::string saved = loader.save().value();
  change(dir);
  Loader other(ds);
  return other.restore(saved);
}

TEST(BadFiles, ACheckpointIsRejectedIfAFileIsMissingOrItsSizeChanged) {
  const auto refused = [](const std::function<void(const TempDir&)>& change) {
    const Result<void> restored = restored_after(change);
    if (restored) return std::string("it was taken");
    EXPECT_EQ(restored.error().code(), Code::kFailedPrecondition);
    return restored.error().message();
  };
  EXPECT_TRUE(restored_after([](const TempDir&) {}).ok());
  EXPECT_NE(refused([](const TempDir& dir) { std::filesystem::remove(dir.at("a.txt")); }).find("a.txt"),
            std::string::npos);
  EXPECT_NE(refused([](const TempDir& dir) { dir.write("b.txt", "four\nfive\nsix\n"); }).find("b.txt"),
            std::string::npos);
  EXPECT_NE(refused([](const TempDir& dir) { dir.write("a.txt", "one\n"); }).find("a.txt"), std::string::npos);
}

TEST(BadFiles, ACheckpointOfOtherFilesIsRejected) {
  TempDir dir;
  const auto reading = [&](const char* name) {
    return Dataset::text_lines({.filenames = {dir.write(name, "one\ntwo\nthree\n")}});
  };
  Loader loader(reading("a.txt"));
  ASSERT_TRUE(loader.next().ok());
  const std::string saved = loader.save().value();
  Loader other(reading("b.txt"));
  const Result<void> restored = other.restore(saved);
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().code(), Code::kFailedPrecondition);
  EXPECT_NE(restored.error().message().find("b.txt"), std::string::npos) << restored.error().message();
}

TEST(BadFiles, ATruncatedCheckpointIsRejected) {
  const Dataset ds = numbers(20).shuffle({.buffer_size = 5, .seed = 1}).batch({.batch_size = 2});
  Loader loader(ds);
  ASSERT_TRUE(loader.next().ok());
  const std::string saved = loader.save().value();
  for (size_t n = 0; n < saved.size(); ++n) {
    Loader other(ds);
    const Result<void> restored = other.restore(saved.substr(0, n));
    ASSERT_FALSE(restored.ok()) << n << " of " << saved.size() << " bytes";
    EXPECT_EQ(restored.error().code(), Code::kInvalidArgument);
  }
}

// ---- graph files

TEST(BadGraphs, AFileThatIsNotAGraphIsNamed) {
  TempDir dir;
  const auto refused = [&](std::string_view text) {
    const std::string path = dir.write("g.json", text);
    const Result<Dataset> read = Dataset::load_graph(path);
    if (read) return std::string();
    EXPECT_TRUE(read.error().message().starts_with(path + ": ")) << read.error().message();
    EXPECT_EQ(read.error().place().path, path);
    return read.error().message();
  };
  const std::string good = numbers(10).batch({.batch_size = 3}).to_json().value();
  EXPECT_EQ(refused(good), "");
  for (size_t n = 0; n + 1 < good.find_last_of('}'); ++n) EXPECT_NE(refused(good.substr(0, n)), "") << n;
  EXPECT_NE(refused("hello"), "");
  EXPECT_NE(refused(good + good), "");
  EXPECT_NE(refused(std::string_view("\0\0\0", 3)), "");
  EXPECT_FALSE(Dataset::load_graph(dir.at("nowhere.json")).ok());
  EXPECT_FALSE(Dataset::load_graph(dir.path().string()).ok());
}

// ---- functions

struct Throws {
  std::string name;
  std::function<void()> call;
  std::string words;
};

std::vector<Throws> throws() {
  return {
      {"an_exception", [] { throw std::runtime_error("no more"); }, "a function failed: no more"},
      {"an_int", [] { throw 3; }, "a function threw an object that is not a std::exception"},
      {"a_text", [] { throw "no more"; }, "a function threw an object that is not a std::exception"},
      {"no_memory", [] { throw std::bad_alloc(); }, "a function ran out of memory"},
      {"an_error", [] { throw Error::corrupt("bad day"); }, "bad day"},
  };
}

class BadFunctions : public testing::TestWithParam<Throws> {
 protected:
  WatchScope watch_{"a function that throws " + GetParam().name};
  // Throws for number 3.
  auto thrower() const {
    return [call = GetParam().call](int64_t x) {
      if (x == 3) call();
      return x;
    };
  }
  void expect_one_failure(const Dataset& dataset, size_t elements) const {
    for (const int workers : {0, 2}) {
      WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 20});
      std::vector<std::string> words = text_of(dataset);
      EXPECT_EQ(std::erase(words, "error: " + GetParam().words), 1u);
      EXPECT_EQ(words.size(), elements);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Every, BadFunctions, testing::ValuesIn(throws()),
                         [](const auto& info) { return info.param.name; });

TEST_P(BadFunctions, FailTheirElementInAMap) {
  expect_one_failure(numbers(6).map({.map_func = thrower()}), 5);
  expect_one_failure(numbers(6).map({.map_func =
                                         [call = thrower()](const Element& e) {
                                           call(e.leaves[0].scalar<int64_t>());
                                           return e;
                                         }}),
                     5);
  expect_one_failure(numbers(6).map({.map_func = thrower()}).batch({.batch_size = 2}), 3);
}

TEST_P(BadFunctions, FailTheirElementInAFilter) {
  expect_one_failure(numbers(6).filter({.predicate = [call = thrower()](int64_t x) { return call(x) >= 0; }}), 5);
}

TEST_P(BadFunctions, FailTheirElementInFlatMap) {
  const auto opened = [call = thrower()](const Element& e) { return numbers(call(e.leaves[0].scalar<int64_t>())); };
  expect_one_failure(numbers(5).flat_map({.map_func = opened}), 0 + 1 + 2 + 4);
  expect_one_failure(numbers(5).interleave({.map_func = opened, .cycle_length = 2}), 0 + 1 + 2 + 4);
}

TEST_P(BadFunctions, EndAGeneratorWithTheirError) {
  const auto generating = [call = thrower()](bool at_start) {
    return Dataset::from_generator({.generator = [call, at_start] {
      if (at_start) call(3);
      return [call, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
        return std::optional<Element>(Element(Array::of<int64_t>(call(i++))));
      };
    }});
  };
  expect_one_failure(generating(false), 3);
  expect_one_failure(generating(true), 0);
}

TEST(BadFunction, ThatReturnsAnotherTypeLaterFailsThatElementAndNamesBothTypes) {
  WatchScope watch("another type in a later element");
  const Dataset ds = numbers(6)
                         .map({.map_func = [](const Element& e) -> Element {
                           if (e.leaves[0].scalar<int64_t>() == 3) return Element(Array::of<float>(0.5f));
                           return e;
                         }})
                         .named("tokenize");
  for (const int workers : {0, 2}) {
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 20});
    EXPECT_EQ(values_and_errors(ds), (Values{0, 1, 2, -1'000'000, 4, 5}));
    const std::optional<Error> error = failure_of(ds);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->place().stage, "tokenize");
    EXPECT_EQ(error->place().position, 3);
    EXPECT_NE(error->message().find("float32"), std::string::npos) << error->message();
    EXPECT_NE(error->message().find("int64"), std::string::npos) << error->message();
  }
}

// Numbers, and something else at one position.
Dataset odd_one(int64_t place, const std::function<Element(const Element&)>& make) {
  return numbers(3000).map({.map_func = [place, make](const Element& e) -> Element {
    return e.leaves[0].scalar<int64_t>() == place ? make(e) : e;
  }});
}

// The length of a run depends on time: the failure must not depend on where a run ends.
void expect_one_loss(const Dataset& dataset, int64_t place) {
  for (const int workers : {0, 1, 2}) {
    SCOPED_TRACE("place " + std::to_string(place) + ", " + std::to_string(workers) + " workers");
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 20});
    Values found = values_and_errors(dataset);
    EXPECT_EQ(std::erase(found, -1'000'000), 1u);
    EXPECT_EQ(std::erase(found, place), 0u);
    EXPECT_EQ(found.size(), 2999u);
  }
}

// While runs are short, in the middle of a run, and the first element of a batch.
constexpr int64_t kPlaces[] = {3, 1500, 1505};

TEST(BadFunction, ThatReturnsAnotherTypeLaterFailsNoOtherElement) {
  WatchScope watch("another type in a later element");
  const auto text = [](const Element&) { return Element(Array::of_bytes("fifteen hundred")); };
  for (const int64_t place : kPlaces) {
    expect_one_loss(odd_one(place, text), place);
    expect_one_loss(odd_one(place, text).batch({.batch_size = 7}), place);
  }
}

TEST(BadFunction, ThatReturnsAnotherStructureLaterFailsNoOtherElement) {
  WatchScope watch("another structure in a later element");
  const auto pair = [](const Element& e) { return tuple_of({e, e}); };
  for (const int64_t place : kPlaces) {
    expect_one_loss(odd_one(place, pair), place);
    expect_one_loss(odd_one(place, pair).batch({.batch_size = 7}), place);
    expect_one_loss(odd_one(place, pair).shuffle({.buffer_size = 10, .seed = 1}), place);
  }
}

// ---- parameters

TEST(BadParameters, AreReportedBeforeAnythingRuns) {
  const auto opening = [](const Element&) { return numbers(2); };
  const std::vector<std::pair<Dataset, std::string>> cases = {
      {numbers(3).batch({.batch_size = 0}), "batch"},
      {numbers(3).batch({.batch_size = -2}), "batch"},
      {numbers(3).shuffle({.buffer_size = 0}), "shuffle"},
      {numbers(3).shuffle({.buffer_size = -5}), "shuffle"},
      {numbers(3).shard({.num_shards = 0, .index = 0}), "shard"},
      {numbers(3).shard({.num_shards = -1, .index = 0}), "shard"},
      {numbers(3).shard({.num_shards = 3, .index = -1}), "shard"},
      {numbers(3).shard({.num_shards = 3, .index = 3}), "shard"},
      {numbers(3).interleave({.map_func = opening, .cycle_length = 0}), "interleave"},
      {numbers(3).interleave({.map_func = opening, .cycle_length = -5}), "interleave"},
      {numbers(3).interleave({.map_func = opening, .block_length = 0}), "interleave"},
      {numbers(3).interleave({.map_func = opening, .block_length = -1}), "interleave"},
      {numbers(3).prefetch({.buffer_size = -9}), "prefetch"},
      {numbers(3).assert_cardinality({.expected_cardinality = -9}), "assert_cardinality"},
      {Dataset::zip({.datasets = {}}), "zip"},
      {Dataset::text_lines({.filenames = {}}), "text_lines"},
      {Dataset::text_lines({.filenames = {"a"}, .compression_type = "LZMA"}), "text_lines"},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [dataset, stage] = cases[i];
    EXPECT_TRUE(error_of(dataset).starts_with(stage + ": "))
        << "case " << i << ", " << stage << ": " << error_of(dataset);
    Loader loader(dataset);
    EXPECT_FALSE(loader.next().ok()) << "case " << i;
  }
}

}  // namespace
}  // namespace stoker
