#include "stoker/codecs/jpeg_huffman.h"

#include <gtest/gtest.h>

#include <numeric>

#include "stoker/core/rng.h"

namespace stoker {
namespace {

using Block = std::array<int16_t, 64>;

// The total number of bits with this code.
int64_t bits_by(const HuffmanCode& code, const SymbolCounts& counts) {
  int64_t bits = 0;
  size_t at = 0;
  for (size_t length = 1; length <= 16; ++length)
    for (int i = 0; i < code.lengths[length]; ++i) bits += static_cast<int64_t>(length) * counts[code.symbols[at++]];
  return bits;
}

// The number of 16-bit values that start with one of the codes: at most all but the one that has
// only ones.
int64_t share_of(const HuffmanCode& code) {
  int64_t share = 0;
  for (size_t length = 1; length <= 16; ++length) share += int64_t{code.lengths[length]} << (16 - length);
  return share;
}

void expect_sound(const HuffmanCode& code, const SymbolCounts& counts) {
  EXPECT_LT(share_of(code), 1 << 16);
  EXPECT_EQ(std::accumulate(code.lengths.begin(), code.lengths.end(), 0), code.count);
  SymbolCounts left = counts;
  for (int i = 0; i < code.count; ++i) left[code.symbols[static_cast<size_t>(i)]] = 0;
  EXPECT_EQ(left, SymbolCounts{});
}

TEST(JpegHuffman, AssignsShortCodesToFrequentSymbols) {
  SymbolCounts counts{};
  counts[3] = 100, counts[7] = 20, counts[9] = 10;
  const HuffmanCode code = best_code(counts);
  expect_sound(code, counts);
  EXPECT_EQ(code.symbols[0], 3);
  EXPECT_EQ(bits_by(code, counts), 100 * 1 + 20 * 2 + 10 * 3);
}

TEST(JpegHuffman, DoesNotUseTheCodeThatHasOnlyOnes) {
  SymbolCounts counts{};
  counts[5] = 1;
  const HuffmanCode code = best_code(counts);
  EXPECT_EQ(code.count, 1);
  EXPECT_EQ(code.lengths[1], 1);
}

// Counts like the Fibonacci numbers would need codes of up to 40 bits.
TEST(JpegHuffman, HasNoCodeOfMoreThanSixteenBits) {
  SymbolCounts counts{};
  counts[0] = counts[1] = 1;
  for (size_t i = 2; i < 40; ++i) counts[i] = counts[i - 1] + counts[i - 2];
  const HuffmanCode code = best_code(counts);
  EXPECT_EQ(code.count, 40);
  expect_sound(code, counts);
}

TEST(JpegHuffman, HasACodeForEverySymbol) {
  SymbolCounts counts{};
  counts.fill(1);
  expect_sound(best_code(counts), counts);
  Rng rng(1, 2, 3, 4);
  for (int round = 0; round < 50; ++round) {
    for (int64_t& count : counts) count = rng.bits32() % 4 == 0 ? rng.bits32() >> (rng.bits32() % 32) : 0;
    counts[17] = 1;
    expect_sound(best_code(counts), counts);
  }
}

// As the JPEG specification describes it, coefficient by coefficient.
bool count_plainly(const Block& block, SymbolCounts& counts) {
  constexpr int kOrder[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
                              41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
                              30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
  size_t zeros = 0;
  for (int k = 1; k < 64; ++k) {
    int value = std::abs(int{block[static_cast<size_t>(kOrder[k])]});
    if (value == 0) {
      ++zeros;
      continue;
    }
    for (; zeros > 15; zeros -= 16) ++counts[0xf0];
    size_t bits = 0;
    for (; value > 0; value /= 2) ++bits;
    if (bits > 10) return false;
    ++counts[zeros * 16 + bits];
    zeros = 0;
  }
  if (zeros > 0) ++counts[0];
  return true;
}

TEST(JpegHuffman, CountsTheSymbolsOfABlock) {
  Rng rng(5, 6, 7, 8);
  for (int round = 0; round < 2000; ++round) {
    Block block{};
    for (int16_t& value : block)
      if (rng.bits32() % 64 < static_cast<uint32_t>(round % 65))
        value = static_cast<int16_t>(static_cast<int16_t>(rng.bits32()) >> (6 + rng.bits32() % 10));
    if (round % 7 == 0) block[63] = -1;
    SymbolCounts fast{}, plain{};
    ASSERT_EQ(count_symbols(block, fast), count_plainly(block, plain)) << round;
    ASSERT_EQ(fast, plain) << round;
  }
}

TEST(JpegHuffman, RejectsCoefficientsTooLargeForABaselineImage) {
  Block block{};
  SymbolCounts counts{};
  for (const int16_t value : {1024, -1024, 32767, -32768}) {
    block[9] = value;
    EXPECT_FALSE(count_symbols(block, counts)) << value;
  }
  block[9] = -1023;
  EXPECT_TRUE(count_symbols(block, counts));
  EXPECT_TRUE(count_difference(-2047, counts));
  EXPECT_FALSE(count_difference(2048, counts));
  EXPECT_FALSE(count_difference(-65535, counts));
}

}  // namespace
}  // namespace stoker
