#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stoker {

// GZIP and ZLIB are containers of deflate data; zstd is a format of its own.
enum class Wrapper : uint8_t { kGzip, kZlib, kZstd };
std::string_view name_of(Wrapper wrapper);

// Decompresses one stream at a time (in GZIP a member, in zstd a frame), including its header and
// checksum. Not thread-safe.
class Inflater {
 public:
  // An inflater may consume bytes before it detects that they are after the end of the stream. It
  // then returns them: at most this many.
  static constexpr size_t kMostGivenBack = 8;

  struct Step {
    ptrdiff_t consumed = 0;  // of `in`; negative: this many bytes of earlier inputs are returned
    size_t produced = 0;
    bool finished = false;         // the stream is complete; call restart() before the next one
    const char* damage = nullptr;  // why the data is invalid; then only restart() may be called
  };

  virtual ~Inflater() = default;
  // Neither consumes nor produces nor finishes only if it needs more input.
  virtual Step step(std::span<const char> in, std::span<char> out) = 0;
  virtual void restart() = 0;
};

// Returns the fastest one available, or null for zstd in a build without it. Decompressing text at
// GZIP level 6 on one thread of an AMD EPYC: zlib 0.38 GB/s, ISA-L 1.1 GB/s
// (bench/kernels/inflate_bench).
std::unique_ptr<Inflater> make_inflater(Wrapper wrapper);

std::unique_ptr<Inflater> make_zlib_inflater(Wrapper wrapper);
std::unique_ptr<Inflater> make_isal_inflater(Wrapper wrapper);  // null in a build without ISA-L
std::unique_ptr<Inflater> make_zstd_inflater();                 // null in a build without zstd

}  // namespace stoker
