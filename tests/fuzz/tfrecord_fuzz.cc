// Any bytes, in any pieces and with or without a known size, give the same records and errors. No
// two errors have the same offset. The fast path returns the complete records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/tfrecord.h"

namespace stoker {
namespace {

using Kind = RecordParser::Step::Kind;

// Contains many small records, so that flipped bytes are between complete ones.
std::string file_of(Bytes bytes) {
  std::string file;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), 9))) {
    if (bytes[0] % 3 != 0)
      append_record(file, bytes.substr(0, 9));
    else
      file += bytes.substr(0, 9);
  }
  return file;
}

std::vector<std::string> parsed(const std::string& file, size_t piece, bool size_known) {
  RecordParser parser;
  std::vector<std::string> found;
  size_t begin = 0, size = 0;
  int64_t error_at = -1;
  while (true) {
    const bool ended = begin + size == file.size();
    const auto left = size_known || ended ? std::optional(static_cast<int64_t>(file.size() - begin)) : std::nullopt;
    RecordParser fast = parser;
    const std::optional<Bytes> taken = fast.step_if_whole(Bytes(file).substr(begin, size));
    const RecordParser::Step step = parser.step(Bytes(file).substr(begin, size), left);
    STOKER_CHECK(taken.has_value() == (step.kind == Kind::kRecord));
    STOKER_CHECK(!taken || (*taken == step.payload && fast.offset() == parser.offset()));
    if (step.kind == Kind::kEnd) return found;
    STOKER_CHECK(step.consumed <= size);
    begin += step.consumed;
    size -= step.consumed;
    if (step.kind == Kind::kMore) {
      STOKER_CHECK(step.wanted > size && begin + size < file.size());
      size += std::min(piece, file.size() - begin - size);
    } else if (step.kind == Kind::kRecord) {
      found.emplace_back(step.payload);
    } else {
      STOKER_CHECK(parser.offset() > error_at);
      error_at = parser.offset();
      found.push_back(step.error->message());
    }
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = data[0] % 2 ? stoker::file_of(bytes) : bytes;
  const auto whole = stoker::parsed(file, SIZE_MAX, true);
  STOKER_CHECK(stoker::parsed(file, 1 + data[0] / 2, true) == whole);
  STOKER_CHECK(stoker::parsed(file, 1 + data[0] / 2, false) == whole);
  return 0;
}
