#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker {

// 64 bits of any bytes, the same on every machine and for ever: checkpoints
// keep them. Nothing that an enemy could not make equal.
uint64_t hash_of(std::string_view bytes, uint64_t seed = 0);

std::string hex_of(uint64_t hash);  // 16 digits

// A text that is short enough to be kept: itself, or its begin and its hash.
std::string shortened(std::string text, size_t at_most);

}  // namespace stoker
