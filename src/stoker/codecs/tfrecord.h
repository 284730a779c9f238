#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "stoker/core/dtype.h"
#include "stoker/core/error.h"

namespace stoker {

// The framing of TFRecord files. A record is, little endian:
//   uint64 length, uint32 masked CRC32C of the length,
//   the payload,   uint32 masked CRC32C of the payload.
constexpr size_t kRecordHeaderBytes = 12;
constexpr size_t kRecordFooterBytes = 4;

// Appends one record.
void append_record(std::string& out, Bytes payload);

// The bytes before and after a payload that is written in pieces.
struct RecordFrame {
  std::string header, footer;
};
RecordFrame frame_of(std::span<const Bytes> payload);

// The length of the payload, if `header`, of at least 12 bytes, has a correct checksum.
std::optional<uint64_t> record_length(Bytes header);

// The number of bytes that belong to the record at the start of `rest`: its frame, if its length is
// valid and fits, otherwise all bytes up to the next complete record or the end, as RecordParser
// skips them. Does not read payloads unnecessarily. Returns 0 only if `rest` is empty.
size_t stretch_of_record(Bytes rest);

// The error for such a range of bytes that starts at `from` with an invalid header.
Error damaged_stretch(int64_t from, int64_t bytes, Bytes header);

// Finds the records in bytes that arrive in pieces. The caller owns the bytes and reads more of
// them.
//
// Damage is one error, and the records after it follow. If the length is valid, it is used to skip
// a bad payload. After a bad header, the parser searches for the next record with two correct
// checksums, and everything before it is one error. A record that the end of the file truncates is
// also one error. Not thread-safe.
class RecordParser {
 public:
  // `offset` is the position in the file of the first byte; a record starts there. A record of more
  // than `limit` bytes, including its frame, that is not completely in the window is an error and
  // is skipped, so that no window has to grow beyond the limit.
  explicit RecordParser(int64_t offset = 0, uint64_t limit = UINT64_MAX) : offset_(offset), limit_(limit) {}

  struct Step {
    enum class Kind { kRecord, kError, kMore, kEnd };
    Kind kind;
    size_t consumed = 0;  // bytes of the window; the next window starts after them
    Bytes payload = {};   // kRecord: a view of the window
    std::optional<Error> error = {};
    size_t wanted = 0;    // kMore: the number of bytes that the next window must have, or all that remain
    int64_t skipped = 0;  // kError: bytes after the window that belong to the record; the next window starts after them
  };

  // `window` contains the bytes at offset(). `left` is the number of bytes from there to the end,
  // if known; it is the size of the window when the end has been reached. A length that exceeds
  // `left` is not accepted.
  Step step(Bytes window, std::optional<int64_t> left);

  // A fast path that returns and consumes the record if the window starts with a complete and
  // correct one. Otherwise it consumes nothing, and the caller calls step().
  std::optional<Bytes> step_if_whole(Bytes window);

  // The position in the file of the first byte that was not consumed.
  int64_t offset() const { return offset_; }

 private:
  Step next_frame(Bytes window, std::optional<int64_t> left);
  Step search(Bytes window, std::optional<int64_t> left);
  Step too_large(Bytes window, uint64_t whole);
  Step cut(Bytes window, int64_t left, std::optional<uint64_t> length);
  Step found_end_of_damage(size_t skipped);

  int64_t offset_;
  uint64_t limit_;
  std::optional<int64_t> damaged_from_;  // during a search: the offset of the bad header
  std::string bad_header_;               // its bytes
  bool ended_ = false;                   // by a truncated record
};

}  // namespace stoker
