#include "stoker/watch/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Checks the count against a plain loop, for values of type T of which some are
// not finite.
template <typename T>
void check_against_plain_count(size_t size) {
  std::vector<T> values;
  int64_t wanted = 0;
  for (size_t i = 0; i < size; ++i) {
    const double value = i % 7 == 3 ? NAN : i % 11 == 5 ? -kInf : i % 13 == 0 ? 60000.0 : -1.5;
    wanted += !std::isfinite(value);
    values.push_back(T(static_cast<float>(value)));
  }
  EXPECT_EQ(count_non_finite(dtype_of<T>, values.data(), static_cast<int64_t>(size)), wanted) << size;
}

TEST(Finite, CountsTheSameAsAPlainLoopAtOddSizes) {
  for (const size_t size : {0, 1, 3, 8, 31, 4095, 4096, 4097, 70001}) {
    check_against_plain_count<float>(size);
    check_against_plain_count<double>(size);
    check_against_plain_count<Float16>(size);
    check_against_plain_count<Bfloat16>(size);
  }
}

TEST(Finite, CountsEveryValueOfALargeArrayOfTheNarrowestType) {
  const std::vector<Float16> values(200'000, Float16(INFINITY));
  EXPECT_EQ(count_non_finite(DType::kFloat16, values.data(), 200'000), 200'000);
}

TEST(Finite, NamesTheComponentAndTheRow) {
  Array image = Array::make({4, 2}, DType::kFloat32).value();
  for (float& value : image.mutable_values<float>()) value = 1;
  image.mutable_values<float>()[5] = NAN;
  const Element batch = dict_of({{"image", Element(image)}, {"label", Element(Array::from<int64_t>({1, 2, 3, 4}))}});
  const std::vector<NonFinite> found = non_finite_in(batch);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].component, "image");
  EXPECT_EQ(found[0].values, 1);
  EXPECT_EQ(found[0].row, 2);
}

TEST(Finite, ChecksScalarsAndEmptyArrays) {
  EXPECT_EQ(non_finite_in(Element(Array::of(NAN))).size(), 1u);
  EXPECT_EQ(non_finite_in(Element(Array::make({0, 3}, DType::kFloat32).value())).size(), 0u);
  EXPECT_EQ(non_finite_in(Element(Array::of_bytes("nan"))).size(), 0u);
}

}  // namespace
}  // namespace stoker
