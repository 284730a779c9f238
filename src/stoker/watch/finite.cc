#include "stoker/watch/finite.h"

#include <algorithm>

namespace stoker {
namespace {

// A value is not finite if all bits of its exponent are set. The counter is as
// wide as the values, so that the compiler vectorizes the loop. This many values
// per block do not overflow a 16-bit counter.
constexpr int64_t kAtATime = 4096;

template <typename Bits>
int64_t count_set(const void* values, int64_t count, Bits exponent) {
  const auto* bits = static_cast<const Bits*>(values);
  int64_t found = 0;
  for (int64_t first = 0; first < count; first += kAtATime) {
    const int64_t last = std::min(count, first + kAtATime);
    Bits some = 0;
    for (int64_t i = first; i < last; ++i) some += static_cast<Bits>((bits[i] & exponent) == exponent);
    found += static_cast<int64_t>(some);
  }
  return found;
}

int64_t first_bad_row(const Array& array) {
  const int64_t rows = array.rank() > 0 ? array.dim(0) : 1;
  const int64_t values = array.count() / std::max<int64_t>(1, rows);
  const auto* raw = static_cast<const std::byte*>(array.raw());
  const size_t bytes = size_of(array.type()) * static_cast<size_t>(values);
  int64_t row = 0;
  while (row + 1 < rows && count_non_finite(array.type(), raw + bytes * static_cast<size_t>(row), values) == 0) ++row;
  return row;
}

}  // namespace

int64_t count_non_finite(DType type, const void* values, int64_t count) {
  switch (type) {
    case DType::kFloat16: return count_set<uint16_t>(values, count, 0x7c00);
    case DType::kBfloat16: return count_set<uint16_t>(values, count, 0x7f80);
    case DType::kFloat32: return count_set<uint32_t>(values, count, 0x7f800000);
    case DType::kFloat64: return count_set<uint64_t>(values, count, 0x7ff0000000000000);
    default: return 0;
  }
}

std::optional<NonFinite> non_finite_in(const Array& array, std::string component) {
  if (!is_float(array.type())) return std::nullopt;
  const int64_t values = count_non_finite(array.type(), array.raw(), array.count());
  if (values == 0) return std::nullopt;
  const Buffer::Source* source = array.owner() ? array.owner()->source() : nullptr;
  return NonFinite{std::move(component), values, first_bad_row(array), source ? source->path : ""};
}

std::vector<NonFinite> non_finite_in(const Element& element) {
  std::vector<NonFinite> all;
  for (size_t leaf = 0; leaf < element.leaves.size(); ++leaf)
    if (is_float(element.leaves[leaf].type()))
      if (std::optional<NonFinite> bad = non_finite_in(element.leaves[leaf], element.nest->path_of(leaf)))
        all.push_back(*std::move(bad));
  return all;
}

}  // namespace stoker
