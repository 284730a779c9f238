// How long does it take to resize a photograph of 500x375 to 224x224, and how much
// faster is the vectorized code? Pillow 12.0 takes 1.1 ms on the same machine.
#include "stoker/image/resize.h"

#include <benchmark/benchmark.h>

namespace stoker {
namespace {

Array photograph() {
  Array image = Array::make({375, 500, 3}, DType::kUint8).value();
  uint32_t i = 0;
  for (uint8_t& value : image.mutable_values<uint8_t>()) value = static_cast<uint8_t>((i++ * 2654435761u) >> 13);
  return image;
}

void resize(benchmark::State& state, ResizeHow how, const ResizeKernels& kernels) {
  const Array from = photograph();
  Array to = Array::make({224, 224, 3}, resized_type(from.type(), how).value()).value();
  for (auto _ : state) {
    if (!resize_image(image_view(from), image_view(to), how, kernels)) return state.SkipWithError("failed");
    benchmark::DoNotOptimize(to.raw());
  }
}

constexpr ResizeHow kTensorflow{};
constexpr ResizeHow kTensorflowAntialias{.antialias = true};
constexpr ResizeHow kPillow{.manner = Manner::kPillow};

BENCHMARK_CAPTURE(resize, pillow_vector, kPillow, vector_resize_kernels())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resize, pillow_plain, kPillow, plain_resize_kernels())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resize, tensorflow_vector, kTensorflow, vector_resize_kernels())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resize, tensorflow_plain, kTensorflow, plain_resize_kernels())->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resize, tensorflow_antialias_vector, kTensorflowAntialias, vector_resize_kernels())
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(resize, tensorflow_antialias_plain, kTensorflowAntialias, plain_resize_kernels())
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace stoker

BENCHMARK_MAIN();
