// What comes out depends on graph, seed and epoch alone.

#include <gtest/gtest.h>

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
      epochs.push_back(words_of_rest(loader, 2000));
      loader.begin_epoch();
    }
    if (wanted.empty()) wanted = epochs;
    EXPECT_EQ(epochs, wanted);
  }
}

TEST_P(Determinism, TwoIteratorsAtOnceDoNotDisturbOneAnother) {
  const Dataset alone = made();
  Loader first(alone), second(alone);
  std::vector<std::vector<std::string>> wanted{words_of_rest(first, 2000), words_of_rest(second, 2000)};
  const Dataset together = made();
  Loader a(together), b(together);
  std::vector<std::vector<std::string>> found(2);
  // The first call of each makes its iterator: as above, `a` before `b`.
  for (bool more = true; more;) {
    const std::vector<std::string> from_a = words_of_rest(a, 1), from_b = words_of_rest(b, 1);
    found[0].insert(found[0].end(), from_a.begin(), from_a.end());
    found[1].insert(found[1].end(), from_b.begin(), from_b.end());
    more = !from_a.empty() || !from_b.empty();
  }
  // `a` had not begun its later passes when `b` took its first, so only an
  // example of one pass has the same orders.
  EXPECT_EQ(found[0], wanted[0]);
  EXPECT_EQ(found[1].size(), wanted[1].size());
}

}  // namespace
}  // namespace stoker
