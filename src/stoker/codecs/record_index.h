#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/file_mark.h"
#include "stoker/core/result.h"

namespace stoker {

// The index of a TFRecord file: where its records begin, and what tells whether
// the file is still the one they were found in (docs/formats/record_index.md).
// A damaged stretch is a record here: it has one place, and reading it fails.

// Where the records of a whole file begin. Each ends where the next begins,
// the last one with the file. Hops from header to header: payloads are not read
// but behind a damaged header.
std::vector<int64_t> places_of_records(Bytes file);

std::string index_to_bytes(const FileMark& file, std::span<const int64_t> places, std::span<const int64_t> labels);

// An index as a view of its bytes, which its owner keeps.
class IndexView {
 public:
  IndexView() = default;
  // What is no index, or a damaged one, is an error.
  static Result<IndexView> of(Bytes bytes);

  const FileMark& file() const { return file_; }
  int64_t records() const { return records_; }
  int64_t place(int64_t record) const { return number(record); }
  // Of the record with its frame; any number where the index lies.
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
