#include "stoker/transforms/interleave.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// Children that share a dataset made before them, as far as elements and orders are random.
Dataset sharing(const Dataset& inner) {
  const GraphFunction function = [inner](const Element&) { return inner; };
  return numbers(4).interleave(
      {.map_func = function.identified("gives one dataset", {inner}), .cycle_length = 2, .block_length = 2});
}
DATASET_EXAMPLE(sharing(numbers(5).then(AddNoise{}).cache({})));
DATASET_EXAMPLE(sharing(numbers(5).then(AddNoise{}).filter({[](Value x) { return x != 1; }}).cache({}).shuffle({})));
DATASET_EXAMPLE(sharing(numbers(6).shuffle({.buffer_size = 3}).then(FailSome{})));
DATASET_EXAMPLE(sharing(numbers(9).then(FailSome{}).cache({})));
// A cache of each child's own, shared by the children in it.
DATASET_EXAMPLE(numbers(3).interleave({.map_func = [](const Element&) {
  return sharing(numbers(3).then(AddNoise{}).cache({}));
}}));

TEST(Interleave, GivesEachChildRandomNumbersOfItsOwnInACacheOfItsOwn) {
  const Dataset ds = numbers(2).interleave(
      {.map_func = [](const Element&) { return numbers(20).then(AddNoise{}).cache({}); }, .cycle_length = 1});
  const Values all = values(ds);
  ASSERT_EQ(all.size(), 40u);
  EXPECT_NE(Values(all.begin(), all.begin() + 20), Values(all.begin() + 20, all.end()));
}

// A cache does not keep failures: each child makes them, and they are its own.
TEST(Interleave, NamesTheChildWhoseElementFailsUpstreamOfASharedCache) {
  const Dataset list = numbers(5).then(FailSome{}).cache({});
  const Dataset rows = numbers(5).then(FailSome{}).filter({[](Value x) { return x >= 0; }}).cache({});
  for (const Dataset& inner : {list, rows}) {
    std::vector<std::string> origins;
    Loader loader(sharing(inner));
    for (int i = 0; i < 20; ++i)
      if (const auto next = loader.next(); !next) origins.push_back(next.error().place().origin);
    std::ranges::sort(origins);
    EXPECT_EQ(origins, (std::vector<std::string>{"range:0/3", "range:1/3", "range:2/3", "range:3/3"}));
  }
}

// The example in tf.data's documentation.
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

TEST(Interleave, YieldsAFailureOfItsFunctionInTheTurnOfItsDataset) {
  const Dataset ds = numbers(3).interleave({.map_func = [](const Element& e) -> Result<Dataset> {
                                              if (e.leaves[0].scalar<int64_t>() == 1) return Error::invalid("no one");
                                              return numbers(2);
                                            },
                                            .cycle_length = 1});
  EXPECT_EQ(values_and_errors(ds), (Values{0, 1, -1'000'000, 0, 1}));
}

// Takes turns between many datasets, some of which are short, fail or wait. The engine finds work regardless of how
// many are open.
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
    std::vector<std::pair<int64_t, int64_t>> slots(static_cast<size_t>(open), {-1, 0});  // dataset, position in it
    int64_t next = 0;
    for (size_t at = 0, idle = 0; idle < slots.size(); at = (at + 1) % slots.size()) {
      auto& [dataset, place] = slots[at];
      while (dataset < 0 || place >= length(dataset)) {
        if (next == kDatasets) break;
        if (dataset >= 0) {  // the end of a dataset takes its turn
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
