#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// Yields the rows of NumPy's .npy files along the first axis: a list. Rows are read individually. A file in Fortran
// order is read as a whole, once.
struct Npy {
  static constexpr std::string_view kName = "npy";
  static constexpr std::string_view kDoc = "Read the rows of .npy files.";

  std::vector<std::string> filenames;

  void describe(Fields& f) {
    f.required_data("filenames", filenames,
                    "paths of one or more files, in order; all rows have the same type and shape");
  }

  // Reads the headers, once, when the dataset is built.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<Element> load(Element element, Context& context) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  class Files;
  std::shared_ptr<Files> files = new_files();  // shared by copies; not a parameter

 private:
  static std::shared_ptr<Files> new_files();
};

}  // namespace stoker
