#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

// A 64-bit hash that is the same on every machine and in every version, because checkpoints store
// it. Not cryptographic: equal hashes are easy to construct. Throws Cancelled if the caller interrupts it.
uint64_t hash_of(std::string_view bytes, uint64_t seed = 0);

std::string hex_of(uint64_t hash);  // 16 digits

// Returns a text of at most `at_most` bytes unchanged. Longer texts become their prefix and a hash.
std::string shortened(std::string text, size_t at_most);

}  // namespace stoker
