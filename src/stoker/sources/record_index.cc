#include "stoker/sources/record_index.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Returns $STOKER_CACHE, or `stoker` in the user's cache folder, or an empty path if there is no such folder.
fs::path cache_folder() {
  if (const char* own = std::getenv("STOKER_CACHE"); own && *own) return own;
  if (const char* all = std::getenv("XDG_CACHE_HOME"); all && *all) return fs::path(all) / "stoker";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "stoker";
  return {};
}

fs::path beside(const fs::path& file) { return file.parent_path() / ".stoker" / (file.filename().string() + ".index"); }

fs::path in_cache(const fs::path& file) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  std::error_code problem;
  const fs::path whole = fs::absolute(file, problem).lexically_normal();
  return folder / "index" / (hex_of(hash_of(whole.string())) + ".index");
}

// A copy has the same bytes and another modification time. In this case, the index is checked against some record
// headers.
bool headers_fit(const IndexView& index, const std::string& path) {
  constexpr int64_t kLookedAt = 64;
  FileSet file({path});
  const int64_t n = index.records(), step = std::max<int64_t>(1, n / kLookedAt);
  for (int64_t i = 0; i < n; i += step) {
    char header[kRecordHeaderBytes];
    if (!file.read(0, index.place(i), header)) return false;
    const std::optional<uint64_t> length = record_length({header, sizeof(header)});
    if (!length || *length + kRecordHeaderBytes + kRecordFooterBytes != static_cast<uint64_t>(index.bytes(i)))
      return false;
  }
  return true;
}

// Compares the size, the first bytes and the last bytes of the file.
bool is_another(const std::string& path, const FileMark& counted) {
  const Result<FileMark> now = mark_of(path);
  return now && (now->bytes != counted.bytes || now->ends_hash != counted.ends_hash);
}

Error changed(const std::string& path, int64_t place) {
  return Error::corrupt(path, " has changed since its records were counted; build the dataset again")
      .set_path(path, place);
}

}  // namespace

std::vector<std::string> index_paths_of(const std::string& path) {
  std::vector<std::string> places{beside(path).string()};
  if (const fs::path cache = in_cache(path); !cache.empty()) places.push_back(cache.string());
  return places;
}

std::optional<FileIndex> FileIndex::kept(const std::string& path) {
  const Result<FileMark> mark = mark_of(path);
  if (!mark) return std::nullopt;
  for (const std::string& place : index_paths_of(path))
    if (std::optional<FileIndex> index = kept_at(place, path, *mark)) return index;
  return std::nullopt;
}

std::optional<FileIndex> FileIndex::kept_at(const std::string& index_path, const std::string& path,
                                            const FileMark& mark) {
  Result<MappedFile> file = MappedFile::open(index_path);
  if (!file) return std::nullopt;
  const auto mapped = std::make_shared<const MappedFile>(*std::move(file));
  Result<IndexView> view = IndexView::of(mapped->bytes());
  if (!view || !view->file().same_bytes(mark)) return std::nullopt;
  if (view->file().changed_ns != mark.changed_ns && !headers_fit(*view, path)) return std::nullopt;
  if (mapped->was_cut()) return std::nullopt;
  FileIndex index;
  index.owner_ = mapped;
  index.mapped_ = mapped.get();
  index.bytes_ = mapped->bytes();
  index.view_ = *std::move(view);
  return index;
}

Result<FileIndex> FileIndex::made(const std::string& path) {
  STOKER_TRY(const MappedFile file, MappedFile::open(path));
  file.expect_jumps();
  const std::vector<int64_t> places = places_of_records(file.bytes());
  if (file.was_cut()) return truncated_error(path, -1);
  return of(path, static_cast<int64_t>(file.bytes().size()), places);
}

// If the file has grown in the meantime, its mark does not match the stored index, which is then not used.
Result<FileIndex> FileIndex::of(const std::string& path, int64_t bytes, const std::vector<int64_t>& places,
                                const std::vector<int64_t>& labels) {
  STOKER_TRY(FileMark mark, mark_of(path));
  mark.bytes = bytes;
  const auto whole = std::make_shared<const std::string>(index_to_bytes(mark, places, labels));
  FileIndex index;
  index.owner_ = whole;
  index.bytes_ = *whole;
  STOKER_TRY(index.view_, IndexView::of(*whole));
  return index;
}

Result<void> FileIndex::keep_beside(const std::string& path) const { return write(beside(path)); }

Result<void> FileIndex::keep_in_cache(const std::string& path) const {
  const fs::path place = in_cache(path);
  if (place.empty()) return Error::precondition("no cache folder: neither STOKER_CACHE nor HOME is set");
  return write(place);
}

// Writes to a temporary file and renames it, so that an index file is always complete.
Result<void> FileIndex::write(const std::string& index_path) const {
  static std::atomic<int> written{0};
  std::error_code problem;
  fs::create_directories(fs::path(index_path).parent_path(), problem);
  const std::string partial =
      index_path + "." + std::to_string(getpid()) + "-" + std::to_string(written++) + ".partial";
  std::ofstream out(partial, std::ios::binary);
  out << bytes_;
  out.close();
  if (!out) {
    const Error error = Error::io("cannot write ", partial).set_path(partial);
    fs::remove(partial, problem);
    return error;
  }
  fs::rename(partial, index_path, problem);
  if (problem) return Error::io("cannot write ", index_path).set_path(index_path);
  return {};
}

void RecordIndex::begin(const std::vector<std::string>& paths) {
  if (files_) return;
  files_.emplace(paths);
  known_.resize(paths.size());
}

RecordIndex::Known RecordIndex::look_at(size_t file) {
  const std::string& path = files_->path(file);
  if (Result<int64_t> bytes = files_->bytes_of(file); !bytes) return {{}, std::move(bytes).error()};
  if (std::optional<FileIndex> kept = FileIndex::kept(path)) return {*std::move(kept), {}};
  Result<FileIndex> made = FileIndex::made(path);
  if (!made) return {{}, std::move(made).error()};
  if (made->view().file().bytes >= kWorthKeeping)
    (void)made->keep_in_cache(path);  // a read-only home directory is not an error
  return {*std::move(made), {}};
}

// Reads several files in parallel, because each thread waits for the headers of its own file.
void RecordIndex::look_at_unknown() {
  constexpr size_t kAtOnce = 16;
  std::vector<size_t> unknown;
  for (size_t file = 0; file < known_.size(); ++file)
    if (!known_[file]) unknown.push_back(file);
  std::atomic<size_t> next{0};
  run_on_threads(std::min(kAtOnce, unknown.size()), [&] {
    for (size_t i; (i = next++) < unknown.size();) {
      stop_if_interrupted();
      known_[unknown[i]] = look_at(unknown[i]);
    }
  });
}

int64_t RecordIndex::records(const std::vector<std::string>& paths) {
  const std::lock_guard lock(mutex_);
  begin(paths);
  if (begins_.empty()) {
    look_at_unknown();
    begins_.push_back(0);
    for (const std::optional<Known>& file : known_) begins_.push_back(begins_.back() + file->records());
  }
  return begins_.back();
}

std::string RecordIndex::describe_record(const std::vector<std::string>& paths, int64_t record) {
  const std::lock_guard lock(mutex_);
  begin(paths);
  bool more = record >= 0;
  for (size_t file = 0; more && file < known_.size(); ++file) {
    more = known_[file].has_value();
    if (!more) known_[file] = look_at(file);
    const Known& known = *known_[file];
    if (record < known.records())
      return known.error ? std::string() : "record " + std::to_string(record) + " of " + paths[file];
    record -= known.records();
  }
  return {};
}

Result<Array> RecordIndex::read(int64_t record) {
  const auto above = std::upper_bound(begins_.begin(), begins_.end() - 1, record);
  const auto number = static_cast<size_t>(above - begins_.begin()) - 1;
  const Known& known = *known_[number];
  if (known.error) return *known.error;
  const std::string& path = files_->path(number);
  const IndexView& index = known.index.view();
  const int64_t place = index.place(record - begins_[number]), bytes = index.bytes(record - begins_[number]);
  if (known.index.was_cut()) return known.index.truncated();
  STOKER_TRY(const int64_t there, files_->bytes_of(number));
  if (place < 0 || bytes <= 0 || bytes > there - place || there < index.file().bytes) return changed(path, place);
  // The record is too short for a header, but the file continues, so the record is not truncated.
  if (bytes < static_cast<int64_t>(kRecordHeaderBytes) && place + bytes < index.file().bytes)
    return damaged_stretch(place, bytes, {}).set_path(path, place);
  Result<Array> payload = read(number, place, bytes);
  if (!payload && is_another(path, index.file())) return changed(path, place);
  return payload;
}

Result<Array> RecordIndex::read(size_t file, int64_t place, int64_t bytes) {
  const std::string& path = files_->path(file);
  STOKER_TRY(Buffer * buffer, Buffer::make(static_cast<size_t>(bytes)));
  const std::span<char> frame(reinterpret_cast<char*>(buffer->data()), static_cast<size_t>(bytes));
  // Errors about a payload name the offset of its record.
  buffer->set_source({path, place - static_cast<int64_t>(kRecordHeaderBytes)});
  const Array keeper = Array::view_bytes({}, buffer);
  STOKER_TRY(files_->read(file, place, frame));
  RecordParser::Step step = RecordParser(place).step({frame.data(), frame.size()}, bytes);
  if (step.error) return std::move(step.error)->set_path(path, place);
  if (step.kind != RecordParser::Step::Kind::kRecord || step.consumed != frame.size()) return changed(path, place);
  buffer->keep();
  return Array::view_bytes(step.payload, buffer);
}

void RecordIndex::learn(const std::vector<std::string>& paths, size_t file, int64_t bytes,
                        const std::vector<int64_t>& places) {
  const std::lock_guard lock(mutex_);
  begin(paths);
  if (known_[file] || FileIndex::kept(paths[file])) return;
  Result<FileIndex> index = FileIndex::of(paths[file], bytes, places);
  if (!index) return;
  if (bytes >= kWorthKeeping) (void)index->keep_in_cache(paths[file]);
  known_[file] = Known{*std::move(index), {}};
}

}  // namespace stoker
