#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/io/stream.h"

namespace stoker {

// A part of a stream in memory that moves forward: for parsing data whose length is not known in
// advance. Not thread-safe.
class ByteWindow {
 public:
  // `offset` is the position of the stream in its text.
  explicit ByteWindow(std::unique_ptr<ByteStream> bytes, int64_t offset = 0);

  // The bytes that were read and not taken. Valid until the next call of fill() or pass().
  std::string_view bytes() const { return {buffer_.data() + begin_, end_ - begin_}; }
  // Whether the stream ends after these bytes.
  bool ended() const { return bytes_ == nullptr; }
  // Reads until there are `wanted` bytes, or up to the end. An error of the stream is returned once
  // and ends the stream; the bytes before it remain.
  Result<void> fill(size_t wanted);
  // Skips this many bytes, or all that remain, without keeping them.
  Result<void> pass(int64_t count);
  // Removes bytes from the front; `count` is at most the size of bytes().
  void take(size_t count) { begin_ += count, offset_ += static_cast<int64_t>(count); }

  // The offset of bytes() in the text.
  int64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }

 private:
  std::unique_ptr<ByteStream> bytes_;  // null after the end
  std::string path_;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  int64_t offset_ = 0;
};

}  // namespace stoker
