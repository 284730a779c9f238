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

struct LineOptions {
  size_t buffer_bytes = 64 << 10;
  // A longer line is ResourceExhausted, and the next call goes on behind it.
  size_t line_bytes_at_most = std::numeric_limits<size_t>::max();
};

// The lines of a text as tf.data's TextLineDataset gives them: without '\n'
// and without any '\r'; the last one needs no '\n', and is none when empty.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteStream> bytes, LineOptions options = {});
  static Result<LineReader> open(const std::string& path, Compression compression = Compression::kNone,
                                 LineOptions options = {});

  // False at the end. The line lives until the next call. A fault of the
  // stream is reported once, the lines before it having been given, and is the
  // end; the piece of a line that stood before it is not given.
  Result<bool> next(std::string_view& line);

  // Where in the text, uncompressed, the last line began.
  int64_t offset() const { return offset_; }

 private:
  Result<bool> refill();
  std::string_view take_piece(bool& whole);
  Error too_long() const;

  LineOptions options_;
  std::unique_ptr<ByteStream> bytes_;  // null behind the end
  std::string path_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is not yet given
  size_t end_ = 0;
  std::string spill_;  // the begin of a line that crosses the end of the buffer
  int64_t offset_ = 0;
  int64_t position_ = 0;  // of begin_
};

}  // namespace stoker
