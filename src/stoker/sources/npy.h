#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// The rows of NumPy's .npy files along the first dimension: a list. Rows are
// read where they lie; a file in Fortran order is read whole, once.
struct Npy {
  static constexpr std::string_view kName = "npy";
  static constexpr std::string_view kDoc = "Rows of .npy files.";

  std::vector<std::string> filenames;

  void describe(Fields& f) { f.required("filenames", filenames, "one file or several, in order; rows of one shape"); }

  // Looks at the headers: once, where the data set is made.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const { return Element(Array::of(i)); }
  Result<Element> load(Element element, Context& context) const;
  Result<std::string> fingerprint() const { return fingerprint_of(filenames); }

  class Files;
  std::shared_ptr<Files> files = new_files();  // shared by copies; no parameter

 private:
  static std::shared_ptr<Files> new_files();
};

}  // namespace stoker
