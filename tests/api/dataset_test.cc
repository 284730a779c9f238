// The ways to write a pipeline and to read its elements in C++.
#include <gtest/gtest.h>

#include <ranges>
#include <stdexcept>

#include "stoker/stoker.h"
#include "support/support.h"

namespace stoker {
namespace {

static_assert(std::ranges::input_range<Loader>);

TEST(Dataset, AStageTakesItsFirstParameterOrNone) {
  EXPECT_EQ(values(numbers(10).take(3)), (Values{0, 1, 2}));
  EXPECT_EQ(values(numbers(2).repeat().take(5)), (Values{0, 1, 0, 1, 0}));
  EXPECT_EQ(values(numbers(4).map([](Value x) { return x * 2; })), (Values{0, 2, 4, 6}));
  EXPECT_EQ(values(numbers(4).filter([](Value x) { return x > 1; })), (Values{2, 3}));
  EXPECT_EQ(values(numbers(4).batch(3).unbatch()), (Values{0, 1, 2, 3}));
}

TEST(Dataset, ALoaderIsAnInputRange) {
  Loader loader(numbers(10));
  int64_t sum = 0;
  for (const Element& element :
       loader | std::views::filter([](const Element& e) { return e[0].scalar<int64_t>() > 7; }))
    sum += element[0].scalar<int64_t>();
  EXPECT_EQ(sum, 8 + 9);
}

TEST(Dataset, AnUncaughtErrorIsAStdExceptionWithItsWholeText) {
  Loader loader(numbers(3).map([](int64_t i) {
    if (i == 1) throw std::runtime_error("boom");
    return i;
  }));
  try {
    for (Element& element : loader) (void)element;
    FAIL() << "no error";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("boom"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("range:1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("\n  defined  at "), std::string::npos) << error.what();
  }
}

TEST(Dataset, ValuesOfAnotherTypeAreAnErrorWithBothTypes) {
  const Array array = Array::from(std::vector<int32_t>{1, 2});
  try {
    (void)array.values<float>();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "expected an array of float32, got int32[2]");
  }
  EXPECT_THROW((void)Array::of<int64_t>(3).scalar<int32_t>(), Error);
}

TEST(Dataset, AFieldThatDoesNotExistIsAnErrorWithTheFields) {
  const Element element =
      dict_of({{"image", Element(Array::of<int64_t>(1))}, {"label", Element(Array::of<int64_t>(2))}});
  EXPECT_EQ(element["label"].scalar<int64_t>(), 2);
  try {
    (void)element["lable"];
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("'lable'"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("image"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("label"), std::string::npos) << error.message();
  }
  EXPECT_THROW((void)element[2], Error);
}

}  // namespace
}  // namespace stoker
