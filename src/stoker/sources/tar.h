#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// Samples of tar files in WebDataset's layout: the members that share a key are
// one. Plain files are a list, indexed once; compressed ones a stream. A file
// that cannot be read, or is damaged, is one error, and the next file follows.
struct Tar {
  static constexpr std::string_view kName = "tar";
  static constexpr std::string_view kDoc = "Samples of tar files in WebDataset's layout, as dicts of bytes.";
  static constexpr bool kWaits = true;
  static constexpr bool kGoesOn = true;

  std::vector<std::string> filenames;
  std::vector<std::string> components;
  std::string compression_type;

  class Samples;
  struct State {
    int64_t file = 0;
    int64_t samples = 0;  // of this file given so far
    std::shared_ptr<Samples> reader;
    void describe(Fields& f) {
      f("file", file);
      f("samples", samples);
    }
  };

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, in order");
    f("components", components, "the extensions wanted, as \"jpg\", \"cls\"; none: those of the first sample");
    f("compression_type", compression_type, "\"\", \"GZIP\", \"ZLIB\" or \"ZSTD\"; with one the files are a stream");
  }

  // Indexes plain files: once, where the data set is made.
  Result<void> check() const;
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }
  std::string words(const Origin& origin) const;
  // Of one in a list: its file's number and its key, which is empty where the file ends before its end.
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
  std::shared_ptr<Index> index = new_index();  // shared by copies; no parameter

 private:
  struct SampleParts;
  static std::shared_ptr<Index> new_index();
  Result<void> open(State& state, const Context& context) const;
  Result<Element> element_of(SampleParts found, const std::string& path) const;
};

// The key and the extension of a member, as WebDataset finds them: "train/7" and
// "seg.png" of "./train/7.seg.PNG". Nothing for what is no part of a sample: a
// name without extension, hidden and meta files, what macOS adds.
struct TarName {
  std::string key;
  std::string extension;
};
std::optional<TarName> tar_name_of(std::string_view member);

}  // namespace stoker
