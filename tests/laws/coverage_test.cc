// Every stage of stages.def has an example, so that every law runs on it.

#include <gtest/gtest.h>

#include <set>

#include "support/law.h"

namespace stoker {
namespace {

TEST(StageLaws, EveryStageHasAnExample) {
  std::set<std::string_view> seen;
  for (const StageExample& example : stage_examples()) {
    const Dataset dataset = example.make();
    for (const Node* node : nodes_of(*dataset.node())) seen.insert(node->stage->type().name);
  }
  for (const StageType* type : registry().stages())
    EXPECT_TRUE(seen.contains(type->name))
        << "stages.def lists '" << type->name << "': add a STAGE_EXAMPLE or DATASET_EXAMPLE to its test";
}

}  // namespace
}  // namespace stoker
