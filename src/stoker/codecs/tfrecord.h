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

// Appends one record to what will be a file.
void append_record(std::string& out, Bytes payload);

// What stands before and behind a payload that is written in pieces.
struct RecordFrame {
  std::string header, footer;
};
RecordFrame frame_of(std::span<const Bytes> payload);

// Of the payload, where these are the 12 bytes or more of a header whose checksum agrees.
std::optional<uint64_t> record_length(Bytes header);

// How many bytes of a file from where a record begins belong to it: its frame,
// if the length can be trusted and fits, or all up to the next whole record or
// the end, as RecordParser passes over them. Payloads that need not be are not
// read. Not 0 but of nothing.
size_t stretch_of_record(Bytes rest);

// The error for such a stretch from byte `from` on that begins with a header which is not believed.
Error damaged_stretch(int64_t from, int64_t bytes, Bytes header);

// Finds the records in bytes that come in pieces; whoever calls it owns the
// bytes and reads more of them.
//
// Damage is one error and the records behind it follow. Where the length can be
// trusted, a bad payload is passed over by it; behind a bad header the next
// record with both checksums right is looked for, and all before it is one
// error. Records that are cut off by the end are one, too.
class RecordParser {
 public:
  // `offset`: where in the file the first byte given lies; a record begins there.
  // A record of more than `limit` bytes, frame included, that does not lie in
  // the window is an error and is passed over: no window has to grow beyond that.
  explicit RecordParser(int64_t offset = 0, uint64_t limit = UINT64_MAX) : offset_(offset), limit_(limit) {}

  struct Step {
    enum class Kind { kRecord, kError, kMore, kEnd };
    Kind kind;
    size_t consumed = 0;  // of the window; the next one begins behind them
    Bytes payload = {};   // kRecord: a view of the window
    std::optional<Error> error = {};
    size_t wanted = 0;  // kMore: as many bytes the next window must have, or all there are
    int64_t skipped =
        0;  // kError: bytes behind the window that belong to the record; the next window begins behind them
  };

  // `window` is what there is at offset(), `left` how many bytes there are from
  // there to the end, where that is known: it is the window's size when the
  // end has been reached. No length is believed that does not fit `left`.
  Step step(Bytes window, std::optional<int64_t> left);

  // The same where the window begins with a whole record and all is right, which
  // is taken; else nothing is, and step() says what there is.
  std::optional<Bytes> step_if_whole(Bytes window);

  // Of the first byte not yet consumed.
  int64_t offset() const { return offset_; }

 private:
  Step next_frame(Bytes window, std::optional<int64_t> left);
  Step search(Bytes window, std::optional<int64_t> left);
  Step too_large(Bytes window, uint64_t whole);
  Step cut(Bytes window, int64_t left, std::optional<uint64_t> length);
  Step found_end_of_damage(size_t skipped);

  int64_t offset_;
  uint64_t limit_;
  std::optional<int64_t> damaged_from_;  // inside a search: where the bad header stands
  std::string bad_header_;               // what stands there
  bool ended_ = false;                   // by a record that is cut off
};

}  // namespace stoker
