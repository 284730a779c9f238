#include "stoker/sources/npz.h"

#include <algorithm>
#include <mutex>

#include "stoker/codecs/archive.h"
#include "stoker/core/record_limit.h"
#include "stoker/graph/npy.h"

namespace stoker {
namespace {

constexpr int64_t kMostRows = int64_t{1} << 48;  // rows without values take no space, so a header can claim any number

Result<Element> parse_npz(Bytes file) {
  // A small file can inflate to any size, so it is limited. Stored arrays are limited by the size of the file.
  const int64_t most = std::max(static_cast<int64_t>(file.size()), record_limit());
  STOKER_TRY(const auto members, read_zip(file, most));
  std::vector<std::pair<std::string, Element>> arrays;
  for (const auto& [member, bytes] : members) {
    Result<Array> array = parse_npy(bytes);
    if (!array) return Error::of(array.error().code(), "member ", member, ": ", array.error().message());
    const std::string name = member.ends_with(".npy") ? member.substr(0, member.size() - 4) : member;
    if (std::ranges::count(arrays, name, &std::pair<std::string, Element>::first) > 0)
      return Error::corrupt("the file contains the array ", name, " twice");
    arrays.emplace_back(name, Element(*std::move(array)));
  }
  if (arrays.empty()) return Error::invalid("the file contains no arrays");
  return dict_of(std::move(arrays));
}

// Returns the number of rows that all arrays have.
Result<int64_t> rows_of(const Element& arrays) {
  const Array& first = arrays.leaves[0];
  for (size_t i = 0; i < arrays.leaves.size(); ++i) {
    const Array& array = arrays.leaves[i];
    if (array.rank() == 0)
      return Error::invalid("the array ", arrays.nest->path_of(i), " is a scalar, expected at least one axis");
    if (array.dim(0) != first.dim(0))
      return Error::invalid("the array ", arrays.nest->path_of(i), " has ", array.dim(0), " rows, but ",
                            arrays.nest->path_of(0), " has ", first.dim(0));
  }
  if (first.dim(0) > kMostRows)
    return Error::invalid("the arrays have ", first.dim(0), " rows, expected at most ", kMostRows);
  return first.dim(0);
}

Element row_of(const Element& arrays, int64_t i) {
  Element row(arrays.nest, {});
  for (const Array& array : arrays.leaves) row.leaves.emplace_back(array.row(i));
  return row;
}

Spec row_spec(const Element& arrays) {
  Spec spec = arrays.spec();
  for (LeafSpec& leaf : spec.leaves) leaf.shape->erase(leaf.shape->begin());
  return spec;
}

}  // namespace

Result<Element> read_npz(const std::string& path) {
  STOKER_TRY(const MappedFile file, MappedFile::open(path));
  Result<Element> arrays = parse_npz(file.bytes());
  if (file.was_cut()) return truncated_error(path, -1);
  if (!arrays) return Error::of(arrays.error().code(), path, ": ", arrays.error().message()).set_path(path);
  return arrays;
}

struct Npz::Files {
  std::once_flag once;
  Result<void> read;
  std::vector<Element> arrays;  // of each file
  std::vector<int64_t> ends;    // end of each file, as a row of the list

  const Result<void>& of(const std::vector<std::string>& paths) {
    std::call_once(once, [&] { read = read_all(paths); });
    return read;
  }

  Result<void> read_all(const std::vector<std::string>& paths) {
    int64_t end = 0;
    for (const std::string& path : paths) {
      STOKER_TRY(Element found, read_npz(path));
      const Result<int64_t> rows = rows_of(found);
      if (!rows) return Error::invalid(path, ": ", rows.error().message()).set_path(path);
      if (!arrays.empty() && row_spec(found) != row_spec(arrays[0]))
        return Error::invalid("rows of ", path, " are ", row_spec(found).describe(), ", expected ",
                              row_spec(arrays[0]).describe(), " as in the first file")
            .set_path(path);
      arrays.push_back(std::move(found));
      ends.push_back(end += *rows);
    }
    return {};
  }
};

std::shared_ptr<Npz::Files> Npz::new_files() { return std::make_shared<Files>(); }

Result<void> Npz::check() const {
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  return files->of(filenames);
}

Result<Spec> Npz::spec(std::span<const Spec>) const {
  STOKER_TRY(files->of(filenames));
  return row_spec(files->arrays[0]);
}

Result<int64_t> Npz::length(Context&) const {
  STOKER_TRY(files->of(filenames));
  return files->ends.back();
}

Result<Element> Npz::at(int64_t i, Context&) const {
  const auto file = static_cast<size_t>(std::ranges::upper_bound(files->ends, i) - files->ends.begin());
  return row_of(files->arrays[file], i - (file == 0 ? 0 : files->ends[file - 1]));
}

}  // namespace stoker
