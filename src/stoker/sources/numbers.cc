#include "stoker/sources/numbers.h"

namespace stoker {

Result<void> check_number_type(DType type) {
  if (type == DType::kBytes || type == DType::kBool)
    return Error::invalid("expected a number type, got ", name_of(type));
  return {};
}

Result<Run> numbers_at(std::span<const int64_t> positions, int64_t start, int64_t step, DType type) {
  const auto n = static_cast<int64_t>(positions.size());
  STOKER_TRY(Array block, Array::make(Dims(&n, 1), type));
  visit_dtype(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, Bytes>) {
      T* to = block.mutable_values<T>().data();
      for (int64_t i = 0; i < n; ++i) {
        // Unsigned arithmetic: a counter may exceed the largest number and wrap.
        const auto number = static_cast<int64_t>(static_cast<uint64_t>(start) +
                                                 static_cast<uint64_t>(positions[static_cast<size_t>(i)]) *
                                                     static_cast<uint64_t>(step));
        if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
          to[i] = T(static_cast<float>(number));
        else
          to[i] = static_cast<T>(number);
      }
    }
  });
  Run run;
  run.nest = Nest::leaf();
  run.size = run_size(n);
  run.columns.emplace_back(std::move(block));
  return run;
}

}  // namespace stoker
