#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stoker/core/result.h"

namespace stoker {

class File;

// A sequence of bytes that is read forward. Its errors name the file. Not thread-safe.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  // Reads at least one byte; returns 0 at the end. `into` must not be empty. Bytes before an error
  // are returned first; after an error, every call fails with it.
  virtual Result<size_t> read(std::span<char> into) = 0;

  // Skips this many bytes, without reading them if possible. Fails with DataLoss if the stream ends
  // before that.
  virtual Result<void> skip(int64_t bytes);
  // The number of remaining bytes, if known.
  virtual std::optional<int64_t> left() const { return std::nullopt; }

  virtual const std::string& path() const = 0;
};

// kAuto detects GZIP and zstd by the first bytes; everything else is not compressed. ZLIB has no
// signature: text may start with the same bytes.
enum class Compression : uint8_t { kNone, kGzip, kZlib, kZstd, kAuto };

// The names of tf.data, "", "GZIP" and "ZLIB", and in addition "ZSTD" and "AUTO". Fails with
// Unimplemented if the build has no zstd.
Result<Compression> compression_of(std::string_view name);

// Opens a file and decompresses it.
Result<std::unique_ptr<ByteStream>> open_stream(const std::string& path, Compression compression);
// The same for a file that nothing was read from.
Result<std::unique_ptr<ByteStream>> open_stream(File file, Compression compression);

// Decompresses a stream. Concatenated members (in zstd: frames), and zeros after the last one, are
// one stream; ZLIB has one member. Truncated or damaged data fails with DataLoss and the offset in
// the compressed bytes. So does an empty stream, because no compressor writes one.
Result<std::unique_ptr<ByteStream>> decompress(std::unique_ptr<ByteStream> bytes, Compression compression);

// A stream of bytes in memory. Errors use `path` as its name.
std::unique_ptr<ByteStream> memory_stream(std::string bytes, std::string path = "bytes in memory");

}  // namespace stoker
