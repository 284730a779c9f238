#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stoker {

// A random-looking order of [0, n) that takes no memory: place i is computed
// when it is asked for. The same for ever for the same key and n.
//
// n up to 2^63 - 1. Up to 16 every order is equally likely over the keys;
// beyond that a block cipher of the fewest bits that hold n is walked until it
// lands in [0, n), twice on average at worst.
//
// One thread of an AMD EPYC, n = 10^9: 29 ns a call when each waits for the
// last, 14 ns by fill(); n = 2^30 + 1, the worst kind: 61 and 38 ns; 24 ns to
// construct (bench/kernels/permutation_bench).
class Permutation {
 public:
  Permutation(uint64_t key, int64_t n);

  int64_t size() const { return static_cast<int64_t>(n_); }
  int64_t operator()(int64_t i) const;
  // The i for which operator() gives `value`.
  int64_t inverse(int64_t value) const;
  // Places first, first + 1, … of the order; all must be below n.
  void fill(int64_t first, std::span<int64_t> out) const;

 private:
  bool packed() const { return n_ <= 16; }
  uint64_t forward(uint64_t x) const;
  uint64_t backward(uint64_t x) const;

  uint64_t n_;
  int low_bits_ = 0;
  int high_bits_ = 0;
  int rounds_ = 0;
  std::array<uint64_t, 16> keys_{};
  uint64_t order_ = 0;  // when packed: four bits for each place
};

}  // namespace stoker
