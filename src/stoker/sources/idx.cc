#include "stoker/sources/idx.h"

#include <algorithm>
#include <mutex>

#include "stoker/codecs/idx.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/record_limit.h"
#include "stoker/io/file.h"
#include "stoker/io/stream.h"

namespace stoker {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

// Reads the rest of the file. A small GZIP file can decompress to any size, so it is limited; a plain file is limited
// by its own size.
Result<std::string> rest_of(ByteStream& stream, int64_t file_bytes) {
  const int64_t most = std::max(file_bytes, record_limit());
  std::string bytes;
  while (true) {
    stop_if_interrupted();
    const size_t used = bytes.size();
    bytes.resize(used + kPieceBytes);
    STOKER_TRY(const size_t count, stream.read(std::span(bytes).subspan(used)));
    bytes.resize(used + count);
    if (count == 0) return bytes;
    if (static_cast<int64_t>(bytes.size()) > most) return record_too_large("array", stream.path(), 0, most);
  }
}

// The entries of all files, concatenated.
struct Entries {
  std::vector<Array> arrays;
  std::vector<int64_t> ends;  // end of each file, as an entry of the list
};

Result<void> check_like(const Array& array, const Array& first, const std::string& path) {
  if (array.rank() == 0) return Error::invalid(path, " contains a scalar, expected at least one axis");
  const Dims entry = array.shape().subspan(1), wanted = first.shape().subspan(1);
  if (array.type() == first.type() && std::ranges::equal(entry, wanted)) return {};
  return Error::invalid("entries of ", path, " are ", name_of(array.type()), " of shape ", shape_text(entry),
                        ", expected ", name_of(first.type()), " of shape ", shape_text(wanted),
                        " as in the first file");
}

Result<Entries> read_all(const std::vector<std::string>& paths) {
  Entries entries;
  int64_t end = 0;
  for (const std::string& path : paths) {
    STOKER_TRY(Array array, read_idx(path));
    STOKER_TRY(check_like(array, entries.arrays.empty() ? array : entries.arrays[0], path));
    end += array.dim(0);
    entries.arrays.push_back(std::move(array));
    entries.ends.push_back(end);
  }
  return entries;
}

}  // namespace

Result<Array> read_idx(const std::string& path) {
  STOKER_TRY(File file, File::open(path));
  const int64_t file_bytes = file.size();
  STOKER_TRY(const std::unique_ptr<ByteStream> stream, open_stream(std::move(file), Compression::kAuto));
  STOKER_TRY(const std::string bytes, rest_of(*stream, file_bytes));
  Result<Array> array = parse_idx(bytes);
  if (!array) return Error(array.error().code(), path + ": " + array.error().message()).set_path(path);
  if (Buffer* owner = array->owner()) owner->set_source({path});
  return array;
}

struct Idx::Files {
  std::once_flag once;
  Result<Entries> entries = Error::internal("the files were not read");

  const Result<Entries>& of(const std::vector<std::string>& paths) {
    std::call_once(once, [&] { entries = read_all(paths); });
    return entries;
  }
};

std::shared_ptr<Idx::Files> Idx::new_files() { return std::make_shared<Files>(); }

Result<void> Idx::check() const {
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  const auto& entries = files->of(filenames);
  if (!entries) return entries.error();
  return {};
}

Result<Spec> Idx::spec(std::span<const Spec>) const {
  const auto& entries = files->of(filenames);
  if (!entries) return entries.error();
  Spec spec = Element(entries->arrays[0]).spec();
  spec.leaves[0].shape->erase(spec.leaves[0].shape->begin());
  return spec;
}

Result<int64_t> Idx::length(Context&) const {
  const auto& entries = files->of(filenames);
  if (!entries) return entries.error();
  return entries->ends.back();
}

Result<Element> Idx::at(int64_t i, Context&) const {
  const auto& entries = files->of(filenames);
  if (!entries) return entries.error();
  const auto file = static_cast<size_t>(std::ranges::upper_bound(entries->ends, i) - entries->ends.begin());
  const Array& array = entries->arrays[file];
  return Element(array.row(i - (entries->ends[file] - array.dim(0))));
}

}  // namespace stoker
