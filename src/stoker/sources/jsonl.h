#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class JsonFeature;
class LineReader;

// Yields the objects of JSON Lines files, one per line, as dicts of the requested features. A line that does not fit is
// one error, and the next line follows.
struct JsonLines {
  static constexpr std::string_view kName = "jsonl";
  static constexpr std::string_view kDoc = "Read the objects of JSON Lines files as dicts of features.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  std::vector<std::string> names;
  std::vector<DType> dtypes;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::optional<Array>> defaults;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t lines = 0;  // of this file, already read
    std::shared_ptr<LineReader> reader;
    void describe(Fields& f) {
      f("file", file);
      f("lines", lines);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, read in order");
    f.required("names", names, "keys of the features to read");
    f.required("dtypes", dtypes, "type of each feature");
    f("shapes", shapes, "shape of each feature, with -1 for an axis of any length; empty: all features are scalars");
    f("defaults", defaults, "for each feature, its value if the key is missing or null; null: this is an error");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file)");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  // Returns the bytes of the line and its number.
  Result<std::optional<Element>> next(State& state, Context&) const;
  Result<Element> load(Element line, Context&) const;

  struct Structure;
  std::shared_ptr<Structure> structure = new_structure();  // of elements, built once; not a parameter

 private:
  static std::shared_ptr<Structure> new_structure();
  const Nest* nest() const;
  std::vector<int64_t> shape(size_t feature) const { return shapes.empty() ? std::vector<int64_t>{} : shapes[feature]; }
  Result<void> open(State& state) const;
  Result<Element> parse(Bytes text) const;
  Result<Array> feature_of(JsonFeature& feature, size_t number) const;
};

}  // namespace stoker
