#include "stoker/transforms/flat_map.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

Dataset triangle(int64_t n) {
  return numbers(n).flat_map({.map_func = [](const Element& e) { return numbers(e.leaves[0].scalar<int64_t>()); }});
}

DATASET_EXAMPLE(triangle(8));
DATASET_EXAMPLE(triangle(6).flat_map({.map_func = [](const Element& e) {
  return numbers(e.leaves[0].scalar<int64_t>() + 1);
}}));

TEST(FlatMap, GivesOneDataSetAfterTheOther) { EXPECT_EQ(values(triangle(4)), (Values{0, 0, 1, 0, 1, 2})); }

TEST(FlatMap, OpensAGraphThatIsWrittenOut) {
  const auto ds = Dataset::from_json(R"({"stoker": 1, "stages": [
    {"stage": "range", "stop": 4},
    {"stage": "flat_map", "map_func": [{"stage": "range", "stop": {"element": ""}}]}]})");
  ASSERT_TRUE(ds.ok()) << ds.error().message();
  EXPECT_EQ(values(*ds), (Values{0, 0, 1, 0, 1, 2}));
}

}  // namespace
}  // namespace stoker
