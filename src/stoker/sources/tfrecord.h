#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

class KeptMappings;
class RecordIndex;
class RecordReader;

// Yields the records of one TFRecord file after the other, as byte strings: a stream of views of the mapped file, or of
// large blocks that are read. Uncompressed files can also be read by position, with an index (record_index.h). Damage
// is one error, and the next complete record follows (codecs/tfrecord.h). A file that cannot be read is one error, and
// the next file follows.
struct TFRecord {
  static constexpr std::string_view kName = "tfrecord";
  static constexpr std::string_view kDoc = "Read the records of TFRecord files, plain or compressed, as byte strings.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  std::string compression_type;

  struct State {
    int64_t file = 0;
    int64_t offset = 0;  // of the next record, in bytes of the decompressed file
    std::shared_ptr<RecordReader> reader;
    void describe(Fields& f) {
      f("file", file);
      f("offset", offset);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, read in order");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file)");
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
  RecordName describe_record(const Origin& origin) const;

  bool by_position() const { return listing; }
  std::optional<TFRecord> listed() const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<Element> load(Element element, Context&) const;

  // The members below are not parameters.
  bool listing = false;  // read by position
  // The index of uncompressed files, shared by copies.
  std::shared_ptr<RecordIndex> index = new_index();
  std::shared_ptr<KeptMappings> mappings = new_mappings();

 private:
  static std::shared_ptr<RecordIndex> new_index();
  static std::shared_ptr<KeptMappings> new_mappings();
  Result<void> open(State& state) const;
  void learn(const State& state) const;
};

}  // namespace stoker
