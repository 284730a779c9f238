#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// The entries of idx files, the form of MNIST, along the first dimension.
struct Idx {
  static constexpr std::string_view kName = "idx";
  static constexpr std::string_view kDoc = "Entries of idx files (MNIST), plain or GZIP.";

  std::vector<std::string> filenames;

  void describe(Fields& f) {
    f.required("filenames", filenames, "one file or several, in order; entries of one shape");
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

// The array of an idx file, plain or GZIP. Errors name the file.
Result<Array> read_idx(const std::string& path);

}  // namespace stoker
