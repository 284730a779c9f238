#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace stoker {

// Builds tar archives byte by byte, so that tests require no tool.

inline std::string in_blocks(std::string_view bytes) {
  return std::string(bytes) + std::string((512 - bytes.size() % 512) % 512, '\0');
}

// A header of the old format with a ustar mark. `type`: '0' a file, '1' a hard link,
// '5' a folder, 'x' pax, 'L' GNU name.
inline std::string tar_header(std::string_view name, size_t size, char type = '0', std::string_view link = {}) {
  std::string block(512, '\0');
  char text[16];
  block.replace(0, name.size(), name);
  block.replace(100, 7, "0000644");
  block.replace(108, 7, "0000000");
  block.replace(116, 7, "0000000");
  std::snprintf(text, sizeof text, "%011zo", size);
  block.replace(124, 11, text);
  block.replace(136, 11, "00000000000");
  block[156] = type;
  block.replace(157, link.size(), link);
  block.replace(257, 6, std::string_view("ustar\0", 6));
  block.replace(263, 2, "00");
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::snprintf(text, sizeof text, "%06o", sum);
  block.replace(148, 7, std::string_view(text, 7));
  return block;
}

inline std::string tar_file(std::string_view name, std::string_view bytes) {
  return tar_header(name, bytes.size()) + in_blocks(bytes);
}
inline std::string tar_link(std::string_view name, std::string_view target) { return tar_header(name, 0, '1', target); }
// Files with a long name, in the GNU format and in the pax format.
inline std::string tar_gnu_file(const std::string& name, std::string_view bytes) {
  return tar_header("././@LongLink", name.size() + 1, 'L') + in_blocks(name + '\0') +
         tar_file(name.substr(0, 100), bytes);
}
inline std::string tar_pax_file(const std::string& name, std::string_view bytes) {
  std::string record = " path=" + name + "\n";
  size_t size = record.size() + 1;
  while (std::to_string(size).size() + record.size() != size) size = std::to_string(size).size() + record.size();
  record = std::to_string(size) + record;
  return tar_header("pax", record.size(), 'x') + in_blocks(record) + tar_file("short", bytes);
}
inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace stoker
