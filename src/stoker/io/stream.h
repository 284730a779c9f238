#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stoker/core/result.h"

namespace stoker {

// Bytes from front to back. Its errors name whence the bytes come.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Gives at least one byte unless the stream has ended: 0. `into` is not
  // empty. What came before a fault is given first; the fault then stays.
  virtual Result<size_t> read(std::span<char> into) = 0;

  // Goes past so many bytes, without reading them where that can be. An end
  // before them is DataLoss.
  virtual Result<void> skip(int64_t bytes);
  // How many bytes there are to come, where that is known.
  virtual std::optional<int64_t> left() const { return std::nullopt; }

  virtual const std::string& path() const = 0;
};

// kAuto: GZIP or zstd where the bytes begin as these do, otherwise none. ZLIB
// has no mark of its own: text may begin like it.
enum class Compression : uint8_t { kNone, kGzip, kZlib, kZstd, kAuto };

// tf.data's names: "", "GZIP", "ZLIB"; and "ZSTD", "AUTO". Unimplemented where
// the build has no zstd.
Result<Compression> compression_of(std::string_view name);

Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path, Compression compression);

// Whole members (in zstd: frames) one behind the other, and zeros behind the
// last, are one stream; of ZLIB there is one. One that is cut or damaged is DataLoss with the place in the
// compressed bytes, and so is an empty one: it was never written.
Result<std::unique_ptr<ByteStream>> decompress(std::unique_ptr<ByteStream> bytes, Compression compression);

// Bytes at hand. `path` is what errors call them.
std::unique_ptr<ByteStream> memory_stream(std::string bytes, std::string path = "bytes in memory");

}  // namespace stoker
