#include "stoker/sources/record_index.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/record_limit.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesAtOnce = 16;  // that are indexed in parallel

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

// Reads a file from front to back in blocks, of which some are skipped.
class Blocks {
 public:
  explicit Blocks(FileSet& file, int64_t file_bytes) : file_(file), file_bytes_(file_bytes) {}

  // Returns at least `wanted` bytes from this offset, or all up to the end. Valid until the next call.
  Result<Bytes> at(int64_t offset, size_t wanted) {
    const int64_t left = file_bytes_ - offset;
    if (offset < begin_ || offset > end() || static_cast<int64_t>(wanted) > end() - offset) {
      begin_ = offset;
      block_.resize(static_cast<size_t>(std::min(left, static_cast<int64_t>(std::max(wanted, kBlockBytes)))));
      STOKER_TRY(file_.read(0, offset, block_));
    }
    return Bytes(block_).substr(static_cast<size_t>(offset - begin_));
  }

 private:
  // Holds the headers of many small records, and costs little more than one header.
  static constexpr size_t kBlockBytes = 16 << 10;

  int64_t end() const { return begin_ + std::ssize(block_); }

  FileSet& file_;
  const int64_t file_bytes_;
  std::string block_;
  int64_t begin_ = 0;
};

// Returns the end of the damaged bytes at this offset. As in a stream, a record that is larger than the limit does not
// end them.
Result<int64_t> end_of_damage(Blocks& blocks, int64_t offset, int64_t file_bytes) {
  constexpr size_t kSearched = size_t{1} << 20;
  RecordParser parser(offset, static_cast<uint64_t>(record_limit()));
  for (size_t wanted = kSearched;;) {
    stop_if_interrupted();
    const int64_t at = parser.offset();
    STOKER_TRY(const Bytes window, blocks.at(at, wanted));
    const RecordParser::Step step = parser.step(window, file_bytes - at);
    if (step.kind != RecordParser::Step::Kind::kMore) return parser.offset();
    wanted = std::max(step.wanted, kSearched);
  }
}

// The same as places_of_records() for a file that is not mapped.
Result<std::vector<int64_t>> places_in(const std::string& path, int64_t& file_bytes) {
  FileSet file({path});
  STOKER_TRY(file_bytes, file.bytes_of(0));
  Blocks blocks(file, file_bytes);
  std::vector<int64_t> places;
  for (int64_t at = 0; at < file_bytes;) {
    stop_if_interrupted();
    places.push_back(at);
    STOKER_TRY(const Bytes header, blocks.at(at, kRecordHeaderBytes));
    const int64_t left = file_bytes - at;
    if (header.size() < kRecordHeaderBytes) return places;
    if (const std::optional<uint64_t> length = record_length(header)) {
      constexpr uint64_t kFrameBytes = kRecordHeaderBytes + kRecordFooterBytes;
      at += static_cast<int64_t>(std::min<uint64_t>(*length + kFrameBytes, static_cast<uint64_t>(left)));
    } else {
      STOKER_TRY(at, end_of_damage(blocks, at, file_bytes));
    }
  }
  return places;
}

// Writes a whole file. Leaves nothing if that fails.
Result<void> write_and_rename(const fs::path& partial, const fs::path& path, Bytes bytes) {
  const auto failed = [&] {
    Error error = Error::io("cannot write ", path.string()).set_path(path.string());
    (void)::unlink(partial.c_str());
    return error;
  };
  errno = 0;
  std::ofstream out(partial, std::ios::binary);
  out << bytes;
  out.close();
  if (!out || std::rename(partial.c_str(), path.c_str()) != 0) return failed();
  return {};
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
  STOKER_TRY(const File opened, File::open_regular(path));
  const std::optional<MappedFile> file = MappedFile::map(opened);
  if (!file) {
    int64_t bytes = 0;
    STOKER_TRY(const std::vector<int64_t> places, places_in(path, bytes));
    return of(path, bytes, places);
  }
  file->expect_jumps();
  const std::vector<int64_t> places = places_of_records(file->bytes());
  if (file->was_cut()) return truncated_error(path, -1);
  return of(path, static_cast<int64_t>(file->bytes().size()), places);
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
  const fs::path folder = fs::path(index_path).parent_path();
  fs::create_directories(folder, problem);
  if (problem)
    return Error::from_errno(problem.value(), "cannot create the folder " + folder.string()).set_path(folder.string());
  return write_and_rename(index_path + "." + std::to_string(getpid()) + "-" + std::to_string(written++) + ".partial",
                          index_path, bytes_);
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
void RecordIndex::look_at(const std::vector<size_t>& files, const std::function<void(size_t file, Known)>& keep) {
  std::atomic<size_t> next{0};
  run_on_threads(std::min(kFilesAtOnce, files.size()), [&] {
    for (size_t i; (i = next++) < files.size();) {
      stop_if_interrupted();
      keep(files[i], look_at(files[i]));
    }
  });
}

int64_t RecordIndex::records(const std::vector<std::string>& paths) {
  const std::lock_guard lock(mutex_);
  begin(paths);
  if (begins_.empty()) {
    std::vector<size_t> unknown;
    for (size_t file = 0; file < known_.size(); ++file)
      if (!known_[file]) unknown.push_back(file);
    look_at(unknown, [&](size_t file, Known known) { known_[file] = std::move(known); });
    begins_.push_back(0);
    for (const std::optional<Known>& file : known_) begins_.push_back(begins_.back() + file->records());
  }
  return begins_.back();
}

// The files are read without the lock: a reader that has completed a file must not wait for them in learn().
RecordName RecordIndex::describe_record(const std::vector<std::string>& paths, int64_t record) {
  if (record < 0) return {};
  while (true) {
    Found found = find(paths, record);
    if (found.unknown.empty()) return std::move(found.record);
    stop_if_interrupted();
    look_at(found.unknown, [&](size_t file, Known known) {
      const std::lock_guard lock(mutex_);
      if (!known_[file]) known_[file] = std::move(known);
    });
  }
}

RecordIndex::Found RecordIndex::find(const std::vector<std::string>& paths, int64_t record) {
  const std::lock_guard lock(mutex_);
  begin(paths);
  Found found;
  for (size_t file = 0; file < known_.size() && found.unknown.size() < kFilesAtOnce; ++file) {
    const std::optional<Known>& known = known_[file];
    if (!known) found.unknown.push_back(file);
    if (!found.unknown.empty()) continue;
    if (record < known->records()) {
      if (!known->error) found.record = {"record " + std::to_string(record) + " of " + paths[file], paths[file]};
      return found;
    }
    record -= known->records();
  }
  return found;
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
