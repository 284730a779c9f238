// Any bytes are decompressed to the same text and the same error, regardless of the buffer size.
// Both inflaters agree on complete data.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/io/inflate.h"
#include "stoker/io/stream.h"

namespace stoker {
namespace {

constexpr size_t kEnough = 1 << 20;  // a decompression bomb may produce far more

struct Text {
  std::string bytes;
  bool whole = false;
};

Text inflated(const std::string& bytes, Compression compression, size_t piece) {
  const auto stream = decompress(memory_stream(bytes), compression).value();
  std::vector<char> buffer(piece);
  Text text;
  while (text.bytes.size() < kEnough) {
    const Result<size_t> count = stream->read(buffer);
    if (!count.ok()) return text;
    text.whole = *count == 0;
    if (text.whole) return text;
    text.bytes.append(buffer.data(), *count);
  }
  text.bytes.resize(kEnough);
  return text;
}

std::optional<std::string> inflated_by(Inflater& inflater, const std::string& bytes) {
  std::vector<char> buffer(4096);
  ptrdiff_t taken = 0;
  std::string text;
  while (text.size() < kEnough) {
    const Inflater::Step step = inflater.step(std::span(bytes).subspan(static_cast<size_t>(taken)), buffer);
    if (step.damage || (step.consumed == 0 && step.produced == 0 && !step.finished)) return std::nullopt;
    taken += step.consumed;
    text.append(buffer.data(), step.produced);
    if (step.finished) return text;
  }
  return std::nullopt;
}

void check_twins(const std::string& bytes, Wrapper wrapper) {
  const auto fast = make_isal_inflater(wrapper);
  if (!fast) return;
  const auto plain = make_zlib_inflater(wrapper);
  const std::optional<std::string> one = inflated_by(*fast, bytes);
  const std::optional<std::string> two = inflated_by(*plain, bytes);
  STOKER_CHECK(!one || !two || *one == *two);
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using stoker::Compression;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Compression compression = data[0] == 0  ? Compression::kZstd
                                  : data[0] % 2 ? Compression::kGzip
                                                : Compression::kZlib;
  const stoker::Text large = stoker::inflated(bytes, compression, 1 << 16);
  const stoker::Text small = stoker::inflated(bytes, compression, 1 + data[0] / 2);
  STOKER_CHECK(large.whole == small.whole);
  STOKER_CHECK(!large.whole || large.bytes == small.bytes);
  if (compression != Compression::kZstd)
    stoker::check_twins(bytes, data[0] % 2 ? stoker::Wrapper::kGzip : stoker::Wrapper::kZlib);
  return 0;
}
