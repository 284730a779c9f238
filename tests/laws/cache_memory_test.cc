// The bytes that a cache charges to the budget cover the memory that it takes, also for tiny elements.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "stoker/stoker.h"
#include "support/allocations.h"
#include "support/support.h"

namespace stoker {
namespace {

using Elements = std::function<Dataset(const Dataset& numbers)>;

Elements each(Result<Element> (*make)(int64_t number)) {
  return [make](const Dataset& numbers) {
    return numbers.map([make](Element x, Context&) { return make(x[0].scalar<int64_t>()); });
  };
}

struct Kind {
  const char* name;
  Elements make;
  int64_t most_bytes;  // charged per element
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

Array text(int64_t x) { return Array::of_bytes("text " + std::to_string(x)); }

// The values are in the budget of no iterator.
Array block(std::vector<int64_t> dims, int64_t x) {
  Array made = Array::make_small(dims, DType::kInt64);
  std::ranges::fill(made.mutable_values<int64_t>(), x);
  return made;
}

const Kind kKinds[] = {
    {"integer", each([](int64_t x) -> Result<Element> { return Element(Array::of(2 * x)); }), 20},
    {"boolean", each([](int64_t x) -> Result<Element> { return Element(Array::of(x % 3 == 0)); }), 12},
    {"array_of_one", each([](int64_t x) -> Result<Element> { return Element(block({1}, x)); }), 20},
    {"array_of_rank_5", each([](int64_t x) -> Result<Element> { return Element(block({1, 2, 1, 2, 1}, x)); }), 50},
    {"empty_array", each([](int64_t) -> Result<Element> { return Element(block({0}, 0)); }), 12},
    {"ragged", each([](int64_t x) -> Result<Element> { return Element(block({x % 5}, x)); }), 200},
    {"ragged_of_rank_4", each([](int64_t x) -> Result<Element> { return Element(block({1, 1, 1, x % 5}, x)); }), 300},
    {"text", each([](int64_t x) -> Result<Element> { return Element(text(x)); }), 150},
    {"texts", each([](int64_t x) -> Result<Element> {
       const std::string word = std::to_string(x);
       return Element(Array::from(std::vector<Bytes>{"a", word}));
     }),
     200},
    {"tuple", each([](int64_t x) -> Result<Element> {
       std::vector<Element> parts;
       parts.emplace_back(Array::of(x));
       parts.emplace_back(text(x));
       parts.emplace_back(block({2}, x));
       return tuple_of(std::move(parts));
     }),
     200},
    {"changing_type", each([](int64_t x) -> Result<Element> { return Element(block({x % 50 == 49 ? 400 : 2}, x)); }),
     500},
    {"joined", [](const Dataset& numbers) { return Dataset::zip({.datasets = {numbers, numbers}}); }, 500},
    {"opened",
     [](const Dataset& numbers) {
       return numbers.flat_map({.map_func = [](const Element& x) { return Dataset::from_tensors({.tensors = x}); }});
     },
     400},
    {"shuffled", [](const Dataset& numbers) { return numbers.shuffle({.buffer_size = 1 << 20, .seed = 1}); }, 40},
};

constexpr bool kForms[] = {true, false};

class CacheMemory : public testing::TestWithParam<std::tuple<Kind, bool>> {};

TEST_P(CacheMemory, IsCoveredByTheBytesChargedToTheBudget) {
  const auto& [kind, list] = GetParam();
  WithResources here({.workers = 0, .memory_bytes = int64_t{1} << 30});
  constexpr int64_t kSlack = 256 << 10;  // idle memory that threads recycle
  for (const int64_t n : {5'000, 10'000, 20'000}) {
    SCOPED_TRACE(n);
    const Dataset source = list ? numbers(n) : numbers(n).filter([](Value x) { return x >= 0; });
    const auto read = [](const Dataset& dataset) {
      int64_t count = 0;
      Loader loader(dataset, {.prefetch_next_epoch = false});
      while (loader.next().value()) ++count;
      return count;
    };
    EXPECT_EQ(read(kind.make(source).cache()), n);  // fills what threads recycle
    int64_t least_uncharged = std::numeric_limits<int64_t>::max();
    for (int attempt = 0; attempt < 3; ++attempt) {  // a thread that an earlier test has left may allocate meanwhile
      Buffer::free_idle();
      const Dataset cached = kind.make(source).cache();
      const auto bytes_before = bytes_in_use();
      EXPECT_EQ(read(cached), n);
      Buffer::free_idle();
      const auto bytes_after = bytes_in_use();

      Loader again(cached, {.prefetch_next_epoch = false});  // reports what the other iterator cached
      ASSERT_TRUE(again.next().ok());
      const int64_t charged = again.stats().held_bytes;
      EXPECT_GT(charged, 0);
      EXPECT_GE(memory_use().held, charged);
      EXPECT_LE(charged, n * kind.most_bytes + kSlack);
      least_uncharged = std::min(least_uncharged, bytes_after ? *bytes_after - *bytes_before - charged : 0);
    }
    EXPECT_LE(least_uncharged, kSlack);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CacheMemory, testing::Combine(testing::ValuesIn(kKinds), testing::ValuesIn(kForms)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_of_a_list" : "_of_a_stream");
                         });

// Elements for which the budget has no space are computed again. Those that are cached stay so.
TEST(CacheOfTinyElements, HoldsNoMoreThanTheBudget) {
  constexpr int64_t kElements = 100'000, kBudget = 400'000;
  for (const bool list : {true, false}) {
    SCOPED_TRACE(list);
    WithResources here({.workers = 2, .memory_bytes = kBudget});
    const Dataset source = list ? numbers(kElements) : numbers(kElements).filter([](Value x) { return x >= 0; });
    auto calls = std::make_shared<std::atomic<int64_t>>(0);
    const Dataset cached = source.map([calls](int64_t x) { return ++*calls, 2 * x; }).cache();
    Values expected;
    for (int64_t x = 0; x < kElements; ++x) expected.push_back(2 * x);
    for (int epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(values(cached), expected);
    EXPECT_LE(memory_use().held, kBudget);
    EXPECT_GT(memory_use().held, 0);
    if (list) {  // a stream has to be read from its start
      EXPECT_LT(*calls, 2 * kElements);
    }
  }
}

}  // namespace
}  // namespace stoker
