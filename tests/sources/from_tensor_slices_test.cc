#include "stoker/sources/from_tensor_slices.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(
    Dataset::from_tensor_slices({.tensors = tuple_of({Element(Array::from<int64_t>({1, 2, 3})),
                                                      Element(Array::from<std::string>({"a", "bb", "c"}))})}));

TEST(FromTensorSlices, YieldsTheRowsOfEveryComponent) {
  const auto all = elements(Dataset::from_tensor_slices(
      {.tensors = tuple_of({Element(Array::from<int64_t>({7, 8})), Element(Array::from<std::string>({"a", "bb"}))})}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1][0].scalar<int64_t>(), 8);
  EXPECT_EQ(all[1][1].bytes(), "bb");
}

TEST(FromTensorSlices, RejectsComponentsOfUnequalLength) {
  EXPECT_EQ(error_of(Dataset::from_tensor_slices(
                {.tensors = tuple_of({Element(Array::from<int64_t>({7, 8})), Element(Array::from<int64_t>({1}))})})),
            "from_tensor_slices: component '1' has 1 rows, but the first component has 2");
}

}  // namespace
}  // namespace stoker
