#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class ByteWindow;

// Yields the records of files without framing, in which every record has the same number of bytes. Uncompressed files
// are a list, compressed files a stream. A file that cannot be read, or whose size does not fit, is one error, and the
// next file follows.
struct FixedLengthRecords {
  static constexpr std::string_view kName = "fixed_length_records";
  static constexpr std::string_view kDoc =
      "Read records of a fixed length from files with an optional header and footer.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t records = 0;  // of this file, already returned
    std::shared_ptr<ByteWindow> window;
    void describe(Fields& f) {
      f("file", file);
      f("records", records);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, read in order");
    f.required("record_bytes", record_bytes, "size of a record in bytes, at least 1");
    f("header_bytes", header_bytes, "bytes to skip at the start of each file");
    f("footer_bytes", footer_bytes, "bytes to skip at the end of each file");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file); "
      "compressed files are read as a stream");
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
  std::shared_ptr<Files> files = new_files();  // shared by copies; not a parameter

 private:
  static std::shared_ptr<Files> new_files();
  Files& opened() const;
  Result<void> open(State& state) const;
};

}  // namespace stoker
