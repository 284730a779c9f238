#pragma once

#include <array>
#include <span>
#include <type_traits>

#include "stoker/graph/op.h"

namespace stoker {

// Element-wise operations on two inputs whose row shapes broadcast as in NumPy. An operation is a table of inner loops,
// one for each type. This file has everything that they share.

struct ItemTypes {
  DType computed;  // both inputs are converted to it
  DType result;
};

// Computes n items. `a` and `b` advance by their strides in items (0, 1 or more), `out` by one. Returns false if an
// item has no result.
using BinaryLoop = bool (*)(const void* a, int64_t stride_a, const void* b, int64_t stride_b, void* out, int64_t n);
using UnaryLoop = bool (*)(const void* a, void* out, int64_t n);

struct BinaryItems {
  Result<ItemTypes> (*types)(DType a, DType b) = nullptr;
  std::array<BinaryLoop, 14> loops{};  // by the type of the computation; null: not used
  // The error message of a row with an item that has no result.
  std::string_view complaint = {};
  // For signed and unsigned 64-bit integers, which are compared without conversion.
  BinaryLoop signed_unsigned = nullptr, unsigned_signed = nullptr;
};

struct UnaryItems {
  Result<ItemTypes> (*types)(DType a) = nullptr;
  std::array<UnaryLoop, 14> loops{};
};

Result<Column> apply_items(const BinaryItems& items, std::span<const Column> inputs, OpRows& rows, Context& context);
Result<Column> apply_items(const UnaryItems& items, std::span<const Column> inputs, OpRows& rows, Context& context);
Result<LeafSpec> items_spec(const BinaryItems& items, std::span<const LeafSpec> inputs);
Result<LeafSpec> items_spec(const UnaryItems& items, std::span<const LeafSpec> inputs);

// Returns an error such as "expected numbers, got string and int32".
Error no_numbers(DType a, DType b);
Error no_numbers(DType a);

// ---- inner loops

// The type in which a value is computed: float for float16 and bfloat16. A bool is read as a byte, because the rows
// that failed contain arbitrary bytes.
template <typename T>
struct Item {
  using Stored = T;
  using Computed = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
template <>
struct Item<bool> {
  using Stored = uint8_t;
  using Computed = bool;
  static bool load(uint8_t value) { return value != 0; }
  static uint8_t store(bool value) { return value; }
};
template <>
struct Item<Float16> {
  using Stored = Float16;
  using Computed = float;
  static float load(Float16 value) { return static_cast<float>(value); }
  static Float16 store(float value) { return Float16(value); }
};
template <>
struct Item<Bfloat16> {
  using Stored = Bfloat16;
  using Computed = float;
  static float load(Bfloat16 value) { return static_cast<float>(value); }
  static Bfloat16 store(float value) { return Bfloat16(value); }
};

// Applies F()(a, b, ok) to items of types A and B and stores the results as R.
template <typename F, typename A, typename B, typename R>
bool binary_loop(const void* a, int64_t stride_a, const void* b, int64_t stride_b, void* out, int64_t n) {
  const auto* x = static_cast<const typename Item<A>::Stored*>(a);
  const auto* y = static_cast<const typename Item<B>::Stored*>(b);
  auto* to = static_cast<typename Item<R>::Stored*>(out);
  bool ok = true;
  const auto item = [&ok](auto left, auto right) { return Item<R>::store(F()(left, right, ok)); };
  if (stride_a == 1 && stride_b == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = item(Item<A>::load(x[i]), Item<B>::load(y[i]));
  } else if (stride_a == 1 && stride_b == 0) {
    const auto right = Item<B>::load(*y);
    for (int64_t i = 0; i < n; ++i) to[i] = item(Item<A>::load(x[i]), right);
  } else if (stride_a == 0 && stride_b == 1) {
    const auto left = Item<A>::load(*x);
    for (int64_t i = 0; i < n; ++i) to[i] = item(left, Item<B>::load(y[i]));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = item(Item<A>::load(x[i * stride_a]), Item<B>::load(y[i * stride_b]));
  }
  return ok;
}

template <typename F, typename A, typename R>
bool unary_loop(const void* a, void* out, int64_t n) {
  const auto* x = static_cast<const typename Item<A>::Stored*>(a);
  auto* to = static_cast<typename Item<R>::Stored*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = Item<R>::store(F()(Item<A>::load(x[i])));
  return true;
}

template <typename T>
constexpr bool is_computed_float =
    std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16> || std::is_floating_point_v<T>;

// Fills the table of loops for the types that `F::takes<T>` selects.
template <typename F, typename Loops>
constexpr void fill_loops(Loops& loops) {
  const auto fill = [&]<typename T>(DType type, T) {
    if constexpr (F::template takes<T>) loops[static_cast<size_t>(type)] = F::template loop<T>;
  };
#define STOKER_FILL_LOOP(name, T) fill(DType::name, T{});
  STOKER_DTYPES(STOKER_FILL_LOOP)
#undef STOKER_FILL_LOOP
}

}  // namespace stoker
