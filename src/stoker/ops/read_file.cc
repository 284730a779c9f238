#include "stoker/ops/read_file.h"

#include <algorithm>
#include <cstring>

#include "stoker/core/record_limit.h"
#include "stoker/io/file.h"
#include "stoker/ops/call.h"
#include "stoker/ops/one_string.h"

namespace stoker {
namespace {

constexpr std::string_view kWhat = "the file path";

// Reads until the end of the file instead of up to its size: the file may grow or, like a pipe, have no size.
Result<Array> rest_of(File& file) {
  int64_t room = file.size() > 0 ? file.size() + 1 : 4096;
  int64_t used = 0;
  STOKER_TRY(Array block, Array::make({room}, DType::kUint8));
  while (true) {
    auto* text = static_cast<char*>(block.mutable_raw());
    STOKER_TRY(const size_t count, file.read({text + used, static_cast<size_t>(room - used)}));
    if (count == 0) break;
    used += static_cast<int64_t>(count);
    if (used < room) continue;
    if (const int64_t most = std::max(file.size(), record_limit()); room > most)
      return record_too_large("content", file.path(), 0, most);
    room *= 2;
    STOKER_TRY(Array larger, Array::make({room}, DType::kUint8));
    std::memcpy(larger.mutable_raw(), text, static_cast<size_t>(used));
    block = std::move(larger);
  }
  Buffer* owner = block.owner();
  owner->set_source({file.path()});
  owner->keep();
  return Array::view_bytes({static_cast<const char*>(block.raw()), static_cast<size_t>(used)}, owner);
}

}  // namespace

Result<LeafSpec> ReadFile::spec(std::span<const LeafSpec> inputs) const {
  STOKER_TRY(check_string(inputs[0], kWhat));
  return LeafSpec{DType::kBytes, std::vector<int64_t>{}};
}

Result<Array> ReadFile::apply(std::span<const Array> inputs, Context&) const {
  STOKER_TRY(const Bytes path, string_of(inputs[0], kWhat));
  STOKER_TRY(File file, File::open(std::string(path)));
  return rest_of(file);
}

Value io::read_file(Value filename) { return call(ReadFile{}, {std::move(filename)}); }

}  // namespace stoker
