#include "stoker/transforms/enumerate.h"

#include <gtest/gtest.h>

#include "stoker/runtime/budget.h"
#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Enumerate{.start = 5}, numbers(20));
DATASET_EXAMPLE(numbers(50).filter({.predicate = [](int64_t x) { return x % 2 == 1; }}).enumerate({}));

TEST(Enumerate, NumbersTheElements) {
  EXPECT_EQ(elements(numbers(3).enumerate({.start = 5}))[2].describe(), "(0: 7, 1: 2)");
}

// Takes the whole budget, so that further requests are refused.
class FullBudget {
 public:
  explicit FullBudget(int64_t bytes) : bytes_(bytes) { Budget::process().take(bytes_); }
  ~FullBudget() { Budget::process().give_back(bytes_); }
  FullBudget(const FullBudget&) = delete;
  FullBudget& operator=(const FullBudget&) = delete;

 private:
  const int64_t bytes_;
};

TEST(Enumerate, WrapsAroundAfterTheLargestNumber) {
  const auto first_of = [](const Dataset& dataset) {
    return values(dataset.map({.map_func = [](int64_t number, int64_t) { return number; }}));
  };
  const Enumerate from_largest{.start = INT64_MAX};
  EXPECT_EQ(first_of(numbers(2).enumerate(from_largest)), (Values{INT64_MAX, INT64_MIN}));
  EXPECT_EQ(first_of(numbers(2).filter([](int64_t) { return true; }).enumerate(from_largest)),
            (Values{INT64_MAX, INT64_MIN}));
}

TEST(Enumerate, NumbersTheResultsOfAFunctionWhileTheBudgetIsExhausted) {
  WatchScope watch("enumerate with an exhausted budget");
  const Dataset lists = numbers(300).map({[](int64_t x) { return static_cast<double>(x); }}).enumerate({.start = 5});
  const std::vector<std::string> wanted = text_of(lists);
  ASSERT_EQ(wanted.size(), 300u);
  constexpr int64_t kBudget = int64_t{1} << 20;
  for (const int workers : {0, 2}) {
    WithResources here({.workers = workers, .memory_bytes = kBudget});
    for (const int64_t taken : {kBudget, 2 * kBudget}) {
      FullBudget refuses(taken);
      EXPECT_EQ(text_of(lists), wanted) << workers << " workers, " << taken << " bytes taken";
    }
  }
}

}  // namespace
}  // namespace stoker
