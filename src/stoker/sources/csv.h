#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class ByteWindow;
struct CsvEnd;

// Yields the records of CSV files as tuples of scalars, by the rules of tf.data's CsvDataset. A record that breaks the
// rules is one error, and the next line follows.
struct Csv {
  static constexpr std::string_view kName = "csv";
  static constexpr std::string_view kDoc = "Read the records of CSV files as tuples of numbers and strings.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  std::vector<Array> record_defaults;
  std::string compression_type;
  bool header = false;
  std::string field_delim = ",";
  bool use_quote_delim = true;
  std::string na_value;
  std::vector<int64_t> select_cols;
  std::vector<int64_t> exclude_cols;

  struct State {
    int64_t file = 0;
    int64_t offset = 0;  // of the next record, in bytes of the decompressed file
    int64_t line = 0;    // on which it starts, from 0
    std::shared_ptr<ByteWindow> window;
    void describe(Fields& f) {
      f("file", file);
      f("offset", offset);
      f("line", line);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, read in order");
    f.required("record_defaults", record_defaults,
               "for each column, the value of an empty field; its type (int32, int64, float32, float64, string) is the "
               "type of the column; an empty array: an empty field is an error");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file)");
    f("header", header, "skip the first record of each file");
    f("field_delim", field_delim, "separator of fields, one byte");
    f("use_quote_delim", use_quote_delim, "false: treat quotes as ordinary characters");
    f("na_value", na_value, "text that also counts as an empty field");
    f("select_cols", select_cols, "numbers of the columns to read, from 0 and increasing; empty: all");
    f("exclude_cols", exclude_cols,
      "numbers of the columns to skip, from 0 and increasing; cannot be combined with select_cols");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  // Returns the bytes of the record and the number of its line.
  Result<std::optional<Element>> next(State& state, Context& context) const;
  Result<Element> load(Element record, Context&) const;

  struct Structure;
  std::shared_ptr<Structure> structure = new_structure();  // of elements, built once; not a parameter

 private:
  static std::shared_ptr<Structure> new_structure();
  bool is_wanted(int64_t column, size_t found) const;
  bool is_missing(Bytes text) const;
  Result<Array> value_of(Bytes text, bool doubled, size_t output, const Array& record) const;
  std::string describe_column(int64_t column, const std::string& path) const;
  Result<void> open(State& state) const;
  Result<void> open_records(State& state) const;
  Result<Array> take_header(State& state) const;
  Result<std::optional<Element>> next_record(State& state, const Context& context) const;
  Result<std::optional<CsvEnd>> find_end(ByteWindow& window, const Context& context) const;
  Result<void> pass_line(ByteWindow& window, const Context& context) const;
};

}  // namespace stoker
