// The saved graph and the origin of an element are enough to compute the same bits
// again.

#include <gtest/gtest.h>

#include <set>

#include "stoker/core/hash.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STOKER_LAW(Replay);

std::string text_of(const Element& element) {
  std::string text;
  for (const Array& leaf : element.leaves) {
    text += std::string(name_of(leaf.type())) + shape_text(leaf.shape());
    if (leaf.type() == DType::kBytes)
      for (int64_t i = 0; i < leaf.count(); ++i) text += " " + hex_of(hash_of(leaf.bytes_at(i)));
    else
      text += " " + hex_of(hash_of({reinterpret_cast<const char*>(leaf.raw()), static_cast<size_t>(leaf.byte_size())}));
  }
  return text;
}

// Fails every element with an error that contains its text, so that the errors of a pass
// list its elements and their origins.
struct FailAll {
  static constexpr std::string_view kName = "fail_all";
  static constexpr std::string_view kDoc = "Fails every element.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const { return Error::corrupt(text_of(element)); }
};

// The dataset as another process reads it from JSON; the dataset itself if it has
// functions or stages that cannot be saved.
Dataset saved(const Dataset& dataset) {
  const Result<std::string> text = dataset.to_json();
  for (const Node* node : nodes_of(*dataset.node()))
    if (!registry().find_stage(node->stage->type().name)) return dataset;
  if (!text) return dataset;
  set_seed(99);
  return Dataset::from_json(*text).value();
}

// Whether one of the first elements is not an error.
bool delivers(const Dataset& dataset) {
  Loader loader(dataset, {.on_error = OnError::kRaise});
  for (int i = 0; i < 60; ++i) {
    const Result<std::optional<Element>> next = loader.next();
    if (next) return next->has_value();
  }
  return false;
}

// Also fails the test if elements are delivered and none was replayed.
void replay_every_element(const Dataset& dataset, int epochs) {
  int replayed = 0;
  const Dataset again = saved(dataset);
  Loader loader(dataset.then(FailAll{}), {.on_error = OnError::kRaise});
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int i = 0; i < 60; ++i) {
      const Result<std::optional<Element>> next = loader.next();
      if (next) break;
      if (next.error().place().stage != FailAll::kName) continue;  // a failure of the example's own
      const std::string& origin = next.error().place().origin;
      SCOPED_TRACE(origin + " in epoch " + std::to_string(epoch));
      const Result<Element> made = again.replay(origin);
      ASSERT_EQ(made ? text_of(*made) : made.error().message(), next.error().message());
      ++replayed;
    }
    loader.begin_epoch();
  }
  EXPECT_TRUE(replayed > 0 || !delivers(dataset)) << "no element was replayed";
}

TEST_P(Replay, OfADeliveredElementReturnsTheSameBits) { replay_every_element(made(), 3); }

bool gives_numbers(const Dataset& dataset) { return dataset.element_spec() == Spec::scalar(DType::kInt64); }

Dataset odd(const Dataset& dataset) {
  return dataset.filter({.predicate = [](int64_t x) { return x % 2 == 1; }});
}

TEST_P(Replay, HoldsAfterFiltersAndRandomMaps) {
  if (!gives_numbers(made())) GTEST_SKIP() << "no numbers";
  for (const Dataset& dataset :
       {made().then(AddNoise{}), odd(made().then(AddNoise{})).then(AddNoise{}),
        odd(made().shuffle({.buffer_size = 4})).then(AddNoise{}).repeat({.count = 2}),
        odd(made().then(AddNoise{})).cache({}).shuffle({}).then(AddNoise{}),
        made().cache({}).then(AddNoise{}).shuffle({}).take({.count = 9}), odd(made().then(AddNoise{})).enumerate({}),
        made().then(AddNoise{}).concatenate({.dataset = made().then(AddNoise{})}),
        Dataset::zip({.datasets = {made().then(AddNoise{}), odd(made()).then(AddNoise{})}}),
        odd(made().shuffle({})).then(AddNoise{}).batch({.batch_size = 3})}) {
    replay_every_element(dataset, 2);
    if (HasFatalFailure()) return;
  }
}

// Several readings of one source in an epoch have successive passes, which overlap those of a repeat.
TEST(ReplayOfSharedSources, FindsElementsOfEveryEpoch) {
  const Dataset source = numbers(3);
  const Dataset rows = source.ignore_errors({});
  const Dataset twice = rows.repeat({.count = 2}), thrice = rows.repeat({.count = 3});
  for (const Dataset& dataset : {twice.concatenate({.dataset = source}), Dataset::zip({.datasets = {twice, rows}}),
                                 rows.concatenate({.dataset = thrice}).concatenate({.dataset = source}),
                                 thrice.concatenate({.dataset = twice}), source.concatenate({.dataset = rows})})
    replay_every_element(dataset.then(AddNoise{}), 8);
}

// Returns how many failures there were.
int replay_every_failure(const Dataset& dataset) {
  Loader loader(dataset, {.on_error = OnError::kRaise});
  int failed = 0;
  for (int i = 0; i < 100; ++i) {
    const Result<std::optional<Element>> next = loader.next();
    if (next && !*next) break;
    if (next) continue;
    ++failed;
    const Result<Element> made = dataset.replay(next.error().place().origin);
    EXPECT_FALSE(made.ok()) << next.error().describe();
    if (made) break;
    EXPECT_EQ(made.error().message(), next.error().message());
    EXPECT_EQ(made.error().place().origin, next.error().place().origin);
  }
  return failed;
}

TEST_P(Replay, OfAFailedElementReturnsItsError) {
  if (!gives_numbers(made())) GTEST_SKIP() << "no numbers";
  replay_every_failure(
      odd(made()).shuffle({.buffer_size = 5}).then(AddNoise{}).then(FailSome{.every = 5}).batch({.batch_size = 2}));
}

TEST(ReplayOfFailures, ReturnsEachError) {
  const Dataset failing = odd(numbers(60)).shuffle({.buffer_size = 5}).then(FailSome{.every = 5});
  EXPECT_EQ(replay_every_failure(failing), 6);  // 3, 13, …, 53
  EXPECT_EQ(replay_every_failure(failing.batch({.batch_size = 2})), 6);
}

TEST(ReplayOfFiles, ReadsTheFileThatTheOriginNames) {
  const TempDir dir;
  for (int i = 0; i < 12; ++i) dir.write("f" + std::to_string(i), std::to_string(i));
  const std::vector<std::string> pattern{dir.at("f*")};
  for (const ListFiles& files : {ListFiles{.file_pattern = pattern}, ListFiles{.file_pattern = pattern, .seed = 5},
                                 ListFiles{.file_pattern = pattern, .shuffle = false}}) {
    replay_every_element(Dataset::list_files(files), 3);
    replay_every_element(Dataset::list_files(files).shuffle({}).repeat({.count = 2}), 2);
  }
}

// A stage that ends before its input ends a repeat early. The next epoch begins with the
// pass after the last one that was started.
TEST(ReplayOfRepeats, WorksInLaterEpochsIfARepeatEndsEarly) {
  const TempDir dir;
  const std::vector<std::string> file{dir.write("lines", "0\n1\n2\n3\n4\n")};
  const auto lines = [&] { return Dataset::text_lines({.filenames = file}); };
  const auto shuffled = [&] { return lines().shuffle({.buffer_size = 3}); };
  for (const Dataset& dataset :
       {lines().repeat({.count = 4}).take({.count = 7}),
        shuffled().repeat({.count = 4}).batch({.batch_size = 2}).take({.count = 4}),
        shuffled().repeat({}).batch({.batch_size = 3}).take({.count = 5}),
        shuffled().repeat({.count = 2}).take({.count = 7}).repeat({.count = 3}).batch({.batch_size = 2}),
        shuffled().repeat({.count = 3}).skip({.count = 6}).batch({.batch_size = 2}),
        Dataset::zip({.datasets = {shuffled().repeat({.count = 4}), numbers(7)}}).batch({.batch_size = 2}),
        Dataset::zip({.datasets = {shuffled().repeat({}), numbers(7).shuffle({.buffer_size = 3})}}),
        lines().repeat({.count = 3}).enumerate({}).take({.count = 7})}) {
    replay_every_element(dataset, 4);
    if (HasFatalFailure()) return;
  }
}

TEST_P(Replay, HoldsInLaterEpochsOfNestedRepeats) {
  replay_every_element(made().repeat({}).take({.count = 5}).repeat({}).take({.count = 7}).repeat({.count = 2}), 3);
}

Dataset unchanged(const Dataset& dataset) {
  return dataset.filter({.predicate = [](int64_t) { return true; }});
}

TEST(ReplayOfRepeats, AcceptsThePassesOfNestedEndlessRepeats) {
  for (const Dataset& dataset : {numbers(3), unchanged(numbers(3)), unchanged(numbers(3).shuffle({.buffer_size = 2})),
                                 unchanged(numbers(3)).batch({.batch_size = 2})}) {
    Dataset nested = dataset;
    for (int level = 1; level <= 4; ++level) {
      nested = nested.repeat({}).take({.count = 3 + 2 * level});
      replay_every_element(nested.then(AddNoise{}), 4);
      if (dataset.element_spec() == Spec::scalar(DType::kInt64))
        replay_every_element(nested.batch({.batch_size = 2}), 4);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A shuffle delivers elements of a pass after elements of many later passes.
TEST(ReplayOfRepeats, FindsElementsThatAShuffleDeliversLate) {
  const auto numbered = [](const Dataset& dataset) { return unchanged(dataset).repeat({}); };
  const auto few = numbered(numbers(2)).take({.count = 40});
  for (const Dataset& dataset :
       {few.enumerate({}).then(FailAll{}).shuffle({.seed = 1}), few.then(FailAll{}).repeat({.count = 2}).shuffle({}),
        few.then(FailAll{}).repeat({.count = 2}).shuffle({.buffer_size = 3, .seed = 2}),
        numbered(numbers(2)).enumerate({}).then(FailAll{}).shuffle({.buffer_size = 3, .seed = 4}).take({.count = 90}),
        numbered(numbers(1)).enumerate({}).then(FailAll{}).shuffle({.buffer_size = 20, .seed = 3}),
        numbered(few).enumerate({}).then(FailAll{}).shuffle({.buffer_size = 20, .seed = 3})}) {
    EXPECT_GE(replay_every_failure(dataset), 40);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ReplayOfRepeats, EndsTheSearchOfAnInfiniteDataset) {
  const Dataset dropped = unchanged(numbers(3)).take({.count = 2}).repeat({}).enumerate({}).shuffle({.buffer_size = 4});
  EXPECT_EQ(dropped.replay("range:2").error().code(), Code::kNotFound);
  EXPECT_EQ(dropped.batch({.batch_size = 2}).replay("range:2@7").error().code(), Code::kNotFound);
}

// Each element opens a dataset of two elements, and so on for several levels.
Dataset opened(const Dataset& dataset, int levels, bool interleaved) {
  const auto open = [=](const Element&) {
    return levels == 1 ? numbers(2) : opened(numbers(2), levels - 1, interleaved);
  };
  return interleaved ? dataset.interleave({.map_func = open, .cycle_length = 2}) : dataset.flat_map({.map_func = open});
}

TEST(ReplayOfChildren, RecomputesTheElementOfEachLevel) {
  const Dataset lossy = numbers(5).then(FailSome{.every = 5});  // fails 3
  for (const bool interleaved : {false, true}) {
    for (int levels = 1; levels <= 3; ++levels) {
      SCOPED_TRACE(std::to_string(levels) + " levels");
      std::string in_failed = "range:3", in_first = "range:0";
      for (int level = 0; level < levels; ++level) in_failed += "/1", in_first += "/1";
      Dataset in_chain = lossy;
      for (int level = 0; level < levels; ++level) in_chain = opened(in_chain, 1, interleaved);
      for (const Dataset& children : {opened(lossy, levels, interleaved), in_chain}) {
        replay_every_element(children.then(AddNoise{}), 2);
        EXPECT_EQ(replay_every_failure(children.then(FailAll{})), (4 << levels) + 1);
        EXPECT_EQ(children.replay(in_first)->leaves[0].scalar<int64_t>(), 1);
        EXPECT_EQ(children.replay(in_failed).error().place().stage, FailSome::kName);
      }
    }
  }
}

// The end of an input is no element. The error has an origin of its own, and no other one.
TEST(ReplayOfErrorsAtTheEnd, ReturnsTheErrorAndNotAnElement) {
  const auto too_few = [](const Dataset& dataset) { return dataset.assert_cardinality({.expected_cardinality = 9}); };
  const Dataset children = numbers(3).flat_map({.map_func = [=](const Element&) { return too_few(numbers(2)); }});
  for (const Dataset& dataset :
       {too_few(numbers(3)), too_few(unchanged(numbers(3))), too_few(numbers(0)),
        too_few(unchanged(numbers(3))).repeat({.count = 2}).batch({.batch_size = 2}), too_few(children), children,
        too_few(unchanged(numbers(3)).repeat({.count = 2}).cache({})).shuffle({.buffer_size = 2})}) {
    EXPECT_GE(replay_every_failure(dataset), 1);
    std::set<std::string> origins;
    Loader loader(dataset, {.on_error = OnError::kRaise});
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (int i = 0; i < 30; ++i) {
        const Result<std::optional<Element>> next = loader.next();
        if (next && !*next) break;
        if (next) continue;
        const Error::Place& place = next.error().place();
        EXPECT_TRUE(origins.insert(place.origin).second) << place.origin;
        EXPECT_NE(place.origin.find("end"), std::string::npos) << place.origin;
        const Result<Element> made = dataset.replay(place.origin);
        ASSERT_FALSE(made.ok()) << place.origin;
        EXPECT_EQ(made.error().message(), next.error().message()) << place.origin;
      }
      loader.begin_epoch();
    }
  }
  EXPECT_EQ(replay_every_failure(too_few(numbers(3)).cache({})), 1);
  EXPECT_EQ(too_few(numbers(3)).replay("range:0")->leaves[0].scalar<int64_t>(), 0);
  EXPECT_EQ(children.replay("range:1/0")->leaves[0].scalar<int64_t>(), 0);
}

TEST(ReplayOfCaches, WorksForEachSourceUpstream) {
  const TempDir dir;
  const std::vector<std::string> file{dir.write("lines", "0\n1\n2\n3\n4\n")};
  const Dataset lines = Dataset::text_lines({.filenames = file}).shuffle({.buffer_size = 3});
  for (const Dataset& dataset : {lines.concatenate({.dataset = lines.take({.count = 3})}),
                                 lines.concatenate({.dataset = Dataset::text_lines({.filenames = file})}),
                                 lines.repeat({.count = 2}), Dataset::zip({.datasets = {lines, lines}})}) {
    replay_every_element(dataset.cache({}).shuffle({.buffer_size = 3}), 4);
    if (HasFatalFailure()) return;
    replay_every_element(dataset.cache({}).batch({.batch_size = 2}), 4);
    if (HasFatalFailure()) return;
  }
}

TEST(ReplayOfOrigins, RejectsTextThatIsNotAnOrigin) {
  const Dataset dataset = numbers(5).named("train");
  for (const char* wrong : {"", "3", "train", "train:", "train:x", "train:-1", "train:1@", "train:1/", "train:(1",
                            "train:1)", "train:99999999999999999999"})
    EXPECT_EQ(dataset.replay(wrong).error().code(), Code::kInvalidArgument) << wrong;
  EXPECT_EQ(dataset.replay("test:1").error().message(), "no source named 'test'; the sources of this graph are: train");
  EXPECT_EQ(dataset.replay("train:5").error().code(), Code::kOutOfRange);
  EXPECT_EQ(dataset.replay("train:99").error().message(),
            "replay: expected a position from 0 to 4, because train has 5 elements; got 99");
  EXPECT_EQ(dataset.at(-1).error().message(),
            "at: expected a position from 0 to 4, because the dataset has 5 elements; got -1");
  EXPECT_EQ(numbers(0).at(0).error().message(), "at: got position 0, but the dataset is empty");
  EXPECT_EQ(odd(dataset).replay("train:2").error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace stoker
