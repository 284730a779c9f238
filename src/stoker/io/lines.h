#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/io/stream.h"

namespace stoker {

// How a LineReader reads.
struct LineOptions {
  size_t buffer_bytes = 64 << 10;
  // A longer line fails with ResourceExhausted, and the next call continues after it.
  size_t line_bytes_at_most = std::numeric_limits<size_t>::max();
};

// Reads the lines of a text as tf.data's TextLineDataset does: without '\n' and without any '\r'.
// The last line needs no '\n', and is not returned if it is empty. Not thread-safe.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteStream> bytes, LineOptions options = {});
  static Result<LineReader> open(const std::string& path, Compression compression = Compression::kNone,
                                 LineOptions options = {});

  // Returns false at the end. The line is valid until the next call. An error of the stream is
  // returned once, after the lines before it, and ends the text; an incomplete line before it is
  // not returned.
  Result<bool> next(std::string_view& line);

  // The offset of the last line in the uncompressed text.
  int64_t offset() const { return offset_; }

 private:
  Result<bool> refill();
  std::string_view take_piece(bool& whole);
  Error too_long() const;

  LineOptions options_;
  std::unique_ptr<ByteStream> bytes_;  // null after the end
  std::string path_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of the bytes that were not returned yet
  size_t end_ = 0;
  std::string spill_;  // the start of a line that continues after the end of the buffer
  int64_t offset_ = 0;
  int64_t position_ = 0;  // the offset of begin_ in the text
};

}  // namespace stoker
