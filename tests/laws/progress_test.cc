// While a consumer waits, the engine makes progress: for any number of workers, any
// budget, any nesting, any number of iterators.

#include <gtest/gtest.h>

#include <thread>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Progress);

TEST_P(Progress, HoldsWithManyIteratorsOnOnePool) {
  WithResources here({.workers = 1, .memory_bytes = int64_t{1} << 15});
  const std::vector<std::string> wanted = text_of(made());
  std::vector<std::unique_ptr<Loader>> loaders;
  std::vector<size_t> sizes(6, 0);
  for (size_t i = 0; i < sizes.size(); ++i) loaders.push_back(std::make_unique<Loader>(made()));
  // At different rates, so that the windows of some are full while others wait.
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < loaders.size(); ++i) {
      const size_t got = text_of_rest(*loaders[i], static_cast<int64_t>(i + 1)).size();
      sizes[i] += got;
      more |= got > 0;
    }
  }
  for (const size_t size : sizes) EXPECT_EQ(size, wanted.size());
}

TEST_P(Progress, HoldsWithConsumersOnSeveralThreads) {
  for (const int workers : {0, 2}) {
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 15});
    const std::vector<std::string> wanted = text_of(made());
    std::vector<Loader> loaders;
    for (int i = 0; i < 3; ++i) loaders.emplace_back(made());
    std::vector<std::vector<std::string>> found(loaders.size());
    std::vector<std::thread> consumers;
    for (size_t i = 0; i < loaders.size(); ++i) consumers.emplace_back([&, i] { found[i] = text_of_rest(loaders[i]); });
    for (std::thread& consumer : consumers) consumer.join();
    for (const auto& words : found) EXPECT_EQ(words, wanted);
  }
}

TEST_P(Progress, HoldsWhileTheNumberOfWorkersChanges) {
  const std::vector<std::string> wanted = text_of(made());
  WithResources here({.workers = 2, .memory_bytes = int64_t{1} << 20});
  Loader loader(made());
  std::vector<std::string> found;
  for (int i = 0;; ++i) {
    configure({.workers = i % 4});
    const std::vector<std::string> one = text_of_rest(loader, 1);
    if (one.empty()) break;
    found.push_back(one[0]);
  }
  EXPECT_EQ(found, wanted);
}

// A loader that a function of another loader reads runs on the thread of the function.
TEST(ProgressOfNested, ALoaderInsideAFunctionNeedsNoWorker) {
  for (const int workers : {0, 1, 2}) {
    WatchScope watch("a loader inside a function, " + std::to_string(workers) + " workers");
    WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 20});
    const Dataset ds = numbers(6).map({.map_func = [](int64_t x) {
      int64_t sum = 0;
      for (const int64_t y : values(numbers(x).map({.map_func = [](int64_t z) { return z + 1; }}))) sum += y;
      return sum;
    }});
    EXPECT_EQ(values(ds), (Values{0, 1, 3, 6, 10, 15}));
  }
}

}  // namespace
}  // namespace stoker
