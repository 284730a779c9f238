// Epoch k of a dataset depends on its own graph, its seeds and k: not on what
// is cached, and not on other datasets that share its nodes.

#include <gtest/gtest.h>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Passes);

using Words = std::vector<std::string>;

constexpr int64_t kMost = 150;

std::vector<Words> epochs_of(Loader& loader, int epochs) {
  std::vector<Words> all;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    all.push_back(text_of_rest(loader, kMost));
    loader.begin_epoch();
  }
  return all;
}
std::vector<Words> epochs_of(const Dataset& dataset, int epochs) {
  Loader loader(dataset);
  return epochs_of(loader, epochs);
}

// Another dataset over the same nodes: with random numbers, where it gives numbers.
Dataset with_noise(const Dataset& dataset) {
  return dataset.element_spec() == Spec::scalar(DType::kInt64) ? dataset.then(AddNoise{}) : dataset.skip({.count = 0});
}

// A shuffle, and the first stage that draws random numbers, count passes for
// every dataset that is built on them, as in tf.data. The functions of some
// examples return datasets that they share with other examples.
bool counts_for_others(const Dataset& dataset) {
  return std::ranges::any_of(nodes_of(*dataset.node()), [](const Node* node) {
    return node->stage->pass_use() != PassUse::kNone || node->stage->type().opens_datasets;
  });
}

TEST_P(Passes, AreNotChangedByDatasetsOnTheSameNodes) {
  if (counts_for_others(made())) GTEST_SKIP() << "it counts passes for every dataset built on it";
  const std::vector<Words> alone = epochs_of(with_noise(made()), 3);
  const Dataset shared = made();
  const Dataset dataset = with_noise(shared);
  const Dataset sibling = shared.skip({.count = 1}), twice = shared.concatenate({.dataset = shared});
  (void)epochs_of(sibling, 2);
  (void)epochs_of(shared, 1);
  Loader open(twice);
  (void)text_of_rest(open, 3);
  Loader loader(dataset);
  std::vector<Words> found;
  for (int epoch = 0; epoch < 3; ++epoch) {
    found.push_back(text_of_rest(loader, kMost));
    (void)epochs_of(sibling, 1);
    (void)text_of_rest(open, 2);
    loader.begin_epoch();
  }
  EXPECT_EQ(found, alone);
}

// Used at two places, with an order of its own downstream.
Dataset used_twice(const Dataset& x) {
  return x.concatenate({.dataset = x.take({.count = 3})}).shuffle({.buffer_size = 3, .seed = 5});
}

bool repeats(const Dataset& dataset) {
  return std::ranges::any_of(nodes_of(*dataset.node()),
                             [](const Node* node) { return node->stage->type().name == "repeat"; });
}

TEST_P(Passes, AreTheSameWithACache) {
  const std::vector<Words> each = epochs_of(made(), 2);
  if (each[0] != each[1]) GTEST_SKIP() << "its epochs differ, and a cache keeps the first";
  EXPECT_EQ(epochs_of(used_twice(made().cache({})), 4), epochs_of(used_twice(made()), 4));
  if (repeats(made())) return;  // downstream of a cache all of it is one pass
  EXPECT_EQ(epochs_of(with_noise(used_twice(made().cache({}))), 4), epochs_of(with_noise(used_twice(made())), 4));
  EXPECT_EQ(epochs_of(with_noise(made().cache({})), 4), epochs_of(with_noise(made()), 4));
}

TEST_P(Passes, AreTheSameWhicheverDatasetFillsACache) {
  const auto cached = [&] { return made().cache({}); };
  const std::vector<Words> alone = epochs_of(with_noise(used_twice(cached())), 3);
  const Dataset cache = cached();
  (void)epochs_of(cache.take({.count = 2}), 3);
  (void)epochs_of(Dataset::zip({.datasets = {cache, numbers(5)}}), 2);
  EXPECT_EQ(epochs_of(with_noise(used_twice(cache)), 3), alone);
}

// Children run at the same time: which of them fills a cache that they share depends on time.
TEST_P(Passes, AreTheSameWhicheverChildFillsACache) {
  const auto in_children = [](const Dataset& of, const Dataset& cache) {
    return of.flat_map({.map_func = [cache](const Element&) { return cache; }});
  };
  const std::vector<Words> alone = epochs_of(in_children(numbers(3), made().cache({})), 2);
  const Dataset cache = made().cache({});
  (void)epochs_of(in_children(numbers(5).skip({.count = 2}), cache), 1);
  EXPECT_EQ(epochs_of(in_children(numbers(3), cache), 2), alone);
}

// The passes of a repeat inside a repeat have consecutive numbers.
TEST_P(Passes, OfNestedRepeatsAreThoseOfOne) {
  const auto repeated = [&](std::initializer_list<int64_t> counts) {
    Dataset dataset = with_noise(made());
    for (const int64_t count : counts) dataset = dataset.repeat({.count = count});
    return epochs_of(dataset, 2);
  };
  EXPECT_EQ(repeated({2, 3}), repeated({6}));
  EXPECT_EQ(repeated({2, 1, 2}), repeated({4}));
}

TEST(PassNumbers, StartAgainAtZeroAfterTheLargest) {
  EXPECT_EQ(pass_after(kMostPasses, 1), 0);
  EXPECT_EQ(pass_number(kMostPasses, kMostPasses, kMostPasses), 0);
  EXPECT_EQ(passes_since(3, 5), 2);
  EXPECT_EQ(passes_since(5, 3), -2);
  EXPECT_EQ(passes_since(kMostPasses, 1), 2);
  EXPECT_EQ(passes_since(1, kMostPasses), -2);
}

// A loop that builds the end of its pipeline again for each epoch.
TEST(PassesOfAShuffle, GoOnWhenADatasetIsBuiltOnItAgain) {
  const auto shuffled = [] { return numbers(20).shuffle({.buffer_size = 20, .seed = 3}); };
  const std::vector<Words> wanted = epochs_of(shuffled().batch({.batch_size = 4}), 3);
  const Dataset once = shuffled();
  std::vector<Words> found;
  for (int epoch = 0; epoch < 3; ++epoch) {
    Loader loader(once.batch({.batch_size = 4}));
    found.push_back(text_of_rest(loader, kMost));
  }
  EXPECT_EQ(found, wanted);
  EXPECT_NE(found[0], found[1]);
}

// Stages that draw no random numbers do not count passes: a training set and a validation set often share them.
TEST(PassesOfRandomNumbers, AreNotChangedBySiblingsOnTheSameStages) {
  // Of other functions, the engine does not know whether their datasets draw.
  const GraphFunction opened =
      GraphFunction([](const Element&) { return numbers(4); }).identified("draws nothing", {}, false);
  const std::vector<std::function<Dataset()>> bases = {
      [] { return numbers(9); },
      [] { return numbers(9).map({.map_func = [](int64_t x) { return x + 1; }}); },
      [] { return numbers(9).map({.map_func = [](Element x) { return x; }}); },
      [] { return numbers(9).filter([](int64_t x) { return x != 2; }); },
      [&] { return numbers(3).flat_map({.map_func = opened}); },
      [&] { return numbers(3).interleave({.map_func = opened}); },
      [] { return numbers(9).batch({.batch_size = 2}).unbatch({}); }};
  for (size_t i = 0; i < bases.size(); ++i) {
    SCOPED_TRACE(i);
    const auto noisy = [](const Dataset& base) { return base.then(AddNoise{}); };
    const std::vector<Words> alone = epochs_of(noisy((set_seed(1), bases[i]())), 3);
    const Dataset base = (set_seed(1), bases[i]());
    const Dataset dataset = noisy(base), sibling = noisy(base);
    std::vector<Words> found;
    Loader loader(dataset);
    for (int epoch = 0; epoch < 3; ++epoch) {
      (void)epochs_of(sibling, 1);
      (void)epochs_of(base, 1);
      (void)epochs_of(base.skip({.count = 1}), 1);
      found.push_back(text_of_rest(loader, kMost));
      loader.begin_epoch();
    }
    EXPECT_EQ(found, alone);
  }
}

}  // namespace
}  // namespace stoker
