#pragma once

#include <optional>
#include <string>

#include "stoker/core/array.h"

namespace stoker {

// RFC 4180 as tf.data's CsvDataset reads it. A record ends at "\n", "\r" or "\r\n". A field that
// starts with a quote ends at the next quote that is not doubled, and may contain delimiters and
// line ends. Other fields contain no quotes.
struct CsvDialect {
  char delimiter = ',';
  bool quotes = true;  // false: a quote is an ordinary character
};

// The end of the first record of a text.
struct CsvEnd {
  size_t record = 0;              // its size without the line end
  size_t taken = 0;               // its size with the line end
  const char* problem = nullptr;  // what is wrong with its quotes; the record is then only its first line
  size_t problem_at = 0;          // in the text
};
// Returns nothing if more of the text is needed, which never happens if `whole`. The text must not
// be empty.
std::optional<CsvEnd> find_csv_end(Bytes text, bool whole, CsvDialect dialect);

// Iterates over the fields of a record without a problem. There is at least one field.
class CsvFields {
 public:
  CsvFields(Bytes record, CsvDialect dialect) : rest_(record), dialect_(dialect) {}

  // The text between the quotes, if there are any.
  struct Field {
    Bytes text;
    bool doubled = false;  // it contains doubled quotes: see undoubled()
  };
  // Returns nothing after the last field.
  std::optional<Field> next();

 private:
  Bytes rest_;
  const CsvDialect dialect_;
  bool ended_ = false;
};
// Replaces doubled quotes by single ones.
std::string undoubled(Bytes text);

// Parses a number as CsvDataset and decode_csv do. It may have white space around it and a plus
// sign. Floats may be hexadecimal, inf or nan, and become infinite or zero if they are out of
// range. Returns nothing if the text is not a number. Types: int32, int64, float32, float64.
std::optional<Array> parse_csv_number(Bytes text, DType type);

}  // namespace stoker
