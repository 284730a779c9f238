#include "stoker/io/kept_mappings.h"

#include <algorithm>

namespace stoker {

std::shared_ptr<const MappedFile> KeptMappings::map(const File& file) {
  const FileIdentity identity = file.identity();
  const MutexLock lock(mutex_);
  const auto known = std::ranges::find(kept_, identity, &Kept::file);
  if (known != kept_.end() && !known->mapping->was_cut()) {
    kept_.splice(kept_.end(), kept_, known);
    return known->mapping;
  }
  std::optional<MappedFile> mapped = MappedFile::map(file);
  if (!mapped) return nullptr;
  auto mapping = std::make_shared<const MappedFile>(*std::move(mapped));
  if (known != kept_.end()) kept_.erase(known);
  if (file.size() > at_most_) return mapping;
  make_room(file.size());
  kept_.push_back({identity, mapping});
  return mapping;
}

void KeptMappings::make_room(int64_t bytes) {
  for (const Kept& kept : kept_) bytes += kept.file.bytes;
  for (; bytes > at_most_; kept_.pop_front()) bytes -= kept_.front().file.bytes;
}

}  // namespace stoker
