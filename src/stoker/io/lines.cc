#include "stoker/io/lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/core/record_limit.h"

namespace stoker {
namespace {

// Removes every '\r' of a piece, in place.
std::string_view without_returns(char* piece, size_t size) {
  if (size == 0 || std::memchr(piece, '\r', size) == nullptr) return {piece, size};
  return {piece, static_cast<size_t>(std::remove(piece, piece + size, '\r') - piece)};
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteStream> bytes, LineOptions options)
    : options_(options),
      bytes_(std::move(bytes)),
      path_(bytes_->path()),
      buffer_(std::max<size_t>(options.buffer_bytes, 1)) {}

Result<LineReader> LineReader::open(const std::string& path, Compression compression, LineOptions options) {
  STOKER_TRY(std::unique_ptr<ByteStream> bytes, open_stream(path, compression));
  return LineReader(std::move(bytes), options);
}

Result<bool> LineReader::next(std::string_view& line) {
  offset_ = position_;
  spill_.clear();
  if (spill_.capacity() > buffer_.size()) spill_.shrink_to_fit();
  bool whole = false;
  bool fits = true;
  while (!whole) {
    STOKER_TRY(const bool more, refill());
    if (!more) break;
    line = take_piece(whole);
    fits = fits && spill_.size() + line.size() <= options_.line_bytes_at_most;
    if (whole && fits && spill_.empty()) return true;
    if (fits)
      spill_ += line;
    else
      spill_ = {};  // the rest of the line is skipped
  }
  if (!fits) return too_long();
  line = spill_;
  return whole || !spill_.empty();
}

// Returns the part of a line that the buffer holds. `whole` is set if the part ends the line.
std::string_view LineReader::take_piece(bool& whole) {
  char* piece = buffer_.data() + begin_;
  const void* newline = std::memchr(piece, '\n', end_ - begin_);
  whole = newline != nullptr;
  const size_t size = whole ? static_cast<size_t>(static_cast<const char*>(newline) - piece) : end_ - begin_;
  const size_t taken = size + (whole ? 1 : 0);
  begin_ += taken;
  position_ += static_cast<int64_t>(taken);
  return without_returns(piece, size);
}

// Returns false after the end.
Result<bool> LineReader::refill() {
  if (begin_ < end_) return true;
  if (!bytes_) return false;
  const Result<size_t> count = bytes_->read(buffer_);
  if (!count.ok() || *count == 0) bytes_.reset();
  if (!count.ok()) return count.error();
  begin_ = 0;
  end_ = *count;
  return end_ > 0;
}

Error LineReader::too_long() const {
  return record_too_large("line", path_, offset_, static_cast<int64_t>(options_.line_bytes_at_most));
}

}  // namespace stoker
