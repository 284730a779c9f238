#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/io/stream.h"

namespace stoker {

// A stream that delivers at most `piece` bytes per read, and fails at its end if
// `fault` is set, as a slow or a failing disk does.
struct FaultyBytes {
  std::string bytes;
  size_t piece = SIZE_MAX;
  std::optional<Error> fault = {};
};

class FaultyStream final : public ByteStream {
 public:
  explicit FaultyStream(FaultyBytes faulty) : faulty_(std::move(faulty)) {}

  Result<size_t> read(std::span<char> into) override {
    const size_t count = faulty_.bytes.copy(into.data(), std::min(into.size(), faulty_.piece), position_);
    if (count == 0 && faulty_.fault) return *faulty_.fault;
    position_ += count;
    return count;
  }
  const std::string& path() const override { return path_; }

 private:
  const FaultyBytes faulty_;
  const std::string path_ = "faulty";
  size_t position_ = 0;
};

inline std::unique_ptr<ByteStream> faulty_stream(FaultyBytes faulty) {
  return std::make_unique<FaultyStream>(std::move(faulty));
}

// All bytes of a stream, and the error that ended it, if any.
struct Drained {
  std::string bytes;
  std::optional<Error> error;
};

inline Drained drain(ByteStream& stream, size_t piece = 4096) {
  Drained all;
  std::vector<char> buffer(piece);
  for (;;) {
    const Result<size_t> count = stream.read(buffer);
    if (!count.ok()) all.error = count.error();
    if (!count.ok() || *count == 0) return all;
    all.bytes.append(buffer.data(), *count);
  }
}

}  // namespace stoker
