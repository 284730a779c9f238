#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class LineReader;

// Files with a JSON object on each line, as dicts of the features asked for. A
// line that does not fit is one error, and the next line follows.
struct JsonLines {
  static constexpr std::string_view kName = "jsonl";
  static constexpr std::string_view kDoc = "Objects of JSON lines files as dicts of features.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;

  std::vector<std::string> filenames;
  std::vector<std::string> names;
  std::vector<DType> dtypes;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::optional<Array>> defaults;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t lines = 0;  // of this file read so far
    std::shared_ptr<LineReader> reader;
    void describe(Fields& f) {
      f("file", file);
      f("lines", lines);
    }
  };

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, read in order");
    f.required("names", names, "the features wanted: keys of the objects");
    f.required("dtypes", dtypes, "the type of each feature");
    f("shapes", shapes, "the shape of each feature, -1 for a side of any length; none: all are scalars");
    f("defaults", defaults, "the value of each feature where it is missing or null; null: then it is an error");
    f("compression_type", compression_type, "\"\", \"GZIP\", \"ZLIB\" or \"ZSTD\"");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  // The line as bytes, and its number.
  Result<std::optional<Element>> next(State& state, Context&) const;
  Result<Element> load(Element line, Context&) const;

  struct Structure;
  std::shared_ptr<Structure> structure = new_structure();  // of elements, made once; no parameter

 private:
  static std::shared_ptr<Structure> new_structure();
  const Nest* nest() const;
  std::vector<int64_t> shape(size_t feature) const { return shapes.empty() ? std::vector<int64_t>{} : shapes[feature]; }
  Result<void> open(State& state) const;
  Result<Element> parse(Bytes text) const;
  Result<Array> feature_of(const Json& object, size_t feature) const;
};

}  // namespace stoker
