#pragma once

#include <memory>

#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

namespace stoker {

// Yields the entries of idx files (the format of MNIST) along the first axis: a list.
struct Idx {
  static constexpr std::string_view kName = "idx";
  static constexpr std::string_view kDoc = "Read the entries of idx files (the format of MNIST), plain or GZIP.";

  std::vector<std::string> filenames;

  void describe(Fields& f) {
    f.required_data("filenames", filenames,
                    "paths of one or more files, in order; all entries have the same type and shape");
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

// Reads the array of an idx file, plain or GZIP. Errors name the file.
Result<Array> read_idx(const std::string& path);

}  // namespace stoker
