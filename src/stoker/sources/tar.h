#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// Yields the samples of tar files in WebDataset's layout: members with the same key form one sample. Uncompressed files
// are a list, which is indexed once; compressed files are a stream. A file that cannot be read, or is damaged, is one
// error, and the next file follows.
struct Tar {
  static constexpr std::string_view kName = "tar";
  static constexpr std::string_view kDoc =
      "Read the samples of tar files in WebDataset's layout as dicts of byte strings.";
  static constexpr bool kWaits = true;
  static constexpr bool kContinuesAfterError = true;

  std::vector<std::string> filenames;
  std::vector<std::string> components;
  std::string compression_type;

  class Samples;
  struct State {
    int64_t file = 0;
    int64_t samples = 0;  // of this file, already returned
    std::shared_ptr<Samples> reader;
    void describe(Fields& f) {
      f("file", file);
      f("samples", samples);
    }
  };

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, in order");
    f("components", components, "extensions to read, such as \"jpg\" and \"cls\"; empty: those of the first sample");
    f("compression_type", compression_type,
      "\"\", \"GZIP\", \"ZLIB\", \"ZSTD\" or \"AUTO\" (GZIP, ZSTD or none, by the first bytes of each file); "
      "compressed files are read as a stream");
  }

  // Indexes uncompressed files, once, when the dataset is built.
  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }
  RecordName describe_record(const Origin& origin) const;
  // Identifies a sample of a list by the number of its file and its key. The key is empty for the error of a file that
  // ends early.
  struct Name {
    size_t file;
    std::string key;
  };
  Name name_of(int64_t position) const;

  bool by_position() const { return compression_type.empty(); }
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<std::optional<Element>> next(State& state, Context&) const;
  Result<Element> load(Element element, Context&) const;

  class Index;
  std::shared_ptr<Index> index = new_index();  // shared by copies; not a parameter

 private:
  struct SampleParts;
  static std::shared_ptr<Index> new_index();
  Result<void> open(State& state, const Context& context) const;
  Result<Element> element_of(SampleParts found, const std::string& path) const;
};

// The key and the extension of a member, by WebDataset's rules: "./train/7.seg.PNG" has the key "train/7" and the
// extension "seg.png". Returns nothing for members that are not part of a sample: names without an extension, hidden
// and meta files, and files that macOS adds.
struct TarName {
  std::string key;
  std::string extension;
};
std::optional<TarName> tar_name_of(std::string_view member);

}  // namespace stoker
