// A cache that several places of a graph read: its elements depend on the graph and the seeds, not on the place that
// fills it, on timing, or on the position at which an iterator was restored.
#include <gtest/gtest.h>

#include <set>

#include "stoker/stoker.h"
#include "support/support.h"

namespace stoker {
namespace {

using Join = Dataset (*)(const Dataset& cached);

Dataset draws(const Dataset& input) {
  return input.map([](Element, Context& context) { return Element(Array::of<int64_t>(context.rng().below(1000))); });
}
Dataset paired(const Dataset& a, const Dataset& b) {
  return Dataset::zip({.datasets = {a, b}}).map([](int64_t x, int64_t y) { return 1000 * x + y; });
}

struct Example {
  const char* name;
  Join join;
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

const Example kJoins[] = {
    {"concatenate", [](const Dataset& x) { return x.concatenate(Dataset(x.take(3))); }},
    {"second_first", [](const Dataset& x) { return x.take(3).concatenate(x); }},
    {"zip", [](const Dataset& x) { return paired(x, x.skip(1)); }},
    {"mapped", [](const Dataset& x) { return x.concatenate(x.map([](Value v) { return v * 2; })); }},
    {"after_another_source", [](const Dataset& x) { return numbers(3).concatenate(x); }},
};

class SharedCache : public testing::TestWithParam<std::tuple<Example, bool>> {
 protected:
  // A new dataset with a new cache, and the same seeds.
  static Dataset dataset() {
    const auto& [example, by_rows] = GetParam();
    set_seed(3);
    const Dataset source = by_rows ? numbers(12).filter([](Value x) { return x % 2 == 0; }) : numbers(6);
    return example.join(draws(source).cache());
  }
};

TEST_P(SharedCache, ElementsAreEqualInEveryPlaceAndAfterARestoreAtAnyPosition) {
  const Values expected = values(dataset());
  for (size_t at = 0; at <= expected.size(); ++at) {
    Loader first(dataset());
    for (size_t i = 0; i < at; ++i) ASSERT_TRUE(first.next().value().has_value());
    const std::string checkpoint = first.save().value();
    Loader second(dataset());
    ASSERT_TRUE(second.restore(checkpoint).ok());
    Values rest;
    while (std::optional<Element> element = second.next().value()) rest.push_back((*element)[0].scalar<int64_t>());
    EXPECT_EQ(rest, Values(expected.begin() + static_cast<ptrdiff_t>(at), expected.end())) << "restored at " << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SharedCache, testing::Combine(testing::ValuesIn(kJoins), testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) +
                                  (std::get<1>(info.param) ? "_rows" : "_list");
                         });

// A restore with other seeds must not read what an iterator with the old seeds puts into the cache, and the other way
// round.
TEST(SharedCaches, AreNotSharedByIteratorsWithOtherSeeds) {
  for (const bool by_rows : {true, false}) {
    const auto dataset = [&](int64_t seed) {
      set_seed(seed);
      const Dataset source = by_rows ? numbers(12).filter([](Value x) { return x % 2 == 0; }) : numbers(6);
      return draws(source).cache();
    };
    const Values with_old = values(dataset(3));
    Loader other(dataset(4));
    const Values with_new = values(dataset(4));
    ASSERT_NE(with_old, with_new);
    const std::string checkpoint = other.save().value();

    const Dataset shared = dataset(3);
    Loader running(shared, {.prefetch_next_epoch = false});
    EXPECT_EQ(text_of_rest(running, 1).size(), 1u);
    Loader restored(shared, {.prefetch_next_epoch = false});
    ASSERT_TRUE(restored.restore(checkpoint).ok());
    running.begin_epoch();  // fills a cache before the restored iterator does
    const auto rest_of = [](Loader& loader) {
      Values all;
      while (std::optional<Element> element = loader.next().value()) all.push_back((*element)[0].scalar<int64_t>());
      return all;
    };
    EXPECT_EQ(rest_of(running), with_old);
    EXPECT_EQ(rest_of(restored), with_new);
  }
}

// The same cached elements, wherever the cache is in a graph.
TEST(SharedCaches, AnElementHasTheSameRandomNumbersInAnotherGraph) {
  set_seed(3);
  const Values alone = values(draws(numbers(4)).cache());
  set_seed(3);
  const Dataset cached = draws(numbers(4)).cache();
  const Values joined = values(numbers(2).concatenate(cached));
  EXPECT_EQ(Values(joined.begin() + 2, joined.end()), alone);
}

Values fail_with_value(const Dataset& dataset, std::vector<std::string>& origins) {
  Values found;
  Loader loader(dataset.map([](int64_t x) -> Result<int64_t> { return Error::invalid(x); }));
  while (true) {
    const auto next = loader.next();
    if (next) return found;
    found.push_back(std::stoll(next.error().message()));
    origins.push_back(next.error().place().origin);
  }
}

// An inner cache over a repeat has elements of several passes in its first pass.
TEST(SharedCaches, ElementsOfARepeatBetweenTwoCachesHaveOriginsOfTheirOwn) {
  const auto dataset = [] { return numbers(2).repeat(3).cache().map([](Value x) { return x + 10; }).cache(); };
  std::vector<std::string> origins;
  fail_with_value(dataset(), origins);
  ASSERT_EQ(origins.size(), 6u);
  EXPECT_EQ(std::set<std::string>(origins.begin(), origins.end()).size(), 6u);
}

TEST(DeepGraphs, AreAnErrorInsteadOfAStackOverflow) {
  Dataset deep = numbers(3);
  for (int i = 0; i < 5000; ++i) deep = deep.shuffle(2);
  EXPECT_EQ(Loader(deep).next().error().code(), Code::kInvalidArgument);
  Dataset nested = numbers(3);
  for (int i = 0; i < 5000; ++i) nested = nested.concatenate(numbers(1)).take(3);
  EXPECT_EQ(Loader(nested).next().error().code(), Code::kInvalidArgument);
}

TEST(DeepGraphs, ThousandsOfConcatenatedDatasetsAreNotNested) {
  Dataset all = numbers(1);
  for (int i = 0; i < 3000; ++i) all = all.concatenate(numbers(1));
  EXPECT_EQ(values(all).size(), 3001u);
  Dataset rows = numbers(1).filter([](Value x) { return x == 0; });
  for (int i = 0; i < 3000; ++i) rows = rows.concatenate(numbers(1));
  EXPECT_EQ(values(rows).size(), 3001u);
}

}  // namespace
}  // namespace stoker
