#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class LineReader;

// Yields the lines of one file after the other, by the rules of tf.data's TextLineDataset. A file that cannot be read
// is one error, and the next file follows.
struct TextLines {
  static constexpr std::string_view kName = "text_lines";
  static constexpr std::string_view kDoc = "Read the lines of text files, plain or compressed.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t lines = 0;  // of this file, already returned
    std::shared_ptr<LineReader> reader;
    void describe(Fields& f) {
      f("file", file);
      f("lines", lines);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, read in order");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file)");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const {
    if (state.file < 0 || state.lines < 0 || state.lines > kEndless)
      return Error::invalid("the checkpoint is damaged: line ", state.lines, " of file ", state.file);
    return {};
  }
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kBytes); }
  Result<std::optional<Element>> next(State& state, Context&) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

 private:
  Result<void> open(State& state) const;
};

}  // namespace stoker
