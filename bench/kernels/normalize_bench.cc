// How long does it take to normalize an image of 224x224 for a network, and how
// much faster is the vectorized code? uint8 uses it; uint16 uses the plain loop.
#include "stoker/image/normalize.h"

#include <benchmark/benchmark.h>

namespace stoker {
namespace {

void normalize(benchmark::State& state, DType type, Layout layout) {
  Array from = Array::make({224, 224, 3}, DType::kUint16).value();
  uint32_t i = 0;
  for (uint16_t& value : from.mutable_values<uint16_t>()) value = static_cast<uint16_t>((i++ * 2654435761u) >> 13);
  const Normalization how{unit_scale(type), {0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  const ImageView image{from.raw(), 224, 224, 3, 224 * 3 * static_cast<int64_t>(size_of(type)), type};
  std::vector<float> to(static_cast<size_t>(from.count()));
  for (auto _ : state) {
    normalize_image(image, how, layout, to.data());
    benchmark::DoNotOptimize(to.data());
  }
}

BENCHMARK_CAPTURE(normalize, planes_vector, DType::kUint8, Layout::kPlanes)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(normalize, planes_plain, DType::kUint16, Layout::kPlanes)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(normalize, pixels_vector, DType::kUint8, Layout::kPixels)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(normalize, pixels_plain, DType::kUint16, Layout::kPixels)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stoker

BENCHMARK_MAIN();
