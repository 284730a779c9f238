#include "stoker/codecs/record_index.h"

#include <algorithm>
#include <cstring>

#include "stoker/codecs/crc32c.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/core/interrupt.h"

namespace stoker {
namespace {

constexpr Bytes kMagic = "stkridx1";
constexpr size_t kNumberBytes = 8;
constexpr size_t kHeadBytes = 6 * kNumberBytes;
constexpr size_t kTailBytes = kNumberBytes;

// The numbers of an index are little endian, as on all supported machines.
void append_number(std::string& out, uint64_t value) {
  char bytes[kNumberBytes];
  std::memcpy(bytes, &value, kNumberBytes);
  out.append(bytes, kNumberBytes);
}

uint64_t number_at(Bytes bytes, size_t at) {
  uint64_t value;
  std::memcpy(&value, bytes.data() + at, kNumberBytes);
  return value;
}

}  // namespace

std::vector<int64_t> places_of_records(Bytes file) {
  std::vector<int64_t> places;
  for (size_t at = 0; at < file.size();) {
    places.push_back(static_cast<int64_t>(at));
    at += stretch_of_record(file.substr(at));
    stop_if_interrupted();
  }
  return places;
}

std::string index_to_bytes(const FileMark& file, std::span<const int64_t> places, std::span<const int64_t> labels) {
  std::string out(kMagic);
  out.reserve(kHeadBytes + (places.size() + labels.size()) * kNumberBytes + kTailBytes);
  append_number(out, static_cast<uint64_t>(file.bytes));
  append_number(out, static_cast<uint64_t>(file.changed_ns));
  append_number(out, file.ends_hash);
  append_number(out, places.size());
  append_number(out, labels.size());
  for (const int64_t place : places) append_number(out, static_cast<uint64_t>(place));
  for (const int64_t label : labels) append_number(out, static_cast<uint64_t>(label));
  append_number(out, masked_crc32c(out));
  return out;
}

Result<IndexView> IndexView::of(Bytes bytes) {
  if (!bytes.starts_with(kMagic)) return Error::corrupt("not a record index: it does not start with its signature");
  if (bytes.size() < kHeadBytes + kTailBytes || bytes.size() % kNumberBytes != 0)
    return Error::corrupt("the record index is truncated at byte ", bytes.size());
  const size_t numbers = (bytes.size() - kHeadBytes - kTailBytes) / kNumberBytes;
  const uint64_t records = number_at(bytes, 4 * kNumberBytes), labels = number_at(bytes, 5 * kNumberBytes);
  if (records > numbers || labels != numbers - records || (labels != 0 && labels != records))
    return Error::corrupt("the record index is damaged: ", records, " records and ", labels, " labels do not fit its ",
                          bytes.size(), " bytes");
  if (number_at(bytes, bytes.size() - kTailBytes) != masked_crc32c(bytes.substr(0, bytes.size() - kTailBytes)))
    return Error::corrupt("the record index is damaged: its checksum is wrong");
  IndexView view;
  view.file_ = {static_cast<int64_t>(number_at(bytes, kNumberBytes)),
                static_cast<int64_t>(number_at(bytes, 2 * kNumberBytes)), number_at(bytes, 3 * kNumberBytes)};
  view.records_ = static_cast<int64_t>(records);
  view.labels_ = labels > 0;
  view.numbers_ = bytes.substr(kHeadBytes, numbers * kNumberBytes);
  return view;
}

int64_t IndexView::number(int64_t i) const {
  return static_cast<int64_t>(number_at(numbers_, static_cast<size_t>(i) * kNumberBytes));
}

}  // namespace stoker
