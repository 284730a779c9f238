#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// The names of files that match patterns: shuffled anew in each pass, as
// tf.data does, unless told not to.
struct ListFiles {
  static constexpr std::string_view kName = "list_files";
  static constexpr std::string_view kDoc = "Names of the files that match a pattern, listed once.";

  std::vector<std::string> file_pattern;
  std::optional<bool> shuffle;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("file_pattern", file_pattern, "one pattern or several: * ? [a-z]");
    f("shuffle", shuffle, "another order in each pass; null: yes. Without it names come in byte order");
    f("seed", seed, "of that order; null: drawn once, when the data set is made");
  }

  // Lists the files: once, where the data set is made.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kBytes); }
  std::optional<EngineParams> order() const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const;

  struct Listing;
  std::shared_ptr<Listing> listing = new_listing();  // shared by copies; no parameter

 private:
  static std::shared_ptr<Listing> new_listing();
};

}  // namespace stoker
