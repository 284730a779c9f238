#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// Yields the rows of the arrays in NumPy's .npz files as dicts, along the first axis: a list. The files are read as a
// whole, once.
struct Npz {
  static constexpr std::string_view kName = "npz";
  static constexpr std::string_view kDoc = "Read the rows of the arrays in .npz files as dicts.";

  std::vector<std::string> filenames;

  void describe(Fields& f) {
    f.required_data("filenames", filenames, "paths of one or more files, in order; each contains the same arrays");
  }

  // Reads the files, once, when the dataset is built.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  struct Files;
  std::shared_ptr<Files> files = new_files();  // shared by copies; not a parameter

 private:
  static std::shared_ptr<Files> new_files();
};

// Reads the arrays of an .npz file as one dict of their names. Errors name the file.
Result<Element> read_npz(const std::string& path);

}  // namespace stoker
