// A failed element says where it came from and shifts nothing.

#include <gtest/gtest.h>

#include "stoker/graph/stage_of.h"
#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(Provenance);

// The same chain with FailSome behind its source; nothing where the source
// gives no numbers or the graph is no chain.
std::optional<Dataset> with_failures(const Dataset& dataset) {
  std::vector<const Node*> chain = nodes_of(*dataset.node());
  std::shared_ptr<const Node> built;
  for (const Node* node : chain) {
    if (node->inputs.size() > 1) return {};
    Result<std::shared_ptr<const Node>> next = make_node(node->stage, built, node->location, node->name);
    if (!next) return {};
    built = *next;
    if (!node->inputs.empty()) continue;
    if (!(node->spec == Spec::scalar(DType::kInt64))) return {};
    built = make_node(std::make_shared<const StageOf<FailSome>>(FailSome{.every = 5}), built, Location{}).value();
  }
  return Dataset(Graph(built));
}

TEST_P(Provenance, EveryErrorNamesItsElement) {
  const std::optional<Dataset> dataset = with_failures(made());
  if (!dataset) GTEST_SKIP() << "no chain over numbers";
  Loader loader(*dataset, {.on_error = OnError::kRaise});
  for (int i = 0; i < 300; ++i) {
    Result<std::optional<Element>> next = loader.next();
    if (next && !*next) break;
    if (next) continue;
    const Error& error = next.error();
    if (error.message().find("is bad") == std::string::npos) continue;  // another stage's own
    EXPECT_EQ(error.code(), Code::kDataLoss);
    EXPECT_EQ(error.place().stage, "fail_some");
    EXPECT_FALSE(error.place().source.empty());
    EXPECT_GE(error.place().position, 0);
    ASSERT_FALSE(error.place().origin.empty());
    Result<Element> again = dataset->replay(error.place().origin);
    ASSERT_FALSE(again.ok()) << "replay of " << error.place().origin << " is well";
    EXPECT_EQ(again.error().message(), error.message()) << error.place().origin;
  }
}

TEST_P(Provenance, RaisingAndSkippingGiveTheSameElements) {
  const std::optional<Dataset> raising = with_failures(made());
  if (!raising) GTEST_SKIP() << "no chain over numbers";
  std::vector<std::string> raised = words_of(*raising, {.on_error = OnError::kRaise});
  const auto errors = std::erase_if(raised, [](const std::string& words) { return words.starts_with("error: "); });
  const Dataset skipping = *with_failures(made());
  Loader loader(skipping, {.on_error = OnError::kSkip});
  EXPECT_EQ(words_of_rest(loader), raised);
  EXPECT_EQ(loader.skipped().size(), errors);
  for (const Skipped& skipped : loader.skipped()) EXPECT_FALSE(skipped.origin.empty());
}

}  // namespace
}  // namespace stoker
