#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stoker {

// What JPEG's Huffman codes are made of: how often each symbol occurs, and the
// code that makes the whole shortest.

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
