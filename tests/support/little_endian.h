#pragma once

#include <cstdint>
#include <string>

namespace stoker {

inline std::string le16(int64_t number) { return {static_cast<char>(number), static_cast<char>(number >> 8)}; }
inline std::string le32(int64_t number) { return le16(number) + le16(number >> 16); }

}  // namespace stoker
