#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// The rows of the arrays in NumPy's .npz files as dicts, in step along the first
// dimension: a list. The files are read whole, once.
struct Npz {
  static constexpr std::string_view kName = "npz";
  static constexpr std::string_view kDoc = "Rows of the arrays in .npz files, as dicts.";

  std::vector<std::string> filenames;

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, in order; the same arrays in each");
  }

  // Reads the files: once, where the data set is made.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  struct Files;
  std::shared_ptr<Files> files = new_files();  // shared by copies; no parameter

 private:
  static std::shared_ptr<Files> new_files();
};

// The arrays of an .npz file by name, as one dict. Errors name the file.
Result<Element> read_npz(const std::string& path);

}  // namespace stoker
