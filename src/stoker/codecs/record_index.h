#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/file_mark.h"
#include "stoker/core/result.h"

namespace stoker {

// The index of a TFRecord file: the offsets of its records, and a mark that shows whether the file
// has changed since (docs/formats/record_index.md). A damaged part counts as one record: it has one
// offset, and reading it fails.

// The offsets of the records of a whole file. Each record ends where the next one starts, the last
// one at the end of the file. Reads only the headers, and payloads only after a damaged header.
// Throws Cancelled if the caller interrupts it (core/interrupt.h).
std::vector<int64_t> places_of_records(Bytes file);

// Serializes an index. `labels` is empty or has one label for each record.
std::string index_to_bytes(const FileMark& file, std::span<const int64_t> places, std::span<const int64_t> labels);

// A view of a serialized index. The bytes must outlive it.
class IndexView {
 public:
  IndexView() = default;
  // Fails with DataLoss if the bytes are not an index or are damaged.
  static Result<IndexView> of(Bytes bytes);

  const FileMark& file() const { return file_; }
  int64_t records() const { return records_; }
  int64_t place(int64_t record) const { return number(record); }
  // The size of the record including its frame. If the index is wrong, it can be any number.
  int64_t bytes(int64_t record) const {
    const int64_t end = record + 1 < records_ ? place(record + 1) : file_.bytes;
    return static_cast<int64_t>(static_cast<uint64_t>(end) - static_cast<uint64_t>(place(record)));
  }
  bool has_labels() const { return labels_; }
  int64_t label(int64_t record) const { return number(records_ + record); }

 private:
  int64_t number(int64_t i) const;

  FileMark file_;
  int64_t records_ = 0;
  bool labels_ = false;
  Bytes numbers_;
};

}  // namespace stoker
