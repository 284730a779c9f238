#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class ByteWindow;
struct CsvEnd;

// The records of CSV files as tuples of scalars, by CsvDataset's rules. A
// record that breaks them is one error and costs its line alone.
struct Csv {
  static constexpr std::string_view kName = "csv";
  static constexpr std::string_view kDoc = "Records of CSV files as tuples of numbers and strings.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;

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
    int64_t offset = 0;  // of the next record, in what is uncompressed
    int64_t line = 0;    // on which it begins, the first being 0
    std::shared_ptr<ByteWindow> window;
    void describe(Fields& f) {
      f("file", file);
      f("offset", offset);
      f("line", line);
    }
  };

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, read in order");
    f.required("record_defaults", record_defaults,
               "for each column the value of an empty field, whose type is the column's (int32, int64, float32, "
               "float64, string); an empty array where the field is required");
    f("compression_type", compression_type, "\"\", \"GZIP\", \"ZLIB\" or \"ZSTD\"");
    f("header", header, "whether the first record of each file is left out");
    f("field_delim", field_delim, "the one byte between fields");
    f("use_quote_delim", use_quote_delim, "false: quotes are like any other character");
    f("na_value", na_value, "counts as an empty field, besides one that is empty");
    f("select_cols", select_cols, "the columns wanted, rising from 0; none: all");
    f("exclude_cols", exclude_cols, "the columns left out, rising from 0; not with select_cols");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  // The record as bytes, and its line.
  Result<std::optional<Element>> next(State& state, Context& context) const;
  Result<Element> load(Element record, Context&) const;

  struct Structure;
  std::shared_ptr<Structure> structure = new_structure();  // of elements, made once; no parameter

 private:
  static std::shared_ptr<Structure> new_structure();
  bool is_wanted(int64_t column, size_t found) const;
  Result<Array> value_of(Bytes text, bool doubled, size_t output, int64_t column, const Array& record) const;
  Result<void> open(State& state) const;
  Result<std::optional<Element>> next_record(State& state, const Context& context) const;
  Result<std::optional<CsvEnd>> find_end(ByteWindow& window, const Context& context) const;
  Result<void> pass_line(ByteWindow& window, const Context& context) const;
};

}  // namespace stoker
