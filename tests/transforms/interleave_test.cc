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

// Turn by turn from each of many, of which some are short, fail or wait: what has
// work is found however many are open.
TEST(Interleave, TakesInTurnFromAnyNumberOfOpenDatasets) {
  constexpr int64_t kDatasets = 700;
  const auto length = [](int64_t i) { return i % 7; };
  const auto opened = [&](const Element& e) {
    const auto i = e.leaves[0].scalar<int64_t>();
    const Dataset all = Dataset::range({.start = 10 * i, .stop = 10 * i + length(i)});
    if (i % 3 == 0) return all.map({.map_func = [](Value x) { return x + 0; }});
    if (i % 3 == 1) return all.filter({.predicate = [](Value x) { return x >= 0; }}).then(Jitter{});
    return all.shuffle({.buffer_size = 1, .seed = 1});
  };
  for (const int64_t open : {1, 16, 500, 1000}) {
    Values expected;
    std::vector<std::pair<int64_t, int64_t>> slots(static_cast<size_t>(open), {-1, 0});  // dataset, place in it
    int64_t next = 0;
    for (size_t at = 0, idle = 0; idle < slots.size(); at = (at + 1) % slots.size()) {
      auto& [dataset, place] = slots[at];
      while (dataset < 0 || place >= length(dataset)) {
        if (next == kDatasets) break;
        if (dataset >= 0) {  // its end takes the turn
          dataset = -1;
          break;
        }
        dataset = next++;
        place = 0;
      }
      const bool gives = dataset >= 0 && place < length(dataset);
      idle = gives || next < kDatasets ? 0 : idle + 1;
      if (gives) expected.push_back(10 * dataset + place++);
    }
    for (const int workers : {0, 1, 3}) {
      const WithResources here({.workers = workers, .memory_bytes = int64_t{1} << 28});
      EXPECT_EQ(values(numbers(kDatasets).interleave({.map_func = opened, .cycle_length = open, .block_length = 1})),
                expected)
          << open << " open, workers: " << workers;
    }
  }
}

}  // namespace
}  // namespace stoker
