#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/io/stream.h"

namespace stoker {

// A stretch of a stream in memory, which moves forward: for what is parsed from
// the front and of which nobody knows before how long it is.
class ByteWindow {
 public:
  // `offset` is where in its text the stream stands.
  explicit ByteWindow(std::unique_ptr<ByteStream> bytes, int64_t offset = 0);

  // What was read and not taken. Lives until the next fill().
  std::string_view bytes() const { return {buffer_.data() + begin_, end_ - begin_}; }
  // Whether nothing follows these bytes.
  bool ended() const { return bytes_ == nullptr; }
  // Reads until there are so many bytes, or all there are. A fault of the
  // stream is told once and is the end; the bytes before it stay.
  Result<void> fill(size_t wanted);
  // Goes past so many bytes, or all there are, without keeping them.
  Result<void> pass(int64_t count);
  void take(size_t count) { begin_ += count, offset_ += static_cast<int64_t>(count); }

  // Of bytes() in the text.
  int64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 private:
  std::unique_ptr<ByteStream> bytes_;  // null behind the end
  std::string path_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  int64_t offset_ = 0;
};

}  // namespace stoker
