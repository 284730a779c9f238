#include "stoker/transforms/assert_cardinality.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(AssertCardinality{.expected_cardinality = 20}, numbers(20));

TEST(AssertCardinality, FailsOnceWhenThereAreMoreOrFewer) {
  EXPECT_EQ(values_and_errors(numbers(3).assert_cardinality({.expected_cardinality = 2})), (Values{0, 1, -1'000'000}));
  EXPECT_EQ(values_and_errors(numbers(3).assert_cardinality({.expected_cardinality = 4})),
            (Values{0, 1, 2, -1'000'000}));
  EXPECT_EQ(values(numbers(3).assert_cardinality({.expected_cardinality = 3})), (Values{0, 1, 2}));
}

TEST(AssertCardinality, NamesNoRecordIfTheInputIsEmpty) {
  const Element no_names(Array::from<std::string>({}));
  EXPECT_EQ(
      first_error(Dataset::from_tensor_slices({.tensors = no_names}).assert_cardinality({.expected_cardinality = 1})),
      "the input ended after 0 elements, expected 1");
}

}  // namespace
}  // namespace stoker
