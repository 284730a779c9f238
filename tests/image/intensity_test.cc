#include "stoker/image/intensity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace stoker {
namespace {

template <typename To, typename From>
To one(From value, bool saturate = false) {
  To result{};
  convert_intensity(&value, dtype_of<From>, &result, dtype_of<To>, saturate, 1);
  return result;
}

TEST(Intensity, OfIntegersIsMultipliedByTheReciprocal) {
  EXPECT_EQ(one<float>(uint8_t{255}), 255.0f * (1.0f / 255.0f));
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(one<float>(static_cast<uint8_t>(i)), static_cast<float>(i) * static_cast<float>(1.0 / 255));
  EXPECT_EQ(one<double>(int16_t{-32767}), -32767 * (1.0 / 32767));
}

TEST(Intensity, OfFloatsIsScaledAndTruncated) {
  EXPECT_EQ(one<uint8_t>(1.0f), 255);
  EXPECT_EQ(one<uint8_t>(0.5f), 127);
  EXPECT_EQ(one<uint8_t>(1.5f), 127);  // 383 wraps
  EXPECT_EQ(one<uint8_t>(1.5f, true), 255);
  EXPECT_EQ(one<uint8_t>(-0.5f, true), 0);
  EXPECT_EQ(one<int32_t>(1.0f, true), 2147483520);
  EXPECT_EQ(one<int32_t>(1.0f), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(one<uint8_t>(std::nanf("")), 0);
  EXPECT_EQ(one<uint64_t>(0.75), uint64_t{3} << 62);
}

TEST(Intensity, OfIntegersIsScaledToOtherIntegersByWholeNumbers) {
  EXPECT_EQ(one<int16_t>(uint8_t{255}), 32640);
  EXPECT_EQ(one<uint8_t>(uint16_t{65535}), 255);
  EXPECT_EQ(one<uint8_t>(uint16_t{511}), 1);
  EXPECT_EQ(one<int8_t>(uint8_t{255}), 127);
  EXPECT_EQ(one<int8_t>(int16_t{-1}), -1);  // floors
  EXPECT_EQ(one<uint8_t>(int16_t{-256}), 254);
  EXPECT_EQ(one<uint8_t>(int16_t{-256}, true), 0);
  EXPECT_EQ(one<uint8_t>(int8_t{-1}, true), 0);
  EXPECT_EQ(one<uint8_t>(int8_t{-1}), 254);
  EXPECT_EQ(one<uint64_t>(uint8_t{1}), uint64_t{1} << 56);
  EXPECT_EQ(one<uint8_t>(std::numeric_limits<int64_t>::max()), 255);
}

TEST(Intensity, OfFloatsIsOnlyCastToOtherFloats) {
  EXPECT_EQ(one<double>(2.5f), 2.5);
  EXPECT_EQ(one<Float16>(2.5f), Float16(2.5f));
}

template <typename T>
T brighter(T value, float delta) {
  T result{};
  adjust_brightness(&value, dtype_of<T>, delta, &result, 1);
  return result;
}

TEST(Intensity, IsBrightenedOnTheScaleFromZeroToOne) {
  EXPECT_EQ(brighter(uint8_t{100}, 0.1f), 125);
  EXPECT_EQ(brighter(uint8_t{250}, 0.5f), 255);
  EXPECT_EQ(brighter(uint8_t{10}, -0.5f), 0);
  EXPECT_EQ(brighter(0.5f, 1.0f), 1.5f);
  EXPECT_EQ(brighter(Float16(0.5f), 0.25f), Float16(0.75f));
  EXPECT_EQ(brighter(0.1, 0.25f), static_cast<double>(0.1f + 0.25f));
}

TEST(Intensity, IsBrightenedTheSameInLongRows) {
  std::vector<uint8_t> from(5000), to(5000);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7);
  adjust_brightness(from.data(), DType::kUint8, 0.2f, to.data(), 5000);
  for (size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i], brighter(from[i], 0.2f));
}

TEST(Intensity, RequiresNumbers) {
  EXPECT_EQ(check_intensity(DType::kBool).error().message(), "expected an image of integers or floats, got bool");
  EXPECT_TRUE(check_intensity(DType::kBfloat16).ok());
}

}  // namespace
}  // namespace stoker
