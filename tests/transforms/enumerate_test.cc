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

TEST(Enumerate, FailsTheElementsAfterTheLargestNumber) {
  const Enumerate near_the_end{.start = INT64_MAX - 1};
  const std::string error =
      "error: the number of this element is above 9223372036854775807; use a start smaller than " +
      std::to_string(near_the_end.start);
  const std::vector<std::string> expected{"int64[] 9223372036854775806;int64[] 0;",
                                          "int64[] 9223372036854775807;int64[] 1;", error, error};
  const Dataset list = numbers(4).enumerate(near_the_end);
  const Dataset stream = numbers(4).filter([](int64_t) { return true; }).enumerate(near_the_end);
  for (const Dataset& dataset : {list, stream}) {
    EXPECT_EQ(text_of(dataset), expected);
    Loader loader(dataset);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(loader.next());
    EXPECT_EQ(loader.next().error().place().origin, "range:2@1");
    Loader resumed(dataset);
    ASSERT_TRUE(resumed.restore(*loader.save()));
    EXPECT_EQ(text_of_rest(resumed), std::vector{error});
  }
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
