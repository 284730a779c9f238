// A graph that can be written is the same when it is read.

#include <gtest/gtest.h>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(RoundTrip);

TEST_P(RoundTrip, AGraphReadBackGivesTheSame) {
  const Dataset dataset = made();
  const Result<std::string> text = dataset.to_json();
  if (!text) GTEST_SKIP() << text.error().message();  // a C++ function
  for (const Node* node : nodes_of(*dataset.node()))
    if (!registry().find_stage(node->stage->type().name)) GTEST_SKIP() << "a stage of the tests' own";
  set_seed(7);
  Result<Dataset> read = Dataset::from_json(*text);
  ASSERT_TRUE(read.ok()) << read.error().words() << "\n" << *text;
  EXPECT_EQ(read->to_json().value(), *text);
  EXPECT_EQ(read->element_spec().words(), dataset.element_spec().words());
  EXPECT_EQ(read->cardinality().value(), dataset.cardinality().value());
  EXPECT_EQ(words_of(*read), words_of(made()));
}

TEST_P(RoundTrip, ACheckpointFitsTheGraphReadBack) {
  const Dataset dataset = made();
  const Result<std::string> text = dataset.to_json();
  if (!text) GTEST_SKIP() << text.error().message();
  for (const Node* node : nodes_of(*dataset.node()))
    if (!registry().find_stage(node->stage->type().name)) GTEST_SKIP() << "a stage of the tests' own";
  Loader loader(dataset);
  (void)words_of_rest(loader, 3);
  const std::string saved = loader.save().value();
  Loader other(Dataset::from_json(*text).value());
  Result<void> restored = other.restore(saved);
  ASSERT_TRUE(restored.ok()) << restored.error().words();
  EXPECT_EQ(words_of_rest(other), words_of_rest(loader));
}

}  // namespace
}  // namespace stoker
