// The elements depend only on the graph, the seed and the epoch.

#include <gtest/gtest.h>

#include <set>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Determinism);

TEST_P(Determinism, HoldsForAnyWorkersAndAnyBudgetInEveryEpoch) {
  std::vector<std::vector<std::string>> wanted;
  for (const Resources& place : places()) {
    SCOPED_TRACE(std::to_string(*place.workers) + " workers, " + std::to_string(*place.memory_bytes) + " bytes");
    WithResources here(place);
    Loader loader(made());
    std::vector<std::vector<std::string>> epochs;
    for (int epoch = 0; epoch < 3; ++epoch) {
      epochs.push_back(text_of_rest(loader, 2000));
      loader.begin_epoch();
    }
    if (wanted.empty()) wanted = epochs;
    EXPECT_EQ(epochs, wanted);
  }
}

TEST_P(Determinism, TwoIteratorsAtOnceDoNotAffectEachOther) {
  const Dataset alone = made();
  Loader first(alone), second(alone);
  std::vector<std::vector<std::string>> wanted{text_of_rest(first, 2000), text_of_rest(second, 2000)};
  const Dataset together = made();
  Loader a(together), b(together);
  std::vector<std::vector<std::string>> found(2);
  // The first call of each loader creates its iterator: as above, `a` before `b`.
  for (bool more = true; more;) {
    const std::vector<std::string> from_a = text_of_rest(a, 1), from_b = text_of_rest(b, 1);
    found[0].insert(found[0].end(), from_a.begin(), from_a.end());
    found[1].insert(found[1].end(), from_b.begin(), from_b.end());
    more = !from_a.empty() || !from_b.empty();
  }
  // `a` had not started its later passes when `b` started its first, so only examples
  // of one pass have the same order.
  EXPECT_EQ(found[0], wanted[0]);
  EXPECT_EQ(found[1].size(), wanted[1].size());
}

// Repeats that stages downstream end early, inside other repeats. How many passes of the inner one are prefetched
// depends on timing.
std::vector<Dataset> nested_repeats() {
  const auto rows = [] { return numbers(3).filter({.predicate = [](int64_t) { return true; }}); };
  const auto shuffled = [&] { return rows().shuffle({.buffer_size = 9, .seed = 1}); };
  return {Dataset::zip({.datasets = {shuffled().repeat(), numbers(4)}}).repeat(3),
          shuffled().repeat(4).take(4).repeat(2).repeat(3), shuffled().repeat().take(5).repeat(4),
          numbers(8).shuffle({.seed = 3}).repeat(2).batch(8).repeat(3),
          numbers(3).shuffle({.seed = 3}).repeat().batch(2).take(4).repeat(3)};
}

TEST(NestedRepeats, DoNotDependOnWorkers) {
  std::vector<std::vector<std::string>> wanted;
  for (const int workers : {0, 1, 3, 3, 3}) {
    const WithResources here({.workers = workers});
    std::vector<std::vector<std::string>> found;
    for (const Dataset& dataset : nested_repeats()) {
      Loader loader(dataset);
      found.push_back(text_of_rest(loader, 200));
    }
    if (wanted.empty()) wanted = found;
    EXPECT_EQ(found, wanted) << workers << " workers";
  }
}

TEST(NestedRepeats, ContinueAfterARestoreAtAnyPosition) {
  for (const Dataset& dataset : nested_repeats()) {
    Loader loader(dataset);
    std::vector<std::string> checkpoints{loader.save().value()}, all;
    for (std::vector<std::string> next = text_of_rest(loader, 1); !next.empty(); next = text_of_rest(loader, 1)) {
      all.push_back(next[0]);
      checkpoints.push_back(loader.save().value());
    }
    for (size_t i = 0; i < checkpoints.size(); ++i) {
      Loader restored(dataset);
      ASSERT_TRUE(restored.restore(checkpoints[i]).ok());
      EXPECT_EQ(text_of_rest(restored),
                std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(i), all.end()))
          << "at " << i;
    }
  }
}

TEST(NestedRepeats, HaveAnotherOrderInEachPass) {
  Loader loader(numbers(8).shuffle({.seed = 3}).repeat(2).batch(8).repeat(3));
  const std::vector<std::string> orders = text_of_rest(loader);
  EXPECT_EQ(std::set<std::string>(orders.begin(), orders.end()).size(), 6u);
}

}  // namespace
}  // namespace stoker
