#include "stoker/sources/npy.h"

#include <algorithm>
#include <mutex>

#include "stoker/graph/npy.h"
#include "stoker/io/file_set.h"

namespace stoker {
namespace {

constexpr int64_t kMostRows = int64_t{1} << 48;  // rows without values take no space, so a header can claim any number

}  // namespace

// The rows of all files, concatenated.
class Npy::Files {
 public:
  // Reads the headers at the first call.
  const Result<void>& of(const std::vector<std::string>& paths) {
    std::call_once(once_, [&] { looked_ = look_at(paths); });
    return looked_;
  }

  int64_t length() const { return ends_.back(); }
  Spec spec() const {
    return {Nest::leaf(),
            {{headers_[0].type, std::vector<int64_t>(headers_[0].dims.begin() + 1, headers_[0].dims.end())}}};
  }

  Result<Array> row(int64_t i, const Context& context) {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, i) - ends_.begin());
    const NpyHeader& header = headers_[file];
    i -= ends_[file] - header.dims[0];
    if (whole_[file]) return whole_[file]->row(i);
    STOKER_TRY(Array row, context.output(0, Dims(header.dims).subspan(1), header.type));
    const auto bytes = row.count() * static_cast<int64_t>(size_of(header.type));
    STOKER_TRY(set_->read(file, header.values_at + i * bytes,
                          {static_cast<char*>(row.mutable_raw()), static_cast<size_t>(bytes)}));
    convert_npy_values(header, row);
    return row;
  }

 private:
  Result<void> look_at(const std::vector<std::string>& paths) {
    set_.emplace(paths);
    int64_t end = 0;
    for (size_t file = 0; file < paths.size(); ++file) {
      Result<void> added = add(file);
      if (!added && added.error().place().path.empty())
        return Error::of(added.error().code(), paths[file], ": ", added.error().message()).set_path(paths[file]);
      if (!added) return added;
      end += headers_.back().dims[0];
      ends_.push_back(end);
    }
    return {};
  }

  Result<void> add(size_t file) {
    STOKER_TRY(const int64_t size, set_->bytes_of(file));
    STOKER_TRY(NpyHeader header, read_npy_header(size, [&](size_t offset, char* to, size_t bytes) {
                 return set_->read(file, static_cast<int64_t>(offset), {to, bytes});
               }));
    if (header.dims.empty()) return Error::invalid("the array is a scalar, expected at least one axis");
    if (header.dims[0] > kMostRows)
      return Error::invalid("the array has ", header.dims[0], " rows, expected at most ", kMostRows);
    const Dims row = Dims(header.dims).subspan(1);
    const Dims first = Dims(headers_.empty() ? header.dims : headers_[0].dims).subspan(1);
    const DType type = headers_.empty() ? header.type : headers_[0].type;
    if (header.type != type || !std::ranges::equal(row, first))
      return Error::invalid("rows are ", name_of(header.type), " of shape ", shape_text(row), ", expected ",
                            name_of(type), " of shape ", shape_text(first), " as in the first file");
    whole_.emplace_back();
    if (header.fortran) {
      STOKER_TRY(whole_.back(), read_npy(set_->path(file)));
    }
    headers_.push_back(std::move(header));
    return {};
  }

  std::once_flag once_;
  Result<void> looked_;
  std::optional<FileSet> set_;
  std::vector<NpyHeader> headers_;
  std::vector<std::optional<Array>> whole_;  // the array of each file that cannot be read by rows
  std::vector<int64_t> ends_;                // end of each file, as a row of the list
};

std::shared_ptr<Npy::Files> Npy::new_files() { return std::make_shared<Files>(); }

Result<void> Npy::check() const {
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  return files->of(filenames);
}

Result<Spec> Npy::spec(std::span<const Spec>) const {
  STOKER_TRY(files->of(filenames));
  return files->spec();
}

Result<int64_t> Npy::length(Context&) const {
  STOKER_TRY(files->of(filenames));
  return files->length();
}

Result<Element> Npy::load(Element element, Context& context) const {
  STOKER_TRY(files->of(filenames));
  STOKER_TRY(Array row, files->row(element[0].scalar<int64_t>(), context));
  return Element(std::move(row));
}

}  // namespace stoker
