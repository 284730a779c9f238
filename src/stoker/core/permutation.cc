#include "stoker/core/permutation.h"

#include <bit>

#include "stoker/core/error.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr uint64_t kStep = 0x9E3779B97F4A7C15;

// Returns 32 well-mixed bits. Folding one wide product instead of two successive products is a
// third faster, but then a chi-square test detects pairs of 64 places after 8 rounds.
inline uint64_t scramble(uint64_t half, uint64_t key) {
  uint64_t x = (half ^ key) * kStep;
  x ^= x >> 32;
  return (x * 0xD6E8FEB86659FD93) >> 32;
}

constexpr uint64_t mask(int bits) { return (uint64_t{1} << bits) - 1; }

constexpr uint64_t nibble(uint64_t word, uint64_t i) { return word >> (4 * i) & 15; }

constexpr uint64_t swap_nibbles(uint64_t word, uint64_t i, uint64_t j) {
  const uint64_t difference = nibble(word, i) ^ nibble(word, j);
  return i == j ? word : word ^ difference << (4 * i) ^ difference << (4 * j);
}

// The Fisher-Yates shuffle. The bias of the products is below 2^-59.
uint64_t packed_order(uint64_t state, uint64_t n) {
  uint64_t order = 0xFEDCBA9876543210;
  for (uint64_t i = n; i > 1; --i) {
    const auto chosen = static_cast<uint64_t>(Wide{mix_bits(state += kStep)} * i >> 64);
    order = swap_nibbles(order, i - 1, chosen);
  }
  return order;
}

}  // namespace

Permutation::Permutation(uint64_t key, int64_t n) : n_(static_cast<uint64_t>(n)) {
  STOKER_CHECK(n >= 0);
  uint64_t state = mix_bits(key + kStep) ^ n_;
  if (packed()) {
    order_ = packed_order(state, n_);
    return;
  }
  const int bits = std::bit_width(n_ - 1);
  high_bits_ = bits / 2;
  low_bits_ = bits - high_bits_;
  // Small halves mix slowly: with 5 bits, 12 rounds are the minimum that passes a chi-square test
  // over triples of places; from 6 bits on, 8 rounds are.
  rounds_ = bits <= 8 ? 16 : 8;
  for (int i = 0; i < rounds_; ++i) keys_[static_cast<size_t>(i)] = mix_bits(state += kStep);
}

int64_t Permutation::operator()(int64_t i) const {
  uint64_t x = static_cast<uint64_t>(i);
  STOKER_CHECK(x < n_);
  if (packed()) return static_cast<int64_t>(nibble(order_, x));
  do x = forward(x);
  while (x >= n_);
  return static_cast<int64_t>(x);
}

int64_t Permutation::inverse(int64_t value) const {
  uint64_t x = static_cast<uint64_t>(value);
  STOKER_CHECK(x < n_);
  if (packed()) {
    uint64_t i = 0;
    while (nibble(order_, i) != x) ++i;
    return static_cast<int64_t>(i);
  }
  do x = backward(x);
  while (x >= n_);
  return static_cast<int64_t>(x);
}

void Permutation::fill(int64_t first, std::span<int64_t> out) const {
  for (int64_t& place : out) place = (*this)(first++);
}

uint64_t Permutation::forward(uint64_t x) const {
  uint64_t high = x >> low_bits_;
  uint64_t low = x & mask(low_bits_);
  for (const uint64_t* key = keys_.data(); key != keys_.data() + rounds_; key += 2) {
    high ^= scramble(low, key[0]) & mask(high_bits_);
    low ^= scramble(high, key[1]) & mask(low_bits_);
  }
  return high << low_bits_ | low;
}

uint64_t Permutation::backward(uint64_t x) const {
  uint64_t high = x >> low_bits_;
  uint64_t low = x & mask(low_bits_);
  for (const uint64_t* key = keys_.data() + rounds_; key != keys_.data(); key -= 2) {
    low ^= scramble(high, key[-1]) & mask(low_bits_);
    high ^= scramble(low, key[-2]) & mask(high_bits_);
  }
  return high << low_bits_ | low;
}

}  // namespace stoker
