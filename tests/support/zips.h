#pragma once

#include <zlib.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/compress.h"

namespace stoker {

// Builds a zip file byte by byte, with stored or deflated members.
inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool deflate) {
  const auto number = [](uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  };
  std::string zip, directory;
  for (const auto& [name, bytes] : members) {
    const std::string packed = deflate ? deflated(bytes, -MAX_WBITS, 6) : bytes;
    const auto crc =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
    const std::string common = number(20, 2) + number(0, 2) + number(deflate ? 8 : 0, 2) + number(0, 4) +
                               number(crc, 4) + number(static_cast<uint32_t>(packed.size()), 4) +
                               number(static_cast<uint32_t>(bytes.size()), 4) +
                               number(static_cast<uint32_t>(name.size()), 2) + number(0, 2);
    directory += "PK\1\2" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(static_cast<uint32_t>(zip.size()), 4) + name;
    zip += "PK\3\4" + common + name + packed;
  }
  const auto count = static_cast<uint32_t>(members.size());
  return zip + directory + "PK\5\6" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(static_cast<uint32_t>(directory.size()), 4) + number(static_cast<uint32_t>(zip.size()), 4) +
         number(0, 2);
}

}  // namespace stoker
