#include "stoker/sources/tfrecord.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "stoker/codecs/tfrecord.h"
#include "stoker/core/record_limit.h"
#include "stoker/io/kept_mappings.h"
#include "stoker/io/read_ahead.h"
#include "stoker/io/stream.h"
#include "stoker/sources/record_index.h"

namespace stoker {

// Returns the records of a file as views of the mapped file or of blocks that are read. A record that crosses the end
// of a block is moved to the start of the next block.
class RecordReader {
 public:
  // `offset` must be the start of a record.
  static Result<std::shared_ptr<RecordReader>> open(const std::string& path, Compression compression, int64_t offset,
                                                    KeptMappings& mappings, bool exceeds_memory) {
    STOKER_TRY(File file, File::open(path));
    if (compression == Compression::kNone) {
      if (std::shared_ptr<const MappedFile> mapped = mappings.map(file))
        return std::make_shared<RecordReader>(std::move(mapped), offset, exceeds_memory);
    }
    STOKER_TRY(auto bytes, open_stream(std::move(file), compression));
    if (offset > 0) STOKER_TRY(bytes->skip(offset));
    return std::make_shared<RecordReader>(std::move(bytes), offset);
  }

  RecordReader(std::shared_ptr<const MappedFile> file, int64_t offset, bool exceeds_memory)
      : mapped_(file.get()), ahead_(exceeds_memory), parser_(offset), ended_(true), whole_(offset == 0) {
    const Bytes all = file->bytes();
    window_ = all.substr(std::min(static_cast<size_t>(offset), all.size()));
    block_ = Buffer::wrap(all.data(), all.size(), [file = std::move(file)] {}, mapped_);
    // Errors about a payload name the place of its record.
    block_->set_source({mapped_->path(), -static_cast<int64_t>(kRecordHeaderBytes)});
  }
  RecordReader(std::unique_ptr<ByteStream> bytes, int64_t offset)
      : bytes_(std::move(bytes)), parser_(offset, static_cast<uint64_t>(record_limit())) {}
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  ~RecordReader() { close(); }

  // Returns nothing at the end. After an error, the next call continues, unless goes_on() is false.
  Result<std::optional<Array>> next(const Context& context);
  // Returns the complete records at the front of the window, up to anything else: the same records as repeated calls of
  // next().
  Column next_rows(size_t most);

  // False after the end and after an error of the file itself.
  bool goes_on() const { return bytes_ != nullptr || mapped_ != nullptr; }
  int64_t offset() const { return parser_.offset(); }
  // Returns the offsets of the records after a mapped file was read to its end; null otherwise.
  const std::vector<int64_t>* places() const { return reached_end_ && whole_ ? &places_ : nullptr; }
  // Releases the file and its memory. Needed because copies of a state may share the reader for a long time.
  void close() {
    bytes_.reset();
    mapped_ = nullptr;
    if (block_) block_->drop();
    block_ = nullptr;
    window_ = {};
  }

 private:
  // A read of this size costs little more than copying the bytes, and several records of ImageNet's size fit.
  static constexpr size_t kBlockBytes = size_t{1} << 20;
  // The limits of next_rows(): the table stays small, and reading the rows takes about 100 µs even from a disk.
  static constexpr size_t kMostRows = 1024, kRowBytes = size_t{256} << 10;
  // Offsets are not kept for a file with more records than this, which would take 128 MB.
  static constexpr size_t kMostPlaces = size_t{1} << 24;

  std::optional<int64_t> left() const;
  Result<void> refill(size_t wanted);
  Result<void> make_room(size_t wanted);
  size_t room() const { return block_ ? block_->size() - (begin() + window_.size()) : 0; }
  size_t begin() const { return static_cast<size_t>(window_.data() - data()); }
  char* data() const { return reinterpret_cast<char*>(block_->data()); }

  // Not for each record: it costs a system call, twice as much as a record of 100 bytes.
  void prepare_to_read(size_t records) {
    if (!mapped_ || (records == 1 && parser_.offset() < prepared_until_)) return;
    mapped_->prepare_to_read();
    prepared_until_ = parser_.offset() + static_cast<int64_t>(kRowBytes);
  }
  Error cut_short();

  std::unique_ptr<ByteStream> bytes_;   // null after the end, and for a mapped file
  const MappedFile* mapped_ = nullptr;  // owned by the block; null after the end, and for a file that is read
  ReadAhead ahead_{false};
  int64_t prepared_until_ = 0;
  RecordParser parser_;
  Buffer* block_ = nullptr;
  Bytes window_;  // the part of the block that was read and not returned
  bool ended_ = false;
  std::vector<int64_t> places_;  // offsets of the records so far, while `whole_`
  bool whole_ = false;
  bool reached_end_ = false;
};

Result<std::optional<Array>> RecordReader::next(const Context& context) {
  using Kind = RecordParser::Step::Kind;
  prepare_to_read(1);
  while (true) {
    if (context.stopped()) return Error::cancelled();  // the search for the next record may scan the whole file
    const int64_t place = parser_.offset();
    if (mapped_) ahead_.at(place, *mapped_);
    RecordParser::Step step = parser_.step(window_, left());
    window_.remove_prefix(step.consumed);
    if (whole_ && step.consumed > 0) places_.push_back(place);
    whole_ &= places_.size() < kMostPlaces;
    if (mapped_ && mapped_->was_cut()) return cut_short();
    if (step.kind == Kind::kError) {
      if (step.skipped > 0 && !bytes_->skip(step.skipped)) close();  // the file ends inside the record
      return *std::move(step.error);
    }
    if (step.kind == Kind::kRecord) {
      block_->keep();
      return std::optional(Array::view_bytes(step.payload, block_));
    }
    if (step.kind == Kind::kEnd) break;
    if (Result<void> read = refill(step.wanted); !read) {
      close();
      return std::move(read).error();
    }
  }
  reached_end_ = true;
  close();
  return std::optional<Array>();
}

Column RecordReader::next_rows(size_t most) {
  std::array<Bytes, kMostRows> found;
  size_t n = 0;
  const int64_t begin = parser_.offset();
  const size_t known_places = places_.size();
  const Bytes window = window_;
  prepare_to_read(most);
  if (mapped_) ahead_.at(begin, *mapped_);
  while (n < std::min(most, kMostRows) && parser_.offset() - begin < static_cast<int64_t>(kRowBytes)) {
    const int64_t place = parser_.offset();
    const std::optional<Bytes> payload = parser_.step_if_whole(window_);
    if (!payload) break;
    if (whole_) places_.push_back(place);
    whole_ &= places_.size() < kMostPlaces;
    window_.remove_prefix(static_cast<size_t>(parser_.offset() - place));
    found[n++] = *payload;
  }
  if (mapped_ && mapped_->was_cut()) {  // next() comes to the same place and reports it
    parser_ = RecordParser(begin);
    window_ = window;
    places_.resize(known_places);
    return {};
  }
  if (n == 0) return {};
  block_->keep();
  return Column(Array::view_strings(std::span(found).first(n), block_));
}

// Returns the error of a mapped file that has become shorter since it was opened.
Error RecordReader::cut_short() {
  Error error = truncated_error(mapped_->path(), parser_.offset());
  close();
  return error;
}

// Returns the number of bytes from the start of the window to the end of the file, if known.
std::optional<int64_t> RecordReader::left() const {
  const auto here = static_cast<int64_t>(window_.size());
  if (ended_) return here;
  const std::optional<int64_t> more = bytes_->left();
  return more ? std::optional(here + *more) : std::nullopt;
}

// Reads until the window has `wanted` bytes, or all bytes that the file has.
Result<void> RecordReader::refill(size_t wanted) {
  while (window_.size() < wanted && !ended_) {
    if (room() == 0 || (begin() > 0 && begin() + wanted > block_->size())) STOKER_TRY(make_room(wanted));
    STOKER_TRY(const size_t count, bytes_->read({data() + begin() + window_.size(), room()}));
    window_ = {window_.data(), window_.size() + count};
    ended_ = count == 0;
  }
  return {};
}

// Moves the window to the front of a block with free space after it. If the size of the file is unknown, the block
// grows with the bytes that were read, not with the length that a header claims.
Result<void> RecordReader::make_room(size_t wanted) {
  const std::optional<int64_t> all = left();
  const size_t bytes = all ? std::max(wanted, std::min(kBlockBytes, static_cast<size_t>(*all)))
                           : std::max(std::min(wanted, 2 * window_.size()), kBlockBytes);
  Buffer* block = block_;
  if (!block || block->shared() || block->size() < bytes) {
    STOKER_TRY(block, Buffer::make(bytes));
  } else {
    block->charge_again();
  }
  auto* front = reinterpret_cast<char*>(block->data());
  if (!window_.empty()) std::memmove(front, window_.data(), window_.size());
  window_ = {front, window_.size()};
  if (block_ && block != block_) block_->drop();
  block_ = block;
  // Errors about a payload name the offset of its record.
  block_->set_source({bytes_->path(), parser_.offset() - static_cast<int64_t>(kRecordHeaderBytes)});
  return {};
}

Result<void> TFRecord::check() const {
  STOKER_TRY(Compression known, compression_of(compression_type));
  (void)known;
  if (filenames.empty()) return Error::invalid("expected at least one file, got an empty list");
  return {};
}

std::shared_ptr<RecordIndex> TFRecord::new_index() { return std::make_shared<RecordIndex>(); }

std::shared_ptr<KeptMappings> TFRecord::new_mappings() { return std::make_shared<KeptMappings>(); }

std::optional<TFRecord> TFRecord::listed() const {
  if (!compression_type.empty()) return std::nullopt;
  TFRecord list = *this;
  list.listing = true;
  return list;
}

RecordName TFRecord::describe_record(const Origin& origin) const {
  return compression_type.empty() ? index->describe_record(filenames, origin.position) : RecordName();
}

Result<int64_t> TFRecord::length(Context&) const { return index->records(filenames); }

Result<Element> TFRecord::load(Element element, Context&) const {
  STOKER_TRY(Array record, index->read(element[0].scalar<int64_t>()));
  return Element(std::move(record));
}

void TFRecord::learn(const State& state) const {
  if (const std::vector<int64_t>* places = state.reader->places())
    index->learn(filenames, static_cast<size_t>(state.file), state.reader->offset(), *places);
}

Result<void> TFRecord::open(State& state) const {
  STOKER_TRY(Compression compression, compression_of(compression_type));
  STOKER_TRY(state.reader, RecordReader::open(filenames[static_cast<size_t>(state.file)], compression, state.offset,
                                              *mappings, exceed_memory(filenames)));
  return {};
}

Column TFRecord::next_rows(State& state, int64_t most, Context&) const {
  if (!state.reader) return {};
  Column rows = state.reader->next_rows(static_cast<size_t>(most));
  state.offset = state.reader->offset();
  return rows;
}

Result<std::optional<Element>> TFRecord::next(State& state, Context& context) const {
  while (state.file < static_cast<int64_t>(filenames.size())) {
    const std::string& path = filenames[static_cast<size_t>(state.file)];
    const Result<void> opened = state.reader ? Result<void>() : open(state);
    Result<std::optional<Array>> record =
        opened ? state.reader->next(context) : Result<std::optional<Array>>(opened.error());
    const int64_t offset = std::exchange(state.offset, opened ? state.reader->offset() : 0);
    if (!opened || !state.reader->goes_on()) {
      if (opened) learn(state);
      ++state.file;
      state.offset = 0;
      state.reader.reset();
    }
    if (!record && record.error().place().path.empty()) return Error(record.error()).set_path(path, offset);
    if (!record) return std::move(record).error();
    if (*record) return std::optional<Element>(Element(**std::move(record)));
  }
  return std::optional<Element>();
}

}  // namespace stoker
