#include "stoker/image/row_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

namespace stoker {
namespace {

float plain(RowMath op, float a, float b) {
  switch (op) {
    case RowMath::kAdd: return a + b;
    case RowMath::kSubtract: return a - b;
    case RowMath::kMultiply: return a * b;
    default: return a / b;
  }
}

bool same_bits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

TEST(RowMath, HasTheBitsOfTheOperators) {
  for (const RowMath op : {RowMath::kAdd, RowMath::kSubtract, RowMath::kMultiply, RowMath::kDivide})
    for (const int64_t count : {0, 1, 3, 15, 16, 17, 64, 131})
      for (const int64_t offset : {0, 1})
        for (const Wanted wanted : {Wanted::kSoon, Wanted::kLater}) {
          std::vector<float> from, by, many(static_cast<size_t>(count + offset + 1), 7.0f), one = many;
          for (int64_t i = 0; i < count; ++i) {
            from.push_back(static_cast<float>(i) * 0.37f - 9);
            by.push_back(1.7f / static_cast<float>(i + 1));
          }
          if (count > 3) from[2] = std::numeric_limits<float>::infinity();
          row_math(op, from.data(), by.data(), count, many.data() + offset, wanted);
          row_math(op, from.data(), 255.0f, count, one.data() + offset, wanted);
          settle_rows();
          for (int64_t i = 0; i < count; ++i) {
            const auto at = static_cast<size_t>(i), to = static_cast<size_t>(i + offset);
            EXPECT_TRUE(same_bits(many[to], plain(op, from[at], by[at])));
            EXPECT_TRUE(same_bits(one[to], plain(op, from[at], 255.0f)));
          }
          EXPECT_EQ(many.back(), 7.0f);
          EXPECT_EQ(one.back(), 7.0f);
        }
}

TEST(RowMath, ConvertsBytesToFloats) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 77; ++i) bytes.push_back(static_cast<uint8_t>(255 - i));
  std::vector<float> floats(bytes.size());
  widen_row(bytes.data(), 77, floats.data());
  EXPECT_EQ(floats, std::vector<float>(bytes.begin(), bytes.end()));
}

}  // namespace
}  // namespace stoker
