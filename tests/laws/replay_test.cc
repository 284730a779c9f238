// The origin of an element is enough to make it again, bit for bit, from the
// graph as it was saved.

#include <gtest/gtest.h>

#include "stoker/core/hash.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STOKER_LAW(Replay);

std::string text_of(const Element& element) {
  std::string text;
  for (const Array& leaf : element.leaves) {
    text += std::string(name_of(leaf.type())) + words_of(leaf.dims());
    if (leaf.type() == DType::kBytes)
      for (int64_t i = 0; i < leaf.count(); ++i) text += " " + hex_of(hash_of(leaf.bytes_at(i)));
    else
      text += " " + hex_of(hash_of({reinterpret_cast<const char*>(leaf.raw()), static_cast<size_t>(leaf.byte_size())}));
  }
  return text;
}

// Fails every element with its own text: the errors of a pass are its elements
// and their origins.
struct FailAll {
  static constexpr std::string_view kName = "fail_all";
  static constexpr std::string_view kDoc = "Fails every element.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const { return Error::corrupt(text_of(element)); }
};

// What a process that reads the saved graph has; the dataset itself where it
// has functions or stages that cannot be saved.
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

// Fails the test, too, where elements are delivered and none was replayed.
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

TEST_P(Replay, OfADeliveredElementGivesTheSameBits) { replay_every_element(made(), 3); }

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
    EXPECT_FALSE(made.ok()) << next.error().words();
    if (made) break;
    EXPECT_EQ(made.error().message(), next.error().message());
    EXPECT_EQ(made.error().place().origin, next.error().place().origin);
  }
  return failed;
}

TEST_P(Replay, OfAFailedElementGivesItsError) {
  if (!gives_numbers(made())) GTEST_SKIP() << "no numbers";
  replay_every_failure(
      odd(made()).shuffle({.buffer_size = 5}).then(AddNoise{}).then(FailSome{.every = 5}).batch({.batch_size = 2}));
}

TEST(ReplayOfFailures, GivesEachError) {
  const Dataset failing = odd(numbers(60)).shuffle({.buffer_size = 5}).then(FailSome{.every = 5});
  EXPECT_EQ(replay_every_failure(failing), 6);  // 3, 13, …, 53
  EXPECT_EQ(replay_every_failure(failing.batch({.batch_size = 2})), 6);
}

TEST(ReplayOfFiles, IsOfTheFileThatTheOriginNames) {
  const TempDir dir;
  for (int i = 0; i < 12; ++i) dir.write("f" + std::to_string(i), std::to_string(i));
  const std::vector<std::string> pattern{dir.at("f*")};
  for (const ListFiles& files : {ListFiles{.file_pattern = pattern}, ListFiles{.file_pattern = pattern, .seed = 5},
                                 ListFiles{.file_pattern = pattern, .shuffle = false}}) {
    replay_every_element(Dataset::list_files(files), 3);
    replay_every_element(Dataset::list_files(files).shuffle({}).repeat({.count = 2}), 2);
  }
}

TEST(ReplayOfOrigins, RefusesWhatIsNoOrigin) {
  const Dataset dataset = numbers(5).named("train");
  for (const char* wrong : {"", "3", "train", "train:", "train:x", "train:-1", "train:1@", "train:1/", "train:(1",
                            "train:1)", "train:99999999999999999999"})
    EXPECT_EQ(dataset.replay(wrong).error().code(), Code::kInvalidArgument) << wrong;
  EXPECT_EQ(dataset.replay("test:1").error().message(), "no source named 'test'; this graph has train");
  EXPECT_EQ(dataset.replay("train:5").error().code(), Code::kOutOfRange);
  EXPECT_EQ(odd(dataset).replay("train:2").error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace stoker
