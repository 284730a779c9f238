#include "stoker/transforms/on_error.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(ErrorPolicy{.policy = "skip"}, numbers(40).then(FailSome{}));

TEST(OnError, SkipsAndLists) {
  Loader loader(numbers(20).then(FailSome{}).on_error({.policy = "skip"}));
  EXPECT_EQ(words_of_rest(loader).size(), 17u);
  ASSERT_EQ(loader.skipped().size(), 3u);
  EXPECT_EQ(loader.skipped()[1].origin, "range:10");
}

TEST(OnError, StopsWhenTooManyFail) {
  Loader loader(numbers(1000).then(FailSome{}).on_error({.policy = "skip", .at_most = 0.01}));
  const auto words = words_of_rest(loader);
  EXPECT_NE(words.back().find("more than the share of 0.01"), std::string::npos);
}

TEST(OnError, RefusesAnUnknownPolicy) {
  EXPECT_EQ(error_of(numbers(1).on_error({.policy = "shrug"})),
            "on_error: policy must be \"raise\" or \"skip\", found \"shrug\"");
}

}  // namespace
}  // namespace stoker
