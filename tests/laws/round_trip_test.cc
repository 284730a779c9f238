// A graph that is written as JSON and read again is the same graph.

#include <gtest/gtest.h>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(RoundTrip);

TEST_P(RoundTrip, AGraphReadFromJsonReturnsTheSameElements) {
  const Dataset dataset = made();
  const Result<std::string> text = dataset.to_json();
  if (!text) GTEST_SKIP() << text.error().message();  // a C++ function
  for (const Node* node : nodes_of(*dataset.node()))
    if (!registry().find_stage(node->stage->type().name)) GTEST_SKIP() << "a stage that only the tests have";
  set_seed(7);
  Result<Dataset> read = Dataset::from_json(*text);
  ASSERT_TRUE(read.ok()) << read.error().describe() << "\n" << *text;
  EXPECT_EQ(read->to_json().value(), *text);
  EXPECT_EQ(read->element_spec().describe(), dataset.element_spec().describe());
  EXPECT_EQ(read->cardinality().value(), dataset.cardinality().value());
  EXPECT_EQ(text_of(*read), text_of(made()));
}

TEST_P(RoundTrip, ACheckpointFitsTheGraphReadFromJson) {
  const Dataset dataset = made();
  const Result<std::string> text = dataset.to_json();
  if (!text) GTEST_SKIP() << text.error().message();
  for (const Node* node : nodes_of(*dataset.node()))
    if (!registry().find_stage(node->stage->type().name)) GTEST_SKIP() << "a stage that only the tests have";
  Loader loader(dataset);
  (void)text_of_rest(loader, 3);
  const std::string saved = loader.save().value();
  Loader other(Dataset::from_json(*text).value());
  Result<void> restored = other.restore(saved);
  ASSERT_TRUE(restored.ok()) << restored.error().describe();
  EXPECT_EQ(text_of_rest(other), text_of_rest(loader));
}

}  // namespace
}  // namespace stoker
