#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace stoker {

// GZIP and ZLIB wrap deflate; zstd is its own.
enum class Wrapper : uint8_t { kGzip, kZlib, kZstd };
std::string_view name_of(Wrapper wrapper);

// Undoes compression, one wrapped stream (in GZIP: a member, in zstd: a frame)
// at a time, header and checksum included.
class Inflater {
 public:
  // An inflater may take in some bytes before it knows that they lie behind the
  // end. It then gives them back, at most so many.
  static constexpr size_t kMostGivenBack = 8;

  struct Step {
    ptrdiff_t consumed = 0;  // of `in`; negative: as many bytes of the inputs before are given back
    size_t produced = 0;
    bool finished = false;         // the stream is whole; call restart() before the next
    const char* damage = nullptr;  // what is wrong with it; call nothing but restart() then
  };

  virtual ~Inflater() = default;
  // Does nothing, neither consumes nor produces nor finishes, only when it needs more of `in`.
  virtual Step step(std::span<const char> in, std::span<char> out) = 0;
  virtual void restart() = 0;
};

// The faster one there is; null for zstd in a build without it. Text of words and numbers, GZIP level 6, one thread
// of an AMD EPYC: zlib 0.38 GB/s, ISA-L 1.1 GB/s (bench/kernels/inflate_bench).
std::unique_ptr<Inflater> make_inflater(Wrapper wrapper);

std::unique_ptr<Inflater> make_zlib_inflater(Wrapper wrapper);
std::unique_ptr<Inflater> make_isal_inflater(Wrapper wrapper);  // null in a build without ISA-L
std::unique_ptr<Inflater> make_zstd_inflater();                 // null in a build without zstd

}  // namespace stoker
