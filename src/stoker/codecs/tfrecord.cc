#include "stoker/codecs/tfrecord.h"

#include <algorithm>
#include <limits>

#include "stoker/codecs/crc32c.h"

namespace stoker {
namespace {

using Kind = RecordParser::Step::Kind;

constexpr size_t kLengthBytes = 8;
constexpr size_t kFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;
// The frame of a longer payload does not fit the range of file offsets.
constexpr uint64_t kLongest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - kFrameBytes;

template <typename T>
T little_endian(Bytes from) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) value = static_cast<T>(value << 8 | static_cast<uint8_t>(from[i]));
  return value;
}

template <typename T>
void append_little_endian(std::string& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(value >> (8 * i));
}

// The payload at the start of a window that contains a complete frame, if its checksum is correct.
std::optional<Bytes> payload_at(Bytes window, uint64_t length) {
  const Bytes payload = window.substr(kRecordHeaderBytes, length);
  const Bytes footer = window.substr(kRecordHeaderBytes + length);
  if (masked_crc32c(payload) != little_endian<uint32_t>(footer)) return std::nullopt;
  return payload;
}

bool has_right_checksum(Bytes header) {
  return masked_crc32c(header.substr(0, kLengthBytes)) == little_endian<uint32_t>(header.substr(kLengthBytes));
}

// What is wrong with an invalid header.
std::string wrong_about(Bytes header) {
  if (header.size() < kRecordHeaderBytes || !has_right_checksum(header)) return "the checksum of its length is wrong";
  return "its length of " + std::to_string(little_endian<uint64_t>(header)) + " bytes is impossible";
}

// A hint for the first header of a file.
const char* hint_for(Bytes header) {
  if (header.size() >= kRecordHeaderBytes && has_right_checksum(header)) return "";
  if (header.starts_with("\x1f\x8b")) return "; the file starts like GZIP data: set compression_type to \"GZIP\"";
  return "; check that it is a TFRecord file and that compression_type is correct";
}

}  // namespace

RecordFrame frame_of(std::span<const Bytes> payload) {
  uint64_t length = 0;
  uint32_t crc = 0;
  for (const Bytes piece : payload) {
    length += piece.size();
    crc = crc32c(piece, crc);
  }
  RecordFrame frame;
  append_little_endian(frame.header, length);
  append_little_endian(frame.header, masked_crc32c(frame.header));
  append_little_endian(frame.footer, masked_crc(crc));
  return frame;
}

void append_record(std::string& out, Bytes payload) {
  const RecordFrame frame = frame_of({&payload, 1});
  out.append(frame.header).append(payload).append(frame.footer);
}

std::optional<uint64_t> record_length(Bytes header) {
  if (!has_right_checksum(header)) return std::nullopt;
  const auto value = little_endian<uint64_t>(header);
  return value > kLongest ? std::nullopt : std::optional(value);
}

size_t stretch_of_record(Bytes rest) {
  if (rest.size() < kRecordHeaderBytes) return rest.size();
  if (const std::optional<uint64_t> length = record_length(rest))
    return std::min<uint64_t>(*length + kFrameBytes, rest.size());
  return RecordParser().step(rest, static_cast<int64_t>(rest.size())).consumed;
}

Error damaged_stretch(int64_t from, int64_t bytes, Bytes header) {
  return Error::corrupt("the record at byte ", from, " is damaged: ", wrong_about(header), ", and ", bytes,
                        " bytes were skipped up to the next complete record or the end of the file",
                        from > 0 ? "" : hint_for(header));
}

RecordParser::Step RecordParser::step(Bytes window, std::optional<int64_t> left) {
  Step step = damaged_from_ ? search(window, left) : next_frame(window, left);
  offset_ += static_cast<int64_t>(step.consumed);
  return step;
}

std::optional<Bytes> RecordParser::step_if_whole(Bytes window) {
  if (damaged_from_ || ended_ || window.size() < kFrameBytes) return std::nullopt;
  const std::optional<uint64_t> length = record_length(window);
  if (!length || *length > window.size() - kFrameBytes) return std::nullopt;
  const std::optional<Bytes> payload = payload_at(window, *length);
  if (payload) offset_ += static_cast<int64_t>(*length + kFrameBytes);
  return payload;
}

RecordParser::Step RecordParser::next_frame(Bytes window, std::optional<int64_t> left) {
  if (ended_ || left == 0) return {Kind::kEnd};
  if (left && *left < static_cast<int64_t>(kRecordHeaderBytes)) return cut(window, *left, std::nullopt);
  if (window.size() < kRecordHeaderBytes) return {.kind = Kind::kMore, .wanted = kRecordHeaderBytes};
  const std::optional<uint64_t> length = record_length(window);
  if (!length) {
    damaged_from_ = offset_;
    bad_header_ = window.substr(0, kRecordHeaderBytes);
    return search(window, left);
  }
  const uint64_t whole = *length + kFrameBytes;
  if (left && whole > static_cast<uint64_t>(*left)) return cut(window, *left, length);
  if (window.size() < whole && whole > limit_) return too_large(window, whole);
  if (window.size() < whole) return {.kind = Kind::kMore, .wanted = whole};
  if (const std::optional<Bytes> payload = payload_at(window, *length))
    return {.kind = Kind::kRecord, .consumed = whole, .payload = *payload};
  return {.kind = Kind::kError,
          .consumed = whole,
          .error = Error::corrupt("the record at byte ", offset_, " is damaged: the checksum of its ", *length,
                                  " bytes is wrong")};
}

// Searches byte by byte after a bad header. A frame with a valid header and a bad payload is
// skipped as a whole, so no byte is checked as payload more than once.
RecordParser::Step RecordParser::search(Bytes window, std::optional<int64_t> left) {
  size_t at = 0;
  while (window.size() - at >= kRecordHeaderBytes) {
    const Bytes rest = window.substr(at);
    const std::optional<uint64_t> length = record_length(rest);
    const uint64_t whole = length ? *length + kFrameBytes : 0;
    if (!length || (left && whole > static_cast<uint64_t>(*left) - at) || (rest.size() < whole && whole > limit_)) {
      ++at;
      continue;
    }
    if (rest.size() < whole) return {.kind = Kind::kMore, .consumed = at, .wanted = whole};
    if (payload_at(rest, *length)) return found_end_of_damage(at);
    at += whole;
  }
  if (left && static_cast<uint64_t>(*left) == window.size()) return found_end_of_damage(window.size());
  return {.kind = Kind::kMore, .consumed = at, .wanted = kRecordHeaderBytes};
}

RecordParser::Step RecordParser::found_end_of_damage(size_t skipped) {
  const int64_t from = *damaged_from_;
  damaged_from_.reset();
  const int64_t bytes = offset_ + static_cast<int64_t>(skipped) - from;
  return {.kind = Kind::kError, .consumed = skipped, .error = damaged_stretch(from, bytes, bad_header_)};
}

RecordParser::Step RecordParser::too_large(Bytes window, uint64_t whole) {
  const auto skipped = static_cast<int64_t>(whole - window.size());
  const int64_t begin = offset_;
  offset_ += skipped;
  return {.kind = Kind::kError,
          .consumed = window.size(),
          .error = Error::exhausted("the record at byte ", begin, " has ", whole - kFrameBytes,
                                    " bytes, more than the limit of ", limit_,
                                    " bytes; if the file is correct, set STOKER_MEMORY to a larger value"),
          .skipped = skipped};
}

// The last record of the file, of which a part is missing. If the header is incomplete, the length
// is unknown.
RecordParser::Step RecordParser::cut(Bytes window, int64_t left, std::optional<uint64_t> length) {
  const uint64_t whole = length ? *length + kFrameBytes : kRecordHeaderBytes;
  const uint64_t missing = whole - static_cast<uint64_t>(left);
  const int64_t begin = offset_;
  ended_ = true;
  offset_ += left - static_cast<int64_t>(window.size());  // bytes that need not be read
  return {.kind = Kind::kError,
          .consumed = window.size(),
          .error = Error::corrupt("the record at byte ", begin, " is truncated: the file ends ",
                                  length ? "" : "inside its header, ", missing, length ? "" : " or more",
                                  " bytes too early")};
}

}  // namespace stoker
