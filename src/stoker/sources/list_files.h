#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Yields the names of files that match patterns. By default, the order is shuffled in each pass, as in tf.data.
struct ListFiles {
  static constexpr std::string_view kName = "list_files";
  static constexpr std::string_view kDoc = "Yield the names of the files that match a pattern. Files are listed once.";

  std::vector<std::string> file_pattern;
  std::optional<bool> shuffle;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required_data("file_pattern", file_pattern, "one or more patterns with *, ? and [a-z]");
    f("shuffle", shuffle, "use a different order in each pass; null: true; false: sort the names by their bytes");
    f("seed", seed, "seed of the order; null: drawn once, when the dataset is built");
  }

  // Lists the files, once, when the dataset is built.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kBytes); }
  std::optional<ShuffleParams> order() const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const;

  struct Listing;
  std::shared_ptr<Listing> listing = new_listing();  // shared by copies; not a parameter

 private:
  static std::shared_ptr<Listing> new_listing();
};

}  // namespace stoker
