#include "stoker/io/stream.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/io/file.h"
#include "stoker/io/inflate.h"

namespace stoker {
namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(File file) : file_(std::move(file)) {}
  // A file that ends before the size that it had when it was opened was truncated meanwhile. This
  // must not be mistaken for the end.
  Result<size_t> read(std::span<char> into) override {
    STOKER_TRY(const size_t count, file_.read(into));
    read_ += static_cast<int64_t>(count);
    if (count == 0 && read_ < file_.size())
      return Error::corrupt(file_.path(), " ends at byte ", read_, ", expected ", file_.size(),
                            " bytes: it was truncated while it was read");
    return count;
  }
  Result<void> skip(int64_t bytes) override {
    if (!left()) return ByteStream::skip(bytes);
    if (bytes > *left())
      return Error::corrupt(file_.path(), " has ", file_.size(), " bytes, expected at least ", read_ + bytes)
          .set_path(file_.path());
    STOKER_TRY(file_.seek(read_ + bytes));
    read_ += bytes;
    return {};
  }
  std::optional<int64_t> left() const override {
    if (file_.size() == 0) return std::nullopt;  // also if the size is unknown
    return std::max<int64_t>(0, file_.size() - read_);
  }
  const std::string& path() const override { return file_.path(); }

 private:
  File file_;
  int64_t read_ = 0;
};

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(std::string bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}

  Result<size_t> read(std::span<char> into) override {
    const size_t count = bytes_.copy(into.data(), into.size(), position_);
    position_ += count;
    return count;
  }
  const std::string& path() const override { return path_; }

 private:
  const std::string bytes_;
  const std::string path_;
  size_t position_ = 0;
};

// Puts bytes that were read for detection back in front of a stream.
class PutBackStream final : public ByteStream {
 public:
  PutBackStream(std::string front, std::unique_ptr<ByteStream> rest)
      : front_(std::move(front)), rest_(std::move(rest)) {}

  Result<size_t> read(std::span<char> into) override {
    if (front_.empty()) return rest_->read(into);
    const size_t count = front_.copy(into.data(), into.size());
    front_.erase(0, count);
    return count;
  }
  const std::string& path() const override { return rest_->path(); }

 private:
  std::string front_;
  const std::unique_ptr<ByteStream> rest_;
};

class InflateStream final : public ByteStream {
 public:
  InflateStream(std::unique_ptr<ByteStream> source, Wrapper wrapper)
      : wrapper_(wrapper),
        source_(std::move(source)),
        inflater_(make_inflater(wrapper)),
        buffer_(kBufferBytes + Inflater::kMostGivenBack) {}

  Result<size_t> read(std::span<char> into) override {
    if (failure_) return *failure_;
    Result<size_t> count = inflate(into);
    if (!count.ok()) failure_ = count.error();
    return count;
  }
  const std::string& path() const override { return source_->path(); }

 private:
  static constexpr size_t kBufferBytes = 64 << 10;

  Result<size_t> inflate(std::span<char> into) {
    for (;;) {
      refill();
      if (!inside_) {
        STOKER_TRY(const bool more, enter());
        if (!more) return 0;
      }
      // Also called without input: there may be output that did not fit the last time.
      const Inflater::Step step = inflater_->step(input_, into);
      consume(step.consumed);
      if (step.finished) leave();
      if (step.damage) failure_ = damaged(step.damage);
      if (step.produced > 0) return step.produced;
      if (failure_) return *failure_;
      if (step.consumed != 0 || step.finished) continue;
      return input_.empty() ? cut() : damaged("the data cannot be decoded");
    }
  }

  // Starts the next member, if there is one.
  Result<bool> enter() {
    while (members_ > 0 && !input_.empty() && input_[0] == 0) {
      skip_zeros();
      refill();
    }
    if (input_.empty() && (members_ == 0 || source_failure_)) return cut();
    if (input_.empty()) return false;
    if (members_ > 0 && wrapper_ == Wrapper::kZlib) return damaged("there are bytes after its end");
    if (members_ > 0) inflater_->restart();
    inside_ = true;
    return true;
  }

  void leave() {
    inside_ = false;
    ++members_;
  }

  void skip_zeros() {
    const auto end = std::find_if(input_.begin(), input_.end(), [](char byte) { return byte != 0; });
    consume(end - input_.begin());
  }

  // The input stays empty only after the end of the source or its error. The bytes before the input
  // stay in memory, because the inflater may return them.
  void refill() {
    if (!input_.empty() || ended_) return;
    const std::span<char> fresh = std::span(buffer_).subspan(Inflater::kMostGivenBack);
    if (offset_ > 0) std::memmove(buffer_.data(), input_.data() - Inflater::kMostGivenBack, Inflater::kMostGivenBack);
    const Result<size_t> count = source_->read(fresh);
    if (!count.ok()) source_failure_ = count.error();
    ended_ = !count.ok() || *count == 0;
    input_ = fresh.first(ended_ ? 0 : *count);
    if (offset_ == 0 && !ended_) first_ = input_[0];
  }

  void consume(ptrdiff_t count) {
    input_ = {input_.data() + count, static_cast<size_t>(static_cast<ptrdiff_t>(input_.size()) - count)};
    offset_ += count;
  }

  std::string_view name() const { return name_of(wrapper_); }
  bool begins_right() const {
    if (wrapper_ == Wrapper::kZlib) return (first_ & 15) == 8;
    return first_ == (wrapper_ == Wrapper::kGzip ? '\x1f' : '\x28');
  }

  Error damaged(const char* why) const {
    if (members_ == 0 && !begins_right())
      return Error::corrupt(path(), " does not start with ", name(), " data; check its compression type")
          .set_path(path(), 0);
    return Error::corrupt(name(), " data of ", path(), " is damaged at byte ", offset_, ": ", why, behind_members())
        .set_path(path(), offset_);
  }
  Error cut() const {
    if (source_failure_) return *source_failure_;
    if (offset_ == 0) return Error::corrupt(path(), " is empty, expected ", name(), " data").set_path(path(), 0);
    return Error::corrupt(name(), " data of ", path(), " ends too early, at byte ", offset_, behind_members())
        .set_path(path(), offset_);
  }
  std::string behind_members() const {
    return members_ == 0 ? "" : " (complete members before it: " + std::to_string(members_) + ")";
  }

  const Wrapper wrapper_;
  const std::unique_ptr<ByteStream> source_;
  const std::unique_ptr<Inflater> inflater_;
  std::vector<char> buffer_;
  std::span<const char> input_;  // the part of buffer_ that was not decompressed yet
  bool ended_ = false;           // the source ended; input_ may still hold bytes
  bool inside_ = false;          // inside a member
  int64_t members_ = 0;          // complete members so far
  char first_ = 0;               // the first byte of the source
  int64_t offset_ = 0;           // of input_ in the source
  std::optional<Error> source_failure_;
  std::optional<Error> failure_;
};

#ifdef STOKER_HAVE_ZSTD
constexpr bool kHaveZstd = true;
#else
constexpr bool kHaveZstd = false;
#endif
Error no_zstd() { return Error::unimplemented("cannot read ZSTD data: this build of Stoker does not include zstd"); }

Result<std::unique_ptr<ByteStream>> decompress_as_it_begins(std::unique_ptr<ByteStream> bytes) {
  constexpr std::string_view kGzipMark = "\x1f\x8b", kZstdMark = "\x28\xb5\x2f\xfd";
  std::string front(kZstdMark.size(), '\0');
  size_t used = 0;
  while (used < front.size()) {
    STOKER_TRY(const size_t count, bytes->read(std::span(front).subspan(used)));
    if (count == 0) break;
    used += count;
  }
  front.resize(used);
  const Compression found = front.starts_with(kGzipMark) ? Compression::kGzip
                            : front == kZstdMark         ? Compression::kZstd
                                                         : Compression::kNone;
  return decompress(std::make_unique<PutBackStream>(std::move(front), std::move(bytes)), found);
}

}  // namespace

Result<void> ByteStream::skip(int64_t bytes) {
  std::vector<char> buffer(static_cast<size_t>(std::min<int64_t>(bytes, 256 << 10)));
  for (int64_t left = bytes; left > 0;) {
    const size_t most = static_cast<size_t>(std::min<int64_t>(left, static_cast<int64_t>(buffer.size())));
    STOKER_TRY(const size_t count, read(std::span(buffer).first(most)));
    if (count == 0)
      return Error::corrupt(path(), " ends ", left, " bytes before the expected position").set_path(path());
    left -= static_cast<int64_t>(count);
  }
  return {};
}

Result<Compression> compression_of(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "GZIP") return Compression::kGzip;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "ZSTD") return kHaveZstd ? Result<Compression>(Compression::kZstd) : no_zstd();
  if (name == "AUTO") return Compression::kAuto;
  return Error::invalid("the compression '", name, "' is unknown, expected '', 'GZIP', 'ZLIB', 'ZSTD' or 'AUTO'");
}

Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path, Compression compression) {
  STOKER_TRY(File file, File::open(path));
  return open_stream(std::move(file), compression);
}

Result<std::unique_ptr<ByteStream>> open_stream(File file, Compression compression) {
  return decompress(std::make_unique<FileStream>(std::move(file)), compression);
}

Result<std::unique_ptr<ByteStream>> decompress(std::unique_ptr<ByteStream> bytes, Compression compression) {
  switch (compression) {
    case Compression::kNone: return bytes;
    case Compression::kGzip: return std::make_unique<InflateStream>(std::move(bytes), Wrapper::kGzip);
    case Compression::kZlib: return std::make_unique<InflateStream>(std::move(bytes), Wrapper::kZlib);
    case Compression::kZstd:
      if (!kHaveZstd) return no_zstd();
      return std::make_unique<InflateStream>(std::move(bytes), Wrapper::kZstd);
    case Compression::kAuto: return decompress_as_it_begins(std::move(bytes));
  }
  return Error::invalid("unknown compression: ", static_cast<int>(compression));
}

std::unique_ptr<ByteStream> memory_stream(std::string bytes, std::string path) {
  return std::make_unique<MemoryStream>(std::move(bytes), std::move(path));
}

}  // namespace stoker
