#include "stoker/graph/spelling.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(Spelling, SuggestsTheNameWithTheFewestDifferences) {
  EXPECT_EQ(nearest("bach_size", {"batch_size", "drop_remainder"}), "batch_size");
  EXPECT_EQ(nearest("int33", {"int8", "int32", "int64"}), "int32");
  EXPECT_EQ(did_you_mean("mpa", {"map", "filter"}), "; did you mean 'map'?");
}

TEST(Spelling, SuggestsNothingIfEveryNameIsDifferent) {
  EXPECT_EQ(nearest("verbose", {"batch_size", "drop_remainder"}), "");
  EXPECT_EQ(did_you_mean("verbose", {}), "");
}

}  // namespace
}  // namespace stoker
