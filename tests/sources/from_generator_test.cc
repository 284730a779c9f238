#include "stoker/sources/from_generator.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace stoker {
namespace {

// Counts to n, from 0 in each pass.
Dataset counting(int64_t n, bool repeatable = true) {
  return Dataset::from_generator({.generator =
                                      [n] {
                                        return [n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
                                          if (i == n) return std::optional<Element>();
                                          return std::optional<Element>(Element(Array::of<int64_t>(i++)));
                                        };
                                      },
                                  .repeatable = repeatable});
}

DATASET_EXAMPLE(counting(30));

TEST(FromGenerator, IsCalledAgainForEachPass) {
  EXPECT_EQ(values(counting(3).repeat({.count = 2})), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(*counting(3).cardinality(), kUnknown);
}

TEST(FromGenerator, CannotBeSavedIfItIsNotRepeatable) {
  Loader loader(counting(10, false));
  ASSERT_TRUE(loader.next().ok());
  const auto saved = loader.save();
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code(), Code::kFailedPrecondition);
}

TEST(FromGenerator, ReturnsAnExceptionAsAnErrorAndEnds) {
  const Dataset ds = Dataset::from_generator(
      {.generator = [] { return []() -> Result<std::optional<Element>> { throw std::runtime_error("out of ink"); }; }});
  EXPECT_EQ(first_error(ds), "a function failed: out of ink");
}

// Counts to 3, and returns an error instead of 1.
Dataset failing() {
  return Dataset::from_generator({.generator = [] {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == 3) return std::optional<Element>();
      if (i++ == 1) return Error::corrupt("no 1");
      return std::optional<Element>(Element(Array::of<int64_t>(i - 1)));
    };
  }});
}

TEST(FromGenerator, ContinuesAfterAnErrorThatItReturns) {
  EXPECT_EQ(values(failing().ignore_errors({})), (Values{0, 2}));
}

TEST(FromGenerator, ChecksElementsAgainstItsSignature) {
  const Dataset ds = Dataset::from_generator({.generator =
                                                  [] {
                                                    return [i = 0]() mutable -> Result<std::optional<Element>> {
                                                      if (i++ == 1) return std::optional<Element>();
                                                      return std::optional<Element>(Element(Array::of<float>(1.5f)));
                                                    };
                                                  },
                                              .output_signature = Spec::scalar(DType::kInt32)});
  EXPECT_NE(first_error(ds).find("expected int32[] as in output_signature"), std::string::npos);
}

}  // namespace
}  // namespace stoker
