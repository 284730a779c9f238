// Work that is interrupted ends with Cancelled, and the next call is as if the
// interrupted one had not been.

#include <gtest/gtest.h>

#include <atomic>

#include "stoker/core/interrupt.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

bool always() { return true; }

// What `body` gives while everything is interrupted, which is Cancelled or as usual.
template <typename Body>
auto interrupted(Body&& body) -> decltype(std::optional(body())) {
  const InterruptScope scope(&always);
  try {
    return body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCancelled) << error.words();
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
  EXPECT_EQ(words_of(dataset), words_of(made()));
}

TEST_P(Interrupt, LosesNoElement) {
  std::atomic<int> asked = 0;
  Loader loader(made(), {.interrupted = [&] { return asked++ == 0; }});
  std::vector<std::string> found = words_of_rest(loader);
  std::erase(found, "error: " + Error::cancelled().message());
  EXPECT_EQ(found, words_of(made()));
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
  EXPECT_FALSE(interrupted([&] { return Dataset::picture_folder({.directory = folder}); }).has_value());
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

TEST(RunOnThreads, RunsOnAsManyAsAsked) {
  std::atomic<int> runs = 0;
  run_on_threads(3, [&] { ++runs; });
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace stoker
