#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stoker {

// A bijection of 64 bits in which every input bit affects every output bit (the finalizer of
// SplitMix64). For keys and hashes that are stored.
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// One block of Philox4x32-10 (Salmon et al., SC11): four 32-bit outputs for a counter and a key.
// For a fixed key, it is a bijection of the counters.
std::array<uint32_t, 4> philox_block(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The two seeds of TensorFlow's generators.
struct SeedPair {
  uint64_t seed = 0;
  uint64_t seed2 = 0;
  bool operator==(const SeedPair&) const = default;
};

// The sequence of TensorFlow's generator for a pair of seeds: the key is `seed`, the counter starts
// at seed2 · 2^64, and the four outputs of each block are returned in order.
class Philox {
 public:
  Philox(uint64_t seed, uint64_t seed2) : key_(seed), high_(seed2) {}
  explicit Philox(SeedPair seeds) : Philox(seeds.seed, seeds.seed2) {}

  uint32_t next() {
    if (used_ == 0) block_ = block();
    const uint32_t output = block_[used_];
    if (++used_ == 4) advance(1);
    return output;
  }

  // Has the effect of calling next() this many times, in constant time.
  void skip(uint64_t outputs);

  // Whether both generators return the same sequence from here on.
  bool operator==(const Philox& other) const {
    return key_ == other.key_ && low_ == other.low_ && high_ == other.high_ && used_ == other.used_;
  }

 private:
  std::array<uint32_t, 4> block() const;
  void advance(uint64_t blocks);  // to the first output of a later block

  uint64_t key_;
  uint64_t low_ = 0;  // the low half of the 128-bit counter, the number of the next output's block
  uint64_t high_;
  uint32_t used_ = 0;  // outputs returned from that block; if not 0, block_ is that block
  std::array<uint32_t, 4> block_{};
};

// Combines the `seed` argument and tf.random.set_seed as tf.data does. `op` must have a value: in
// the other cases, the seed is random, or the caller draws `op` first.
SeedPair tf_seeds(std::optional<int64_t> global, std::optional<int64_t> op);

// The seeds of one pass of a reshuffled stage: outputs 2·pass and 2·pass + 1 of Philox(parent).
SeedPair epoch_pair(SeedPair parent, int64_t pass);

// The random numbers of one element in one stage. They depend only on the four arguments and have
// the same bits on every machine. With the same seed and stage, two origins never share a sequence.
class Rng {
 public:
  Rng(uint64_t seed, uint64_t stage_key, uint64_t origin_hi, uint64_t origin_lo);

  uint32_t bits32() { return philox_.next(); }
  uint64_t bits64();

  double uniform();          // in [0, 1), 53 bits
  float uniform_float();     // in [0, 1), 24 bits
  int64_t below(int64_t n);  // in [0, n), each equally likely; n > 0
  double normal();           // mean 0, standard deviation 1

 private:
  Philox philox_;
};

}  // namespace stoker
