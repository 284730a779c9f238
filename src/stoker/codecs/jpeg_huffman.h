#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stoker {

// The elements of JPEG's Huffman coding: the order of the coefficients in a block, the frequency of
// each symbol, and the code that gives the smallest file.

// The position in a block, stored by rows, of each coefficient in coding (zigzag) order.
inline constexpr auto kJpegOrder = [] {
  std::array<uint8_t, 64> order{};
  int row = 0, column = 0;
  for (uint8_t& place : order) {
    place = static_cast<uint8_t>(8 * row + column);
    const bool up = (row + column) % 2 == 0;
    int& ahead = up ? column : row;
    int& back = up ? row : column;
    if (ahead == 7)
      ++back;
    else if (back == 0)
      ++ahead;
    else
      ++ahead, --back;
  }
  return order;
}();

using SymbolCounts = std::array<int64_t, 256>;

// A code in the form that JPEG stores.
struct HuffmanCode {
  std::array<uint8_t, 17> lengths{};   // the number of symbols for each code length in bits
  std::array<uint8_t, 256> symbols{};  // those with the shortest codes first
  int count = 0;
};

// Computes the optimal code. No code is longer than 16 bits, and none consists only of ones (JPEG,
// annex K.2). At least one count must be positive.
HuffmanCode best_code(const SymbolCounts& counts);

// Counts the symbols of the 63 AC coefficients of a block, which is stored by rows. Returns false
// if a coefficient is too large for a baseline image.
bool count_symbols(std::span<const int16_t, 64> block, SymbolCounts& counts);

// Counts the symbol of the difference between two DC coefficients. Returns false in the same case.
bool count_difference(int difference, SymbolCounts& counts);

}  // namespace stoker
