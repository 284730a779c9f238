#include "stoker/core/rng.h"

#include <bit>
#include <cmath>

#include "stoker/core/error.h"

namespace stoker {
namespace {

__extension__ typedef unsigned __int128 Wide;
using Words4 = std::array<uint32_t, 4>;
using Words2 = std::array<uint32_t, 2>;

constexpr uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint64_t join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

constexpr Words4 round(Words4 c, Words2 key) {
  const uint64_t u = uint64_t{0xD2511F53} * c[0];
  const uint64_t v = uint64_t{0xCD9E8D57} * c[2];
  return {high(v) ^ c[1] ^ key[0], low(v), high(u) ^ c[3] ^ key[1], low(u)};
}

// The nonnegative remainder to which TensorFlow reduces seeds.
constexpr uint64_t fold_seed(int64_t seed) {
  constexpr int64_t kModulus = (int64_t{1} << 31) - 1;
  const int64_t remainder = seed % kModulus;
  return static_cast<uint64_t>(remainder < 0 ? remainder + kModulus : remainder);
}

Philox element_philox(uint64_t seed, uint64_t stage_key, uint64_t origin_hi, uint64_t origin_lo) {
  const uint64_t key = mix_bits(mix_bits(seed + 0x9E3779B97F4A7C15) ^ stage_key);
  const Words4 start =
      philox_block({low(origin_lo), high(origin_lo), low(origin_hi), high(origin_hi)}, {low(key), high(key)});
  return Philox(join(start[0], start[1]), join(start[2], start[3]));
}

// The natural logarithm for 0 < x < 1, with an error of at most two units in the last place. The C
// library's result differs between machines with and without fused multiply-add.
double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1);  // log m = 2 atanh s, |s| < 0.1716
  const double s2 = s * s;
  constexpr double kSeries[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  double sum = 0;
  for (double term : kSeries) sum = sum * s2 + term;
  return exponent * 0.69314718055994531 + 2 * s * sum;
}

}  // namespace

std::array<uint32_t, 4> philox_block(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int i = 0; i < 9; ++i) {
    counter = round(counter, key);
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return round(counter, key);
}

void Philox::skip(uint64_t outputs) {
  const uint64_t taken = used_ + outputs % 4;
  const uint64_t blocks = outputs / 4 + taken / 4;
  if (blocks > 0) advance(blocks);
  const bool held = blocks == 0 && used_ > 0;
  used_ = static_cast<uint32_t>(taken % 4);
  if (used_ > 0 && !held) block_ = block();
}

std::array<uint32_t, 4> Philox::block() const {
  return philox_block({low(low_), high(low_), low(high_), high(high_)}, {low(key_), high(key_)});
}

void Philox::advance(uint64_t blocks) {
  low_ += blocks;
  if (low_ < blocks) ++high_;
  used_ = 0;
}

SeedPair tf_seeds(std::optional<int64_t> global, std::optional<int64_t> op) {
  STOKER_CHECK(op.has_value());
  constexpr int64_t kDefaultGlobal = 87654321;
  const SeedPair seeds{fold_seed(global.value_or(kDefaultGlobal)), fold_seed(*op)};
  if (seeds == SeedPair{0, 0}) return {0, (uint64_t{1} << 31) - 1};  // (0, 0) means "random" to TensorFlow
  return seeds;
}

SeedPair epoch_pair(SeedPair parent, int64_t pass) {
  Philox outputs(parent);
  outputs.skip(2 * static_cast<uint64_t>(pass));
  const uint64_t seed = outputs.next();
  const uint64_t seed2 = outputs.next();
  return {seed, seed2};
}

Rng::Rng(uint64_t seed, uint64_t stage_key, uint64_t origin_hi, uint64_t origin_lo)
    : philox_(element_philox(seed, stage_key, origin_hi, origin_lo)) {}

uint64_t Rng::bits64() {
  const uint32_t first = bits32();
  return join(first, bits32());
}

double Rng::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

float Rng::uniform_float() { return static_cast<float>(bits32() >> 8) * 0x1p-24f; }

// Lemire's method: the high half of a product, drawn again if the low half would favor some values.
int64_t Rng::below(int64_t n) {
  STOKER_CHECK(n > 0);
  const uint64_t range = static_cast<uint64_t>(n);
  Wide product = Wide{bits64()} * range;
  if (static_cast<uint64_t>(product) < range) {
    const uint64_t unfair = (uint64_t{0} - range) % range;
    while (static_cast<uint64_t>(product) < unfair) product = Wide{bits64()} * range;
  }
  return static_cast<int64_t>(product >> 64);
}

// Marsaglia's polar method. Discards the second of its two numbers, so that the position is the
// only state.
double Rng::normal() {
  for (;;) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double s = x * x + y * y;
    if (s < 1 && s > 0) return x * std::sqrt(-2 * log_of(s) / s);
  }
}

}  // namespace stoker
