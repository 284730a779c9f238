// Any bytes give the members of a tar file, or an error. Members that are reported as complete are
// at the reported offset of the archive, regardless of how the bytes arrive.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stoker/codecs/archive.h"
#include "stoker/core/error.h"
#include "stoker/sources/tar.h"

namespace stoker {
namespace {

class Pieces final : public ArchiveInput {
 public:
  Pieces(Bytes bytes, size_t piece, bool skips) : rest_(bytes), piece_(piece), skips_(skips) {}
  Result<Bytes> read() override {
    const Bytes next = rest_.substr(0, piece_);
    rest_.remove_prefix(next.size());
    return next;
  }
  Result<int64_t> skip(int64_t bytes) override {
    if (!skips_) return 0;
    const size_t count = std::min(static_cast<size_t>(bytes), rest_.size());
    rest_.remove_prefix(count);
    return static_cast<int64_t>(count);
  }

 private:
  Bytes rest_;
  const size_t piece_;
  const bool skips_;
};

void check(const ArchiveMember& member) {
  STOKER_CHECK(member.offset >= 0 && member.size >= 0);
  if (const auto name = tar_name_of(member.name))
    STOKER_CHECK(!name->key.empty() && name->key.size() + name->extension.size() < member.name.size());
}

std::vector<std::string> members_of(Bytes tar, size_t piece, bool skips) {
  std::vector<std::string> found;
  const auto reader = TarReader::open(std::make_unique<Pieces>(tar, piece, skips));
  while (reader && found.size() < 1000) {
    const auto member = (*reader)->next();
    if (!member || !*member) break;
    check(**member);
    const bool inside = (*member)->size <= static_cast<int64_t>(tar.size()) - (*member)->offset;
    if (!inside) break;
    const Bytes bytes = tar.substr(static_cast<size_t>((*member)->offset), static_cast<size_t>((*member)->size));
    if (!skips && (*member)->link.empty()) {
      const auto contents = (*reader)->contents(1 << 20);
      STOKER_CHECK(!contents || *contents == bytes);
    }
    found.push_back((*member)->name);
  }
  return found;
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const stoker::Bytes tar(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto read = stoker::members_of(tar, 1 + data[0], false);
  const auto skipped = stoker::members_of(tar, 1 << 16, true);
  STOKER_CHECK(read == skipped);
  return 0;
}
