// A failed element reports where it came from, and no other element changes its place.

#include <gtest/gtest.h>

#include <set>

#include "stoker/graph/stage_of.h"
#include "support/law.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STOKER_LAW(Provenance);

// Fails the records at positions 0, 3, 6, … of the source.
struct FailRecords {
  static constexpr std::string_view kName = "fail_records";
  static constexpr std::string_view kDoc = "Fails some records.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context& context) const {
    const int64_t position = context.origin().position;
    if (position % 3 == 0) return Error::corrupt("record ", position, " is bad");
    return element;
  }
};

bool is_own(const Error& error) { return error.place().stage == FailRecords::kName; }

// The same chain with FailRecords after its source; nullopt if the graph is not a chain.
std::optional<Dataset> with_failures(const Dataset& dataset) {
  std::shared_ptr<const Node> built;
  for (const Node* node : nodes_of(*dataset.node())) {
    if (node->inputs.size() > 1) return {};
    Result<std::shared_ptr<const Node>> next = make_node(node->stage, built, node->location, node->name);
    if (!next) return {};
    built = *next;
    if (node->inputs.empty()) built = make_node(make_stage(FailRecords{}), built, Location{}).value();
  }
  return Dataset(Graph(built));
}

TEST_P(Provenance, EveryErrorNamesItsElement) {
  const std::optional<Dataset> dataset = with_failures(made());
  if (!dataset) GTEST_SKIP() << "the graph is not a chain";
  Loader loader(*dataset, {.on_error = OnError::kRaise});
  int64_t found = 0;
  for (int i = 0; i < 300; ++i) {
    Result<std::optional<Element>> next = loader.next();
    if (next && !*next) break;
    if (next || !is_own(next.error())) continue;
    ++found;
    const Error& error = next.error();
    EXPECT_EQ(error.code(), Code::kDataLoss);
    EXPECT_FALSE(error.place().source.empty());
    EXPECT_GE(error.place().position, 0);
    ASSERT_FALSE(error.place().origin.empty());
    Result<Element> again = dataset->replay(error.place().origin);
    ASSERT_FALSE(again.ok()) << "the replay of " << error.place().origin << " does not fail";
    EXPECT_EQ(again.error().message(), error.message()) << error.place().origin;
  }
  if (made().node()->inputs.empty()) {
    EXPECT_GT(found, 0) << "record 0 of the source must fail";
  }
}

TEST_P(Provenance, RaisingAndSkippingReturnTheSameElements) {
  const std::optional<Dataset> raising = with_failures(made());
  if (!raising) GTEST_SKIP() << "the graph is not a chain";
  std::vector<std::string> raised = text_of(*raising, {.on_error = OnError::kRaise});
  const auto errors = std::erase_if(raised, [](const std::string& words) { return words.starts_with("error: "); });
  const Dataset skipping = *with_failures(made());
  Loader loader(skipping, {.on_error = OnError::kSkip});
  std::vector<std::string> kept = text_of_rest(loader);
  // If no element is left, the loader returns one error that reports this.
  if (raised.empty()) std::erase_if(kept, [](const std::string& words) { return words.starts_with("error: "); });
  EXPECT_EQ(kept, raised);
  EXPECT_EQ(loader.skipped().size(), errors);
  for (const Skipped& skipped : loader.skipped()) EXPECT_FALSE(skipped.origin.empty());
}

// Fails every batch, with its values.
Dataset failing(const Dataset& batches) {
  return batches.map({.map_func = [](Element batch) -> Element { throw Error::corrupt(batch.describe()); }});
}

// Leaves the epochs of a dataset early, after one element, two elements and so on, and replays the errors of all.
void expect_replayed_after_short_epochs(const Dataset& dataset) {
  Loader loader(dataset, {.on_error = OnError::kRaise, .prefetch_next_epoch = false});
  for (int elements = 1; elements <= 5; ++elements) {
    for (int i = 0; i < elements; ++i) {
      const Result<std::optional<Element>> next = loader.next();
      if (next && !*next) break;
      ASSERT_FALSE(next.ok());
      const std::string& origin = next.error().place().origin;
      const Result<Element> again = dataset.replay(origin);
      ASSERT_FALSE(again.ok()) << origin;
      EXPECT_EQ(again.error().message(), next.error().message()) << origin;
      EXPECT_EQ(again.error().place().origin, origin);
    }
    loader.begin_epoch();
  }
}

TEST(ProvenanceAfterShortEpochs, ABatchOfSeveralPassesIsReplayed) {
  const Dataset shuffled = numbers(5).shuffle({.buffer_size = 3, .seed = 7});
  for (const Dataset& repeated : {shuffled.repeat(), shuffled.repeat(2), shuffled.repeat(3), shuffled.repeat(2).take(7),
                                  numbers(5).filter([](int64_t x) { return x != 2; }).repeat()}) {
    expect_replayed_after_short_epochs(failing(repeated.batch(3)));
    expect_replayed_after_short_epochs(failing(repeated.batch(2).shuffle({.buffer_size = 3, .seed = 1})));
  }
}

TEST(ProvenanceAfterShortEpochs, ABatchOfTuplesIsReplayed) {
  const Dataset left = numbers(5).shuffle({.buffer_size = 3, .seed = 7}).repeat();
  const Dataset right = numbers(3).shuffle({.buffer_size = 2, .seed = 1}).repeat();
  expect_replayed_after_short_epochs(failing(Dataset::zip({{left, right}}).batch(2)));
  expect_replayed_after_short_epochs(failing(Dataset::zip({{numbers(9), right}}).batch(2)));
}

TEST(ProvenanceAfterShortEpochs, ABatchFromABufferOfSeveralPassesIsReplayed) {
  const Dataset shuffled = numbers(5).shuffle({.buffer_size = 3, .seed = 7});
  for (const Dataset& repeated :
       {shuffled.repeat(), numbers(5).repeat(), shuffled.repeat(3), shuffled.cache().repeat()})
    expect_replayed_after_short_epochs(failing(repeated.shuffle({.buffer_size = 7, .seed = 3}).batch(3)));
}

TEST(ProvenanceAfterShortEpochs, ABatchOfSeveralSourcesIsReplayed) {
  const Dataset first = numbers(4).shuffle({.buffer_size = 3, .seed = 7});
  const Dataset second = numbers(3).shuffle({.buffer_size = 2, .seed = 1}).repeat(2);
  for (const Dataset& joined : {first.concatenate(second), second.concatenate(first), first.concatenate(first),
                                first.take(2).concatenate(first.repeat()), Dataset::zip({{first, first.repeat()}})}) {
    expect_replayed_after_short_epochs(failing(joined.batch(3)));
    expect_replayed_after_short_epochs(failing(joined.repeat().batch(3)));
    expect_replayed_after_short_epochs(failing(joined.repeat(2).shuffle({.buffer_size = 4, .seed = 5}).batch(2)));
  }
}

// A function that gets a batch can fail because of any of its elements. An error that named the file of the first one
// would be wrong in most cases.
TEST(ProvenanceOfBatches, AFailedBatchNamesNoSingleFile) {
  const TempDir folder;
  for (const char* name : {"a", "b", "c", "d"}) folder.write(name, name);
  const Dataset files = Dataset::list_files({.file_pattern = {folder.at("*")}, .shuffle = false});
  const auto place_of_failure = [](const Dataset& dataset) {
    const auto fails = [](const Element&) -> Result<Element> { return Error::invalid("refused"); };
    Loader loader(dataset.map({.map_func = fails}));
    return loader.next().error().place();
  };

  const Error::Place of_batch = place_of_failure(files.batch(4));
  EXPECT_EQ(of_batch.path, "");
  EXPECT_EQ(of_batch.record, "one of the 4 elements of a batch, of which the first is " + folder.at("a"));
  EXPECT_EQ(place_of_failure(numbers(6).batch(3)).record, "one of the 3 elements of a batch");
  for (const Dataset& single : {files, files.batch(4).unbatch()})
    EXPECT_EQ(place_of_failure(single).path, folder.at("a"));
}

TEST(ProvenanceOfSources, EverySourceIsUnderTheLaw) {
  std::set<std::string_view> seen;
  for (const StageExample& example : stage_examples()) {
    const Dataset dataset = example.make();
    if (with_failures(dataset)) seen.insert(nodes_of(*dataset.node()).front()->stage->type().name);
  }
  for (const StageType* type : registry().stages()) {
    if (type->form != Form::kList && type->form != Form::kStream) continue;
    EXPECT_TRUE(seen.contains(type->name)) << "no example is a chain that starts with '" << type->name << "'";
  }
}

}  // namespace
}  // namespace stoker
