#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoker::prepare {

// How errors name an option: as a field, keep_bytes and on_error=skip, or as a flag of the command, --keep-bytes and
// --on-error skip.
enum class OptionNames : uint8_t { kFields, kFlags };

// Returns the name of an option, with its value if there is one.
inline std::string option_name(OptionNames names, std::string_view field, std::string_view value = "") {
  std::string text;
  if (names == OptionNames::kFields) {
    text = field;
  } else {
    text = "--";
    for (const char c : field) text += c == '_' ? '-' : c;
  }
  if (!value.empty()) text.append(names == OptionNames::kFields ? "=" : " ").append(value);
  return text;
}

}  // namespace stoker::prepare
