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

// FailSome fails where the number is 3 modulo 7.
TEST(OnError, JudgesAShortPassAtItsEnd) {
  Loader loader(numbers(20).then(FailSome{}).on_error({.policy = "skip", .at_most = 0.1}));
  const auto words = words_of_rest(loader);
  ASSERT_EQ(words.size(), 18u);
  EXPECT_NE(words.back().find("3 of 20 elements failed, more than the share of 0.1"), std::string::npos);
}

TEST(OnError, CountsTheElementsOfBatches) {
  const auto batches = numbers(1000).then(FailSome{}).batch({.batch_size = 50});
  Loader enough(batches.on_error({.policy = "skip", .at_most = 0.2}));
  EXPECT_EQ(words_of_rest(enough).size(), 18u);
  Loader too_few(batches.on_error({.policy = "skip", .at_most = 0.1}));
  EXPECT_NE(words_of_rest(too_few).back().find("more than the share of 0.1"), std::string::npos);
}

Result<Element> fail(const Element&) { return Error::not_found("there is no such file"); }

TEST(OnError, SaysWhenNothingIsLeft) {
  Loader loader(numbers(5).map({.map_func = fail}).on_error({.policy = "skip"}));
  const auto nothing = loader.next();
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code(), Code::kNotFound);
  EXPECT_EQ(nothing.error().message(),
            "nothing is left to give: all of 5 elements failed and were skipped; the first: range:0: there is no such "
            "file; range:1: there is no such file; range:2: there is no such file");
  EXPECT_FALSE(loader.next().value().has_value());
}

// It would go on for ever.
TEST(OnError, SaysWhenNothingIsLeftOfWhatIsRepeated) {
  Loader loader(numbers(5).map({.map_func = fail}).repeat({}).batch({.batch_size = 2}).on_error({.policy = "skip"}));
  EXPECT_NE(loader.next().error().message().find("all of 5 elements failed"), std::string::npos);
  EXPECT_FALSE(loader.next().value().has_value());
}

TEST(OnError, RefusesAnUnknownPolicy) {
  EXPECT_EQ(error_of(numbers(1).on_error({.policy = "shrug"})),
            "on_error: policy must be \"raise\" or \"skip\", found \"shrug\"");
}

}  // namespace
}  // namespace stoker
