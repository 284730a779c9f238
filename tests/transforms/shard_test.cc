#include "stoker/transforms/shard.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Shard{.num_shards = 3, .index = 1}, numbers(40));
DATASET_EXAMPLE(
    numbers(50).filter({.predicate = [](int64_t x) { return x % 2 == 1; }}).shard({.num_shards = 4, .index = 3}));

TEST(Shard, KeepsEveryNthElement) {
  EXPECT_EQ(values(numbers(8).shard({.num_shards = 3, .index = 1})), (Values{1, 4, 7}));
  EXPECT_EQ(*numbers(8).shard({.num_shards = 3, .index = 2}).cardinality(), 2);
}

TEST(Shard, RejectsAnIndexOutOfRange) {
  EXPECT_EQ(error_of(numbers(8).shard({.num_shards = 3, .index = 3})), "shard: index must be from 0 to 2, got 3");
}

}  // namespace
}  // namespace stoker
