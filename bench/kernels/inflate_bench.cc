// How fast does each decompressor (zlib, ISA-L) decompress text, and how much
// slower is it if the text is also split into lines?
#include "stoker/io/inflate.h"

#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <zlib.h>

#include "stoker/core/rng.h"
#include "stoker/io/lines.h"

namespace stoker {
namespace {

std::string words(size_t size) {
  constexpr const char* kWords[] = {"the ",  "of ",      "a ",     "stage ",   "never\n", "waits ", "only ", "runtime ",
                                    "owns ", "threads ", "order ", "memory\n", "and ",    "time ",  "seed ", "origin "};
  Rng rng(1, 0, 0, 0);
  std::string text;
  while (text.size() < size) text += rng.below(8) == 0 ? std::to_string(rng.bits32()) + " " : kWords[rng.below(16)];
  return text;
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

const std::string& text() {
  static const std::string text = words(16 << 20);
  return text;
}

const std::string& compressed() {
  static const std::string compressed = gzipped(text());
  return compressed;
}

void inflate_with(benchmark::State& state, std::unique_ptr<Inflater> inflater) {
  if (!inflater) return state.SkipWithError("built without ISA-L");
  const std::string& bytes = compressed();
  std::vector<char> out(256 << 10);
  for (auto _ : state) {
    inflater->restart();
    std::span<const char> rest(bytes);
    while (!rest.empty()) rest = rest.subspan(static_cast<size_t>(inflater->step(rest, out).consumed));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text().size()));
}

void zlib(benchmark::State& state) { inflate_with(state, make_zlib_inflater(Wrapper::kGzip)); }
void isal(benchmark::State& state) { inflate_with(state, make_isal_inflater(Wrapper::kGzip)); }

void lines(benchmark::State& state, const std::string& bytes, Compression compression) {
  for (auto _ : state) {
    LineReader reader(decompress(memory_stream(bytes), compression).value());
    std::string_view line;
    while (reader.next(line).value()) benchmark::DoNotOptimize(line);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text().size()));
}

BENCHMARK(zlib);
BENCHMARK(isal);
BENCHMARK_CAPTURE(lines, plain, text(), Compression::kNone);
BENCHMARK_CAPTURE(lines, gzip, compressed(), Compression::kGzip);

}  // namespace
}  // namespace stoker

BENCHMARK_MAIN();
