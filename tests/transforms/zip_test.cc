#include "stoker/transforms/zip.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

DATASET_EXAMPLE(Dataset::zip({.datasets = {numbers(20), numbers(15).skip({.count = 3})}}));
DATASET_EXAMPLE(Dataset::zip({.datasets = {numbers(20).filter({.predicate = [](int64_t x) { return x % 3 > 0; }}),
                                           numbers(30)}}));

TEST(Zip, EndsWithTheShortest) {
  const auto all = elements(Dataset::zip({.datasets = {numbers(5), numbers(3)}}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[2].describe(), "(0: 2, 1: 2)");
}

TEST(Zip, JoinsStreams) {
  const Dataset odd = numbers(10).filter({.predicate = [](int64_t x) { return x % 2 == 1; }});
  EXPECT_EQ(elements(Dataset::zip({.datasets = {odd, numbers(3)}}))[2].describe(), "(0: 5, 1: 2)");
}

// One of the inputs is longer than declared. This is reported for every run length, and it is not a row that `skip`
// could count.
TEST(Zip, PassesOnAnErrorWithoutAPosition) {
  const Dataset promised = numbers(5000).assert_cardinality({.expected_cardinality = 4000}).then(FailSome{});
  const Dataset ds = Dataset::zip({.datasets = {numbers(5000), promised}}).skip({.count = 4500});
  Loader loader(ds);
  const auto words = text_of_rest(loader);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0], "error: the input has more than the expected 4000 elements");
}

}  // namespace
}  // namespace stoker
