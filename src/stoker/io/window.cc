#include "stoker/io/window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stoker {
namespace {

// A read of this size costs little more than copying its bytes.
constexpr size_t kReadBytes = 256 << 10;

}  // namespace

ByteWindow::ByteWindow(std::unique_ptr<ByteStream> bytes, int64_t offset)
    : bytes_(std::move(bytes)), path_(bytes_->path()), offset_(offset) {}

Result<void> ByteWindow::fill(size_t wanted) {
  while (end_ - begin_ < wanted && bytes_) {
    if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    // Grows with the bytes that were read, not with `wanted`, which may come from a damaged length
    // field.
    if (end_ + kReadBytes / 2 > buffer_.size()) buffer_.resize(std::max(kReadBytes, 2 * end_));
    Result<size_t> count = bytes_->read(std::span(buffer_).subspan(end_));
    if (!count || *count == 0) bytes_.reset();
    if (!count) return std::move(count).error();
    end_ += *count;
  }
  return {};
}

Result<void> ByteWindow::pass(int64_t count) {
  while (count > 0) {
    STOKER_TRY(fill(1));
    if (bytes().empty()) return {};
    const auto passed = std::min<int64_t>(count, static_cast<int64_t>(bytes().size()));
    take(static_cast<size_t>(passed));
    count -= passed;
  }
  return {};
}

}  // namespace stoker
