#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stoker {

// What JPEG's Huffman codes are made of: the order of a block's coefficients, how
// often each symbol occurs, and the code that makes the whole shortest.

// The place in its row-by-row block of each coefficient in the order of the codes.
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

// A code as JPEG writes it down.
struct HuffmanCode {
  std::array<uint8_t, 17> lengths{};   // how many symbols have a code of so many bits
  std::array<uint8_t, 256> symbols{};  // those with the shortest first
  int count = 0;
};

// No code is longer than 16 bits, and none has only ones (JPEG, annex K.2).
// At least one symbol occurs.
HuffmanCode best_code(const SymbolCounts& counts);

// Adds the symbols of the 63 coefficients behind the first of a block, which lie
// in rows; false where one is too large for a baseline picture.
bool count_symbols(std::span<const int16_t, 64> block, SymbolCounts& counts);

// Adds the symbol of the difference between two first coefficients; likewise.
bool count_difference(int difference, SymbolCounts& counts);

}  // namespace stoker
