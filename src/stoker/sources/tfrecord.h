#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class KeptMappings;
class RecordIndex;
class RecordReader;

// The records of one TFRecord file after the other, as byte strings: a stream
// of views of what is mapped or of the large blocks that are read. Plain files
// can be had by position, too, which takes an index (record_index.h). Damage is one error and the next
// whole record follows (codecs/tfrecord.h); a file that cannot be read is one
// error, and the next file follows.
struct TFRecord {
  static constexpr std::string_view kName = "tfrecord";
  static constexpr std::string_view kDoc = "Records of TFRecord files, plain or compressed.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;

  std::vector<std::string> filenames;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t offset = 0;  // of the next record, in what is uncompressed
    std::shared_ptr<RecordReader> reader;
    void describe(Fields& f) {
      f("file", file);
      f("offset", offset);
    }
  };

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, read in order");
    f("compression_type", compression_type, "\"\", \"GZIP\" or \"ZLIB\"");
  }

  Result<void> check() const;
  Result<void> check_state(const State& state) const {
    if (state.file < 0 || state.offset < 0 || state.offset > kEndless)
      return Error::invalid("the checkpoint is damaged: byte ", state.offset, " of file ", state.file);
    return {};
  }
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kBytes); }
  Result<std::optional<Element>> next(State& state, Context& context) const;
  Column next_rows(State& state, int64_t most, Context& context) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }
  std::string words(const Origin& origin) const;

  bool by_position() const { return listing; }
  std::optional<TFRecord> listed() const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<Element> load(Element element, Context&) const;

  // No parameters.
  bool listing = false;  // by position
  // Of plain files, shared by copies.
  std::shared_ptr<RecordIndex> index = new_index();
  std::shared_ptr<KeptMappings> mappings = new_mappings();

 private:
  static std::shared_ptr<RecordIndex> new_index();
  static std::shared_ptr<KeptMappings> new_mappings();
  Result<void> open(State& state) const;
  void learn(const State& state) const;
};

}  // namespace stoker
