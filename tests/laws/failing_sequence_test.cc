// If `step` of a sequence returns an error or throws, only that element fails. The laws
// hold for such a sequence, too.

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/law.h"
#include "support/support.h"

namespace stoker {
namespace {

// The sum so far. Sevens return an error, and the elements after them throw.
struct SumOfAllButSevens {
  static constexpr std::string_view kName = "sum_of_all_but_sevens";
  static constexpr std::string_view kDoc = "The sum so far.";
  struct State {
    int64_t sum = 0;
    void describe(Fields& f) { f("sum", sum); }
  };
  void describe(Fields&) {}
  Result<Flow> step(State& state, Element element, Emit& out, Context& context) const {
    const auto x = element.leaves[0].scalar<int64_t>();
    if (x % 7 == 3) return Error::invalid(x, " is refused");
    if (x % 7 == 4) throw std::runtime_error("thrown at " + std::to_string(x));
    // A damaged checkpoint may contain any sum, so the addition may wrap around.
    state.sum = static_cast<int64_t>(static_cast<uint64_t>(state.sum) + static_cast<uint64_t>(x));
    out.put(Element(Array::of<int64_t>(state.sum)), context.origin());
    return Flow::kMore;
  }
};

DATASET_EXAMPLE(numbers(40).then(SumOfAllButSevens{}));

TEST(FailingSequence, FailsOneElementAndNoOther) {
  EXPECT_EQ(values(numbers(12).then(SumOfAllButSevens{}).ignore_errors({})), (Values{0, 1, 3, 8, 14, 21, 29, 38}));
}

TEST(FailingSequence, NamesTheFailedElement) {
  Loader loader(numbers(12).then(SumOfAllButSevens{}));
  std::vector<int64_t> failed;
  while (true) {
    const Result<std::optional<Element>> next = loader.next();
    if (!next) failed.push_back(next.error().place().position);
    if (next && !*next) break;
  }
  EXPECT_EQ(failed, (std::vector<int64_t>{3, 4, 10, 11}));
}

}  // namespace
}  // namespace stoker
