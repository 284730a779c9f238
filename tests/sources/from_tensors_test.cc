#include "stoker/sources/from_tensors.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(Dataset::from_tensors({.tensors = Element(Array::from<int64_t>({1, 2, 3}))}));

TEST(FromTensors, YieldsOneElement) {
  const Dataset ds = Dataset::from_tensors({.tensors = Element(Array::from<int64_t>({1, 2, 3}))});
  EXPECT_EQ(elements(ds).size(), 1u);
  EXPECT_EQ(values(ds), (Values{1, 2, 3}));
  EXPECT_EQ(*ds.cardinality(), 1);
}

}  // namespace
}  // namespace stoker
