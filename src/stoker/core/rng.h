#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace stoker {

// A bijection of 64 bits in which every bit reaches every bit (the finaliser of
// SplitMix64): for keys and hashes that are kept.
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// One block of Philox4x32-10 (Salmon et al., SC11): four 32-bit outputs for a
// counter under a key. For a fixed key it is a bijection of the counters.
std::array<uint32_t, 4> philox_block(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct SeedPair {
  uint64_t seed = 0;
  uint64_t seed2 = 0;
  bool operator==(const SeedPair&) const = default;
};

// The sequence of TensorFlow's generator for a pair of seeds: key = seed,
// counter from seed2 · 2^64 upwards, the four outputs of each block in order.
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

  // As if next() had been called that often, in constant time.
  void skip(uint64_t outputs);

  // Equal generators give equal sequences from here on.
  bool operator==(const Philox& other) const {
    return key_ == other.key_ && low_ == other.low_ && high_ == other.high_ && used_ == other.used_;
  }

 private:
  std::array<uint32_t, 4> block() const;
  void advance(uint64_t blocks);  // to the first output of a later block

  uint64_t key_;
  uint64_t low_ = 0;  // of the 128-bit counter, which names the block of the next output
  uint64_t high_;
  uint32_t used_ = 0;  // outputs taken from that block; block_ holds it when not zero
  std::array<uint32_t, 4> block_{};
};

// tf.data's rule for its `seed` argument and tf.random.set_seed. `op` must be
// there: the cases without it are random, or draw `op` first.
SeedPair tf_seeds(std::optional<int64_t> global, std::optional<int64_t> op);

// The seeds of one pass of a reshuffled stage: outputs 2·pass and 2·pass + 1
// of Philox(parent).
SeedPair epoch_pair(SeedPair parent, int64_t pass);

// The numbers of one element in one stage. They depend on the four arguments
// alone, and are the same bits on every machine. Two origins never share a
// sequence under the same seed and stage.
class Rng {
 public:
  Rng(uint64_t seed, uint64_t stage_key, uint64_t origin_hi, uint64_t origin_lo);

  uint32_t bits32() { return philox_.next(); }
  uint64_t bits64();

  double uniform();          // of [0, 1), 53 bits
  float uniform_float();     // of [0, 1), 24 bits
  int64_t below(int64_t n);  // of [0, n), each equally likely; n > 0
  double normal();           // mean 0, deviation 1

 private:
  Philox philox_;
};

}  // namespace stoker
