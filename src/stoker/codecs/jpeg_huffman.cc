#include "stoker/codecs/jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace stoker {
namespace {

// Maps each set of columns of each row to coding order.
constexpr auto kInOrder = [] {
  std::array<std::array<uint64_t, 256>, 8> table{};
  for (size_t at = 0; at < 64; ++at)
    for (size_t chosen = 0; chosen < 256; ++chosen)
      if (chosen >> (kJpegOrder[at] % 8) & 1) table[kJpegOrder[at] / 8][chosen] |= uint64_t{1} << at;
  return table;
}();

// Which of four coefficients are not 0, one bit for each.
uint64_t nonzero(uint64_t four) {
  constexpr uint64_t kLow = 0x7fff7fff7fff7fff, kHigh = ~kLow;
  const uint64_t marked = (((four & kLow) + kLow) | four) & kHigh;
  return (marked >> 15) * (uint64_t{1} << 48 | uint64_t{1} << 33 | uint64_t{1} << 18 | uint64_t{1} << 3) >> 48 & 15;
}

uint64_t nonzero_in_order(const int16_t* block) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t all = 0;
  for (size_t row = 0; row < 8; ++row) {
    uint64_t half[2];
    std::memcpy(half, block + 8 * row, sizeof(half));
    all |= kInOrder[row][nonzero(half[0]) | nonzero(half[1]) << 4];
  }
  return all;
}

unsigned bits_of(int value) { return static_cast<unsigned>(std::bit_width(static_cast<unsigned>(std::abs(value)))); }

constexpr unsigned kMostBits = 10, kMostDifferenceBits = 11;
constexpr size_t kBlockEnds = 0x00, kSixteenZeros = 0xf0;
constexpr int kLongest = 16;

struct Symbol {
  int64_t count;
  int value;
};

// The length in bits of each Huffman code. The symbols must be sorted by increasing count.
std::vector<int> lengths_of(const std::vector<Symbol>& rising) {
  const size_t n = rising.size();
  std::vector<int64_t> sums;  // of joined nodes, also increasing
  std::vector<size_t> parent(2 * n - 1);
  size_t leaf = 0, joined = 0;
  const auto take_smallest = [&] {
    const bool is_leaf = leaf < n && (joined == sums.size() || rising[leaf].count <= sums[joined]);
    const size_t node = is_leaf ? leaf : n + joined;
    parent[node] = n + sums.size();
    return is_leaf ? rising[leaf++].count : sums[joined++];
  };
  while (sums.size() + 1 < n) {
    const int64_t first = take_smallest(), second = take_smallest();
    sums.push_back(first + second);
  }
  std::vector<int> depth(2 * n - 1);
  for (size_t node = 2 * n - 2; node-- > 0;) depth[node] = depth[parent[node]] + 1;
  depth.resize(n);
  return depth;
}

// Moves pairs of codes that are too long to a shorter code, which is split for them (JPEG, figure
// K.3).
void shorten(std::vector<int>& of_length) {
  for (size_t i = of_length.size() - 1; i > kLongest; --i)
    while (of_length[i] > 0) {
      size_t j = i - 2;
      while (of_length[j] == 0) --j;
      of_length[i] -= 2;
      of_length[i - 1] += 1;
      of_length[j + 1] += 2;
      of_length[j] -= 1;
    }
}

}  // namespace

HuffmanCode best_code(const SymbolCounts& counts) {
  // An additional symbol with the smallest count takes the code that consists only of ones.
  std::vector<Symbol> symbols{{0, 256}};
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) symbols.push_back({counts[i], static_cast<int>(i)});
  std::ranges::sort(symbols, [](const Symbol& a, const Symbol& b) {
    return a.count != b.count ? a.count < b.count : a.value > b.value;
  });
  const std::vector<int> bits = lengths_of(symbols);
  std::vector<int> of_length(static_cast<size_t>(std::max(kLongest, std::ranges::max(bits))) + 1);
  for (const int each : bits) ++of_length[static_cast<size_t>(each)];
  shorten(of_length);
  size_t longest = kLongest;
  while (of_length[longest] == 0) --longest;
  --of_length[longest];
  HuffmanCode code;
  for (size_t i = 1; i <= kLongest; ++i) code.lengths[i] = static_cast<uint8_t>(of_length[i]);
  for (size_t i = symbols.size(); i-- > 1;)
    code.symbols[static_cast<size_t>(code.count++)] = static_cast<uint8_t>(symbols[i].value);
  return code;
}

bool count_symbols(std::span<const int16_t, 64> block, SymbolCounts& counts) {
  uint64_t left = nonzero_in_order(block.data()) & ~uint64_t{1};
  int before = 0;
  for (; left != 0; left &= left - 1) {
    const int at = std::countr_zero(left);
    size_t zeros = static_cast<size_t>(at - before - 1);
    for (; zeros > 15; zeros -= 16) ++counts[kSixteenZeros];
    const unsigned bits = bits_of(block[kJpegOrder[static_cast<size_t>(at)]]);
    if (bits > kMostBits) return false;
    ++counts[zeros << 4 | bits];
    before = at;
  }
  if (before < 63) ++counts[kBlockEnds];
  return true;
}

bool count_difference(int difference, SymbolCounts& counts) {
  const unsigned bits = bits_of(difference);
  if (bits > kMostDifferenceBits) return false;
  ++counts[bits];
  return true;
}

}  // namespace stoker
