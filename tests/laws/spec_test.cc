// The spec and the cardinality that are computed before running match the elements.

#include <gtest/gtest.h>

#include "support/law.h"

namespace stoker {
namespace {

STOKER_LAW(SpecLaw);

bool fits(const LeafSpec& leaf, const Array& array) {
  if (leaf.type && *leaf.type != array.type()) return false;
  if (!leaf.shape) return true;
  if (static_cast<int>(leaf.shape->size()) != array.rank()) return false;
  for (size_t i = 0; i < leaf.shape->size(); ++i)
    if ((*leaf.shape)[i] >= 0 && (*leaf.shape)[i] != array.shape()[i]) return false;
  return true;
}

TEST_P(SpecLaw, EveryElementMatchesTheSpecAndTheirCountMatchesTheCardinality) {
  const Dataset dataset = made();
  const Spec spec = dataset.element_spec();
  const int64_t cardinality = dataset.cardinality().value();
  Loader loader(dataset);
  int64_t count = 0, errors = 0;
  constexpr int64_t kMost = 2000;
  while (count + errors < kMost) {
    Result<std::optional<Element>> next = loader.next();
    if (!next) {
      ++errors;
      continue;
    }
    if (!*next) break;
    ++count;
    if (!spec.known()) continue;
    EXPECT_EQ((*next)->nest, spec.nest) << spec.describe() << " and " << (*next)->nest->describe();
    ASSERT_EQ((*next)->leaves.size(), spec.leaves.size());
    for (size_t i = 0; i < spec.leaves.size(); ++i)
      EXPECT_TRUE(fits(spec.leaves[i], (*next)->leaves[i])) << spec.describe() << " and " << (*next)->describe();
  }
  // The cardinality includes elements that fail.
  if (cardinality >= 0 && errors == 0) {
    EXPECT_EQ(count, cardinality);
  }
  if (cardinality == kInfinite) {
    EXPECT_EQ(count + errors, kMost);
  }
}

TEST_P(SpecLaw, AtAgreesWithTheFirstPass) {
  const Dataset dataset = made();
  if (!dataset.at(0) && dataset.at(0).error().code() == Code::kFailedPrecondition) GTEST_SKIP() << "no list";
  Loader loader(dataset, {.on_error = OnError::kRaise});
  for (int64_t i = 0;; ++i) {
    Result<std::optional<Element>> next = loader.next();
    if (next && !*next) {
      Result<Element> behind = dataset.at(i);
      ASSERT_FALSE(behind.ok());
      EXPECT_EQ(behind.error().code(), Code::kOutOfRange);
      break;
    }
    Result<Element> at = dataset.at(i);
    ASSERT_EQ(at.ok(), next.ok()) << i;
    if (!at) continue;
    EXPECT_EQ(at->describe(), (*next)->describe()) << i;
  }
}

}  // namespace
}  // namespace stoker
