#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class ByteWindow;

// The records of files that have no framing: each has the same number of bytes.
// Plain files are a list, compressed ones a stream. A file that cannot be read,
// or whose size does not fit, is one error, and the next file follows.
struct FixedLengthRecords {
  static constexpr std::string_view kName = "fixed_length_records";
  static constexpr std::string_view kDoc = "Records of one length, between a header and a footer of each file.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;

  std::vector<std::string> filenames;
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t records = 0;  // of this file given so far
    std::shared_ptr<ByteWindow> window;
    void describe(Fields& f) {
      f("file", file);
      f("records", records);
    }
  };

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, read in order");
    f.required("record_bytes", record_bytes, "bytes of each record, at least 1");
    f("header_bytes", header_bytes, "bytes to skip at the front of each file");
    f("footer_bytes", footer_bytes, "bytes to leave out at the end of each file");
    f("compression_type", compression_type, "\"\", \"GZIP\", \"ZLIB\" or \"ZSTD\"; with one the files are a stream");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kBytes); }
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  bool by_position() const { return compression_type.empty(); }
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<std::optional<Element>> next(State& state, Context&) const;
  Result<Element> load(Element element, Context&) const;

  struct Files;
  std::shared_ptr<Files> files = new_files();  // shared by copies; no parameter

 private:
  static std::shared_ptr<Files> new_files();
  Files& opened() const;
  Result<void> open(State& state) const;
};

}  // namespace stoker
