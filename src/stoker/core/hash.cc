#include "stoker/core/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "stoker/core/interrupt.h"
#include "stoker/core/rng.h"

namespace stoker {
namespace {

constexpr size_t kBytesPerCheck = size_t{4} << 20;  // for an interrupt

}  // namespace

uint64_t hash_of(std::string_view bytes, uint64_t seed) {
  uint64_t hash = mix_bits(seed + bytes.size() + 1);
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    if (at % kBytesPerCheck == 0 && at > 0) stop_if_interrupted();
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    hash = mix_bits(std::rotl(hash, 17) ^ word);
  }
  return hash;
}

std::string hex_of(uint64_t hash) {
  std::string digits(16, '0');
  for (size_t i = 16; i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 15];
  return digits;
}

std::string shortened(std::string text, size_t at_most) {
  if (text.size() <= at_most) return text;
  const std::string hash = hex_of(hash_of(text));
  return text.substr(0, at_most) + "… " + hash;
}

}  // namespace stoker
