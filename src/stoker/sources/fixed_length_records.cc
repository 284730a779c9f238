#include "stoker/sources/fixed_length_records.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "stoker/core/record_limit.h"
#include "stoker/io/file_set.h"
#include "stoker/io/window.h"

namespace stoker {
namespace {

// Returns the number of records in a file of `bytes` bytes.
Result<int64_t> count_of(const FixedLengthRecords& stage, const std::string& path, int64_t bytes) {
  const int64_t body = bytes - stage.header_bytes - stage.footer_bytes;
  if (body < 0)
    return Error::invalid(path, " has ", bytes, " bytes, expected at least a header of ", stage.header_bytes,
                          " and a footer of ", stage.footer_bytes)
        .set_path(path);
  if (body % stage.record_bytes != 0)
    return Error::invalid(path, " has ", body, " bytes of records, expected a multiple of ", stage.record_bytes)
        .set_path(path);
  return body / stage.record_bytes;
}

Result<void> check_size(std::string_view name, int64_t bytes, int64_t least) {
  constexpr int64_t kMost = int64_t{1} << 40;  // sums of such sizes cannot overflow
  if (bytes >= least && bytes <= kMost) return {};
  return Error::invalid(name, " is ", bytes, ", expected ", least, " to ", kMost);
}

}  // namespace

// The uncompressed files as one list. A file that cannot be read has one position, which is its error.
struct FixedLengthRecords::Files {
  std::once_flag once;
  std::optional<FileSet> set;
  std::vector<int64_t> ends;                  // end of each file, as a position in the list
  std::vector<std::optional<Error>> failure;  // of each file

  void look_at(const FixedLengthRecords& stage) {
    set.emplace(stage.filenames);
    int64_t end = 0;
    for (size_t i = 0; i < set->size(); ++i) {
      const Result<int64_t> bytes = set->bytes_of(i);
      const Result<int64_t> count = bytes ? count_of(stage, set->path(i), *bytes) : Result<int64_t>(bytes.error());
      end += count ? *count : 1;
      ends.push_back(end);
      failure.push_back(count ? std::optional<Error>() : count.error());
    }
  }

  Result<Array> record(const FixedLengthRecords& stage, int64_t i) {
    const auto file = static_cast<size_t>(std::ranges::upper_bound(ends, i) - ends.begin());
    if (failure[file]) return *failure[file];
    const int64_t first = file == 0 ? 0 : ends[file - 1];
    return set->read(file, stage.header_bytes + (i - first) * stage.record_bytes, stage.record_bytes);
  }
};

std::shared_ptr<FixedLengthRecords::Files> FixedLengthRecords::new_files() { return std::make_shared<Files>(); }

FixedLengthRecords::Files& FixedLengthRecords::opened() const {
  std::call_once(files->once, [&] { files->look_at(*this); });
  return *files;
}

Result<void> FixedLengthRecords::check() const {
  STOKER_TRY(const Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  STOKER_TRY(check_size("record_bytes", record_bytes, 1));
  STOKER_TRY(check_size("header_bytes", header_bytes, 0));
  return check_size("footer_bytes", footer_bytes, 0);
}

Result<void> FixedLengthRecords::check_state(const State& state) const {
  if (state.file >= 0 && state.records >= 0 && state.records < kEndless / record_bytes) return {};
  return Error::invalid("the checkpoint is damaged: record ", state.records, " of file ", state.file);
}

Result<int64_t> FixedLengthRecords::length(Context&) const { return opened().ends.back(); }

Result<Element> FixedLengthRecords::load(Element element, Context&) const {
  if (!by_position()) return element;
  STOKER_TRY(Array record, opened().record(*this, element[0].scalar<int64_t>()));
  return Element(std::move(record));
}

// Opens the current file of the state and skips the header and the records that were already returned.
Result<void> FixedLengthRecords::open(State& state) const {
  STOKER_TRY(const Compression compression, compression_of(compression_type));
  STOKER_TRY(auto bytes, open_stream(filenames[static_cast<size_t>(state.file)], compression));
  const int64_t before = header_bytes + state.records * record_bytes;
  STOKER_TRY(bytes->skip(before));
  state.window = std::make_shared<ByteWindow>(std::move(bytes), before);
  return {};
}

Result<std::optional<Element>> FixedLengthRecords::next(State& state, Context&) const {
  const auto record = static_cast<size_t>(record_bytes), footer = static_cast<size_t>(footer_bytes);
  while (state.file < static_cast<int64_t>(filenames.size())) {
    Result<void> read = state.window ? Result<void>() : open(state);
    const int64_t limit = record_limit();
    if (read && record_bytes + footer_bytes > limit)
      read = record_too_large("record", state.window->path(), state.window->offset(), limit);
    if (read) read = state.window->fill(record + footer);
    const Bytes here = read ? state.window->bytes() : Bytes();
    if (read && here.size() >= record + footer) {
      Array bytes = Array::of_bytes(here.substr(0, record));
      bytes.owner()->set_source({state.window->path(), state.window->offset()});
      state.window->take(record);
      ++state.records;
      return std::optional<Element>(Element(std::move(bytes)));
    }
    const std::string& path = filenames[static_cast<size_t>(state.file)];
    const int64_t offset = state.window ? state.window->offset() : 0;
    const size_t left = here.size();
    ++state.file;
    state.records = 0;
    state.window.reset();
    if (!read) return read.error().place().path.empty() ? Error(read.error()).set_path(path) : read.error();
    if (left != footer)
      return Error::corrupt(path, " ends with ", left, " bytes after its last complete record, expected a footer of ",
                            footer)
          .set_path(path, offset);
  }
  return std::optional<Element>();
}

}  // namespace stoker
