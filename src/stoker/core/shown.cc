#include "stoker/core/shown.h"

namespace stoker {

std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string words;
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c >= ' ' && c <= '~')
      words += c;
    else
      words += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
  }
  return text.size() > kMost ? words + "…" : words;
}

}  // namespace stoker
