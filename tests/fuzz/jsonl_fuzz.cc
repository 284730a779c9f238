// Any line gives a dict of the requested features, in their types and shapes, or an error of that
// line.
#include <cstddef>
#include <cstdint>

#include "stoker/core/error.h"
#include "stoker/sources/jsonl.h"

namespace stoker {
namespace {

JsonLines features() {
  return {.filenames = {"x"},
          .names = {"a", "b", "c"},
          .dtypes = {DType::kBytes, DType::kInt32, DType::kFloat64},
          .shapes = {{}, {-1, 2}, {-1}},
          .defaults = {std::nullopt, std::nullopt, Array::from(std::vector<double>{1.0})}};
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  static const JsonLines stage = features();
  Context context;
  const Bytes text(reinterpret_cast<const char*>(data), size);
  const Result<Element> element =
      stage.load(tuple_of({Element(Array::of_bytes(text)), Element(Array::of(int64_t{1}))}), context);
  if (!element) return 0;
  STOKER_CHECK((*element)["a"].type() == DType::kBytes && (*element)["b"].rank() == 2);
  STOKER_CHECK((*element)["b"].dim(1) == 2 || (*element)["b"].count() == 0);
  STOKER_CHECK((*element)["c"].type() == DType::kFloat64 && (*element)["c"].rank() == 1);
  return 0;
}
