#include "stoker/transforms/interleave.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

Dataset repeated(int64_t n, int64_t times) {
  return numbers(n).interleave(
      {.map_func = [times](const Element& e) { return Dataset::from_tensors({.tensors = e}).repeat({.count = times}); },
       .cycle_length = 2,
       .block_length = 3});
}

DATASET_EXAMPLE(repeated(9, 5));
DATASET_EXAMPLE(numbers(6).interleave({.map_func = [](const Element& e) {
  return Dataset::range({.stop = e.leaves[0].scalar<int64_t>()}).shuffle({}).then(AddNoise{});
}}));

// The example of tf.data's documentation.
TEST(Interleave, TakesBlocksInTurn) {
  EXPECT_EQ(values(Dataset::range({.start = 1, .stop = 6})
                       .interleave({.map_func =
                                        [](const Element& e) {
                                          return Dataset::from_tensors({.tensors = e}).repeat({.count = 6});
                                        },
                                    .cycle_length = 2,
                                    .block_length = 4})),
            (Values{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5}));
}

TEST(Interleave, PassesAFailureOfItsFunctionAtItsPlace) {
  const Dataset ds = numbers(3).interleave({.map_func = [](const Element& e) -> Result<Dataset> {
                                              if (e.leaves[0].scalar<int64_t>() == 1) return Error::invalid("no one");
                                              return numbers(2);
                                            },
                                            .cycle_length = 1});
  EXPECT_EQ(values_and_errors(ds), (Values{0, 1, -1'000'000, 0, 1}));
}

}  // namespace
}  // namespace stoker
