#pragma once

#include <optional>
#include <string>

#include "stoker/core/array.h"

namespace stoker {

// RFC 4180 as tf.data's CsvDataset reads it. A record ends at "\n", "\r" or
// "\r\n". A field that begins with a quote ends at the next one that is not
// doubled and may hold delimiters and line ends; other fields hold no quote.
struct CsvDialect {
  char delimiter = ',';
  bool quotes = true;  // false: a quote is like any other character
};

// The end of the record at the front of a text.
struct CsvEnd {
  size_t record = 0;              // its bytes, without the line end
  size_t taken = 0;               // with it
  const char* problem = nullptr;  // with its quotes; the record is then its first line alone
  size_t problem_at = 0;          // in the text
};
// Nothing while more of the text must be known; never where `whole`. The text
// is not empty.
std::optional<CsvEnd> find_csv_end(Bytes text, bool whole, CsvDialect dialect);

// The fields of a record without problem, one after the other; there is at
// least one.
class CsvFields {
 public:
  CsvFields(Bytes record, CsvDialect dialect) : rest_(record), dialect_(dialect) {}

  // What stands between its quotes, if it has them.
  struct Field {
    Bytes text;
    bool doubled = false;  // quotes in it are: see undoubled()
  };
  // Nothing behind the last.
  std::optional<Field> next();

 private:
  Bytes rest_;
  const CsvDialect dialect_;
  bool ended_ = false;
};
std::string undoubled(Bytes text);

// A number as CsvDataset and decode_csv take it: blanks around it and a plus
// are allowed, floats may be hexadecimal, inf and nan, and are infinite or zero
// where they do not fit. Types: int32, int64, float32, float64.
std::optional<Array> parse_csv_number(Bytes text, DType type);

}  // namespace stoker
