#include "stoker/transforms/on_error.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(ErrorPolicy{.policy = "skip"}, numbers(40).then(FailSome{}));

TEST(OnError, SkipsFailedElementsAndListsThem) {
  Loader loader(numbers(20).then(FailSome{}).on_error({.policy = "skip"}));
  EXPECT_EQ(text_of_rest(loader).size(), 17u);
  ASSERT_EQ(loader.skipped().size(), 3u);
  EXPECT_EQ(loader.skipped()[1].origin, "range:10");
}

TEST(OnError, FailsWhenTooManyElementsFail) {
  Loader loader(numbers(1000).then(FailSome{}).on_error({.policy = "skip", .at_most = 0.01}));
  const auto words = text_of_rest(loader);
  EXPECT_NE(words.back().find("more than the share of 0.01"), std::string::npos);
}

// FailSome fails elements whose number is 3 modulo 7.
TEST(OnError, ChecksTheFractionOfAShortPassAtItsEnd) {
  Loader loader(numbers(20).then(FailSome{}).on_error({.policy = "skip", .at_most = 0.1}));
  const auto words = text_of_rest(loader);
  ASSERT_EQ(words.size(), 18u);
  EXPECT_NE(words.back().find("3 of 20 elements failed, more than the share of 0.1"), std::string::npos);
}

TEST(OnError, CountsTheElementsOfBatches) {
  const auto batches = numbers(1000).then(FailSome{}).batch({.batch_size = 50});
  Loader enough(batches.on_error({.policy = "skip", .at_most = 0.2}));
  EXPECT_EQ(text_of_rest(enough).size(), 18u);
  Loader too_few(batches.on_error({.policy = "skip", .at_most = 0.1}));
  EXPECT_NE(text_of_rest(too_few).back().find("more than the share of 0.1"), std::string::npos);
}

// 17 of 20 elements are left: batches of 16 and of 1. Counted as 32, they would be within the share.
TEST(OnError, CountsTheElementsOfAPartialBatch) {
  const auto batches = numbers(20).then(FailSome{}).batch({.batch_size = 16}).prefetch({}).take({.count = 9});
  Loader loader(batches.on_error({.policy = "skip", .at_most = 0.1}));
  const auto words = text_of_rest(loader);
  ASSERT_EQ(words.size(), 3u);
  EXPECT_NE(words.back().find("3 of 20 elements failed, more than the share of 0.1"), std::string::npos);
}

// The same after every stage that passes batches on.
TEST(OnError, CountsTheElementsOfAPartialBatchAfterOtherStages) {
  const Dataset batches = numbers(20).then(FailSome{}).batch({.batch_size = 16});
  const Dataset none = numbers(0).batch({.batch_size = 16});
  const std::vector<Dataset> datasets{
      batches.map({.map_func = [](Value x) { return x + 1; }}),
      batches.map({.map_func = [](Element) { return Element(Array::of<int64_t>(0)); }}),
      Dataset::zip({.datasets = {batches, numbers(9)}}),
      Dataset::zip({.datasets = {numbers(9), batches}}),
      batches.enumerate({}),
      none.concatenate({.dataset = batches}),
      batches.cache({}),
      batches.shuffle({.buffer_size = 2}),
      batches.batch({.batch_size = 1}),
      batches.batch({.batch_size = 1}).unbatch({}),
      batches.unbatch({}),
      batches.map({.map_func = [](Value x) { return x * 2; }}).batch({.batch_size = 1})};
  for (size_t i = 0; i < datasets.size(); ++i) {
    Loader loader(datasets[i].on_error({.policy = "skip", .at_most = 0.1}));
    EXPECT_NE(text_of_rest(loader).back().find("3 of 20 elements failed"), std::string::npos) << i;
  }
}

TEST(OnError, CountsTheElementsOfAFailedBatch) {
  const auto fail_first = [](const Element& batch) -> Result<Element> {
    return batch.leaves[0].values<int64_t>()[0] == 0 ? Result<Element>(Error::invalid("bad")) : batch;
  };
  const Dataset batches = numbers(20).batch({.batch_size = 8}).map({.map_func = fail_first});
  Loader loader(batches.on_error({.policy = "skip", .at_most = 0.35}));
  EXPECT_NE(text_of_rest(loader).back().find("8 of 20 elements failed"), std::string::npos);
}

// It is not about one element: a run over half of the data would otherwise look complete.
TEST(OnError, DoesNotSkipAWrongNumberOfElements) {
  for (const int64_t expected : {3, 9}) {
    const Dataset counted = numbers(5).assert_cardinality({.expected_cardinality = expected});
    for (const Dataset& dataset : {counted, counted.batch({.batch_size = 2}), counted.repeat({.count = 2})}) {
      Loader loader(dataset.on_error({.policy = "skip"}));
      const auto words = text_of_rest(loader);
      EXPECT_TRUE(std::ranges::any_of(words, [](const std::string& word) {
        return word.find("expected") != std::string::npos;
      })) << expected;
    }
  }
}

TEST(OnError, CountsTheElementsOfAPartialBatchAfterARestore) {
  const auto batches = numbers(20).then(FailSome{}).batch({.batch_size = 16});
  const Dataset dataset = batches.on_error({.policy = "skip", .at_most = 0.1});
  Loader loader(dataset);
  EXPECT_EQ(text_of_rest(loader, 2).size(), 2u);
  Loader restored(dataset);
  ASSERT_TRUE(restored.restore(loader.save().value()).ok());
  const auto words = text_of_rest(restored);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_NE(words[0].find("elements failed, more than on_error allows"), std::string::npos);
}

Result<Element> fail(const Element&) { return Error::not_found("there is no such file"); }

TEST(OnError, FailsIfEveryElementWasSkipped) {
  Loader loader(numbers(5).map({.map_func = fail}).on_error({.policy = "skip"}));
  const auto nothing = loader.next();
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code(), Code::kNotFound);
  EXPECT_EQ(nothing.error().message(),
            "all 5 elements failed and were skipped; first errors: range:0: there is no such file; "
            "range:1: there is no such file; range:2: there is no such file");
  EXPECT_FALSE(loader.next().value().has_value());
}

// Without this error, the loader would repeat indefinitely.
TEST(OnError, FailsIfEveryElementOfARepeatedInputWasSkipped) {
  Loader loader(numbers(5).map({.map_func = fail}).repeat({}).batch({.batch_size = 2}).on_error({.policy = "skip"}));
  EXPECT_NE(loader.next().error().message().find("all 5 elements failed"), std::string::npos);
  EXPECT_FALSE(loader.next().value().has_value());
}

// Law: a cardinality that is a number is the number of elements.
TEST(OnError, HasAKnownCardinalityOnlyIfNoElementCanBeSkipped) {
  const Dataset some = numbers(20).then(FailSome{});
  EXPECT_EQ(*some.on_error({.policy = "raise"}).cardinality(), 20);
  for (const Dataset& ds : {some.on_error({.policy = "skip"}), numbers(20).on_error({.policy = "skip"}),
                            some.on_error({.policy = "skip"}).batch({.batch_size = 4}), some.ignore_errors({})})
    EXPECT_EQ(*ds.cardinality(), kUnknown);
  EXPECT_EQ(*some.repeat({}).on_error({.policy = "skip"}).cardinality(), kInfinite);
}

// Returns the elements and errors that a loader returns after it was restored where another one returned its last
// error.
std::vector<std::string> rest_after_the_error(const Dataset& saved, const Dataset& restored) {
  Loader loader(saved);
  EXPECT_NE(text_of_rest(loader).back().find("elements failed"), std::string::npos);
  Loader other(restored);
  EXPECT_TRUE(other.restore(loader.save().value()).ok());
  return text_of_rest(other);
}

TEST(OnError, ReturnsTheEndAfterItsErrorAlsoIfRestored) {
  const auto all_fail = numbers(5).map({.map_func = fail}).on_error({.policy = "skip"});
  EXPECT_EQ(rest_after_the_error(all_fail, all_fail), std::vector<std::string>());
  const auto some_fail = numbers(1000).then(FailSome{}).on_error({.policy = "skip", .at_most = 0.01});
  EXPECT_EQ(rest_after_the_error(some_fail, some_fail), std::vector<std::string>());
}

TEST(OnError, ContinuesAfterItsErrorIfRestoredWithAHigherLimit) {
  const auto some_fail = numbers(1000).then(FailSome{});
  const auto rest = rest_after_the_error(some_fail.on_error({.policy = "skip", .at_most = 0.01}),
                                         some_fail.on_error({.policy = "skip", .at_most = 0.5}));
  EXPECT_GT(rest.size(), 700u);
}

TEST(OnError, RejectsAnUnknownPolicy) {
  EXPECT_EQ(error_of(numbers(1).on_error({.policy = "shrug"})),
            "on_error: policy must be \"raise\" or \"skip\", got \"shrug\"");
}

}  // namespace
}  // namespace stoker
