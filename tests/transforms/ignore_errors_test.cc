#include "stoker/transforms/ignore_errors.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(IgnoreErrors{}, numbers(40).then(FailSome{}));

TEST(IgnoreErrors, DropsFailedElements) {
  EXPECT_EQ(values(numbers(6).then(FailSome{}).ignore_errors({})), (Values{0, 1, 2, 4, 5}));
}

Result<Element> of_8_kilobytes(const Element&) {
  STOKER_TRY(Array array, Array::make({1000}, DType::kFloat64));
  std::ranges::fill(array.mutable_values<double>(), 1.0);
  return Element(std::move(array));
}

// Without such an error, elements would be missing and the iterator would end normally.
TEST(IgnoreErrors, KeepsErrorsThatNoElementStandsFor) {
  const WithResources here({.workers = 0, .memory_bytes = int64_t{1} << 20});
  const Dataset refused = numbers(600)
                              .map({.map_func = of_8_kilobytes})
                              .filter({.predicate = [](const Element&) { return true; }})
                              .shuffle({.buffer_size = 600, .seed = 1});
  const Dataset skipping = numbers(3000).concatenate({.dataset = refused}).on_error({.policy = "skip", .at_most = 0.5});
  for (const Dataset& dataset : {refused, refused.ignore_errors({}), skipping})
    EXPECT_NE(first_error(dataset).find("memory budget"), std::string::npos) << first_error(dataset);
}

}  // namespace
}  // namespace stoker
