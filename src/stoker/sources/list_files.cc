#include "stoker/sources/list_files.h"

#include <algorithm>

#include <mutex>

#include "stoker/core/hash.h"
#include "stoker/io/glob.h"

namespace stoker {

struct ListFiles::Listing {
  std::once_flag once;
  Result<std::vector<std::string>> files = Error::internal("the files were not listed");

  const Result<std::vector<std::string>>& of(const std::vector<std::string>& patterns) {
    std::call_once(once, [&] { files = stoker::list_files(patterns); });
    return files;
  }
};

std::shared_ptr<ListFiles::Listing> ListFiles::new_listing() { return std::make_shared<Listing>(); }

Result<void> ListFiles::check() const {
  if (file_pattern.empty()) return Error::invalid("expected at least one file_pattern, got an empty list");
  const auto& files = listing->of(file_pattern);
  if (!files) return files.error();
  return {};
}

std::optional<ShuffleParams> ListFiles::order() const {
  if (!shuffle.value_or(true)) return std::nullopt;
  const auto& files = listing->of(file_pattern);
  const int64_t all = files ? std::max<int64_t>(1, static_cast<int64_t>(files->size())) : 1;
  return ShuffleParams{.buffer = all, .seed = seed};
}

Result<int64_t> ListFiles::length(Context&) const {
  const auto& files = listing->of(file_pattern);
  if (!files) return files.error();
  return static_cast<int64_t>(files->size());
}

Result<Element> ListFiles::at(int64_t i, Context&) const {
  const auto& files = listing->of(file_pattern);
  if (!files) return files.error();
  const auto place = static_cast<size_t>(i);  // a negative position becomes larger than any list
  if (place >= files->size())
    return Error::out_of_range("position ", i, " is outside a list of ", files->size(), " files");
  return Element(Array::of_bytes((*files)[place]));
}

// Hashes the names relative to their common folder, so that a moved dataset has the same fingerprint.
Result<std::string> ListFiles::fingerprint() const {
  const auto& files = listing->of(file_pattern);
  if (!files) return files.error();
  std::string_view folder = files->empty() ? std::string_view() : std::string_view(files->front());
  for (const std::string& file : *files) {
    const auto differ = std::ranges::mismatch(folder, std::string_view(file)).in1;
    folder = folder.substr(0, static_cast<size_t>(differ - folder.begin()));
  }
  folder = folder.substr(0, folder.rfind('/') + 1);
  uint64_t hash = 0;
  for (const std::string& file : *files) hash = hash_of(std::string_view(file).substr(folder.size()), hash);
  return std::to_string(files->size()) + " files, names " + hex_of(hash);
}

}  // namespace stoker
