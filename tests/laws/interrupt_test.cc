// Work that is interrupted ends with Cancelled, and does not affect the next call.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include <sys/stat.h>

#include "stoker/core/interrupt.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

bool always() { return true; }

// The result of `body` while everything is interrupted; nullopt if it was cancelled.
template <typename Body>
auto interrupted(Body&& body) -> decltype(std::optional(body())) {
  const InterruptScope scope(&always);
  try {
    return body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled) << error.describe();
    return std::nullopt;
  }
}

STOKER_LAW(Interrupt);

TEST_P(Interrupt, IsNotRememberedByTheDataset) {
  (void)interrupted([&] { return made(); });
  const Dataset dataset = made();
  const auto count = interrupted([&] { return dataset.cardinality(); });
  EXPECT_TRUE(!count || count->ok() || count->error().code() == Code::kCancelled);
  const auto words = interrupted([&] { return dataset.explain(); });
  EXPECT_TRUE(!words || words->ok() || words->error().code() == Code::kCancelled);
  EXPECT_EQ(dataset.cardinality().value(), made().cardinality().value());
  EXPECT_EQ(text_of(dataset), text_of(made()));
}

TEST_P(Interrupt, LosesNoElement) {
  std::atomic<int> asked = 0;
  Loader loader(made(), {.interrupted = [&] { return asked++ == 0; }});
  std::vector<std::string> found = text_of_rest(loader);
  std::erase(found, "error: " + Error::cancelled().message());
  EXPECT_EQ(found, text_of(made()));
}

// An infinite stream whose elements are all dropped.
TEST(InterruptOfSkipping, ReachesAConsumerThatDoesAllWorkItself) {
  const auto endless = [] {
    return Dataset::from_generator({.generator = [] {
      return [n = int64_t{0}]() mutable -> Result<std::optional<Element>> { return Element(Array::of(n++)); };
    }});
  };
  const auto nothing = [](const Element&) { return numbers(0); };
  for (const Dataset& dataset : {endless().skip({.count = int64_t{1} << 50}),
                                 endless().shard({.num_shards = int64_t{1} << 50, .index = (int64_t{1} << 50) - 1}),
                                 endless().batch({.batch_size = 2}).unbatch({}).skip({.count = int64_t{1} << 50}),
                                 endless().filter({.predicate = [](int64_t x) { return x < 0; }}),
                                 endless().flat_map({.map_func = nothing}), endless().interleave({.map_func = nothing}),
                                 numbers(0).batch({.batch_size = 2}).repeat({.count = int64_t{1} << 50}),
                                 numbers(5).flat_map({.map_func = nothing}).repeat({.count = int64_t{1} << 50}),
                                 numbers(5).repeat({}).filter({[](Value x) { return x < 0; }})}) {
    std::atomic<int> asked = 0;
    Loader loader(dataset, {.alone = true, .interrupted = [&] { return asked++ == 0; }});
    const Result<std::optional<Element>> next = loader.next();
    ASSERT_FALSE(next.ok());
    EXPECT_EQ(next.error().code(), Code::kCancelled) << next.error().describe();
  }
}

TEST(InterruptOfCounting, StopsAtTheFirstRecordAndFile) {
  const TempDir dir;
  const std::string folder = dir.path().string();
  dir.write("a/1.png", "x");
  const auto cancelled = [](const Dataset& dataset) {
    const auto count = interrupted([&] { return dataset.cardinality(); });
    return !count || (!count->ok() && count->error().code() == Code::kCancelled);
  };
  const std::string records(1 << 20, '\0');
  EXPECT_TRUE(cancelled(Dataset::tfrecord({.filenames = {dir.write("records", records)}})));
  EXPECT_FALSE(interrupted([&] { return Dataset::list_files({.file_pattern = {folder + "/*"}}); }).has_value());
  EXPECT_FALSE(interrupted([&] { return Dataset::image_folder({.directory = folder}); }).has_value());
}

// A pipe that nothing is written to. Each call returns an error or is cancelled; none waits.
TEST(InterruptOfWaiting, ReachesEverySourceThatReadsBeforeTheFirstElement) {
  const TempDir dir;
  const std::string pipe = dir.at("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Dataset tfrecord = Dataset::tfrecord({.filenames = {pipe}});
  const Dataset fixed = Dataset::fixed_length_records({.filenames = {pipe}, .record_bytes = 1});
  const std::vector<std::function<Dataset()>> sources{
      [&] { return Dataset::idx({.filenames = {pipe}}); },
      [&] { return Dataset::npy({.filenames = {pipe}}); },
      [&] { return Dataset::npz({.filenames = {pipe}}); },
      [&] { return Dataset::tar({.filenames = {pipe}}); },
      [&] { return Dataset::tar({.filenames = {pipe}, .compression_type = "GZIP"}); },
      [&] { return Dataset::image_folder({.directory = dir.path().string()}); },
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::optional<Dataset> made = interrupted(sources[i]);
    EXPECT_TRUE(!made || made->error()) << i;
  }
  EXPECT_FALSE(interrupted([&] { return Dataset::load_graph(pipe); }).has_value());
  for (const Dataset& dataset : {tfrecord.shuffle({}), fixed}) {
    Loader loader(dataset);
    EXPECT_EQ(loader.next().error().message(), pipe + " cannot be read at an offset: it is not a regular file");
  }
  EXPECT_TRUE(Loader(Dataset::text_lines({.filenames = {pipe}})).save());
}

TEST(RunOnThreads, InterruptsAllAndThrowsOnce) {
  std::atomic<bool> is_asked = false;
  const InterruptScope scope([&] { return is_asked.load(); });
  std::atomic<int> stopped = 0;
  const auto body = [&] {
    is_asked = true;
    try {
      while (true) stop_if_interrupted();
    } catch (...) {
      ++stopped;
      throw;
    }
  };
  EXPECT_THROW(run_on_threads(4, body), Error);
  EXPECT_EQ(stopped, 4);
}

TEST(RunOnThreads, RunsOnTheRequestedNumberOfThreads) {
  std::atomic<int> runs = 0;
  run_on_threads(3, [&] { ++runs; });
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace stoker
