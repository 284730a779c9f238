// Any bytes, in any pieces, give the lines that a plain loop finds in them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/io/lines.h"

namespace stoker {
namespace {

using Lines = std::vector<std::pair<size_t, std::string>>;  // with their offsets

Lines plain_lines(const std::string& text) {
  Lines lines;
  size_t begin = 0;
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      lines.emplace_back(begin, std::exchange(line, {}));
      begin = i + 1;
    } else if (text[i] != '\r') {
      line += text[i];
    }
  }
  if (!line.empty()) lines.emplace_back(begin, line);
  return lines;
}

Lines read_lines(const std::string& text, size_t buffer_bytes) {
  LineReader reader(memory_stream(text), {.buffer_bytes = buffer_bytes});
  Lines lines;
  std::string_view line;
  while (reader.next(line).value()) lines.emplace_back(static_cast<size_t>(reader.offset()), line);
  return lines;
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  STOKER_CHECK(stoker::read_lines(text, data[0]) == stoker::plain_lines(text));
  return 0;
}
