#include "stoker/ops/comparison.h"

#include <utility>

#include "stoker/graph/promotion.h"
#include "stoker/ops/call.h"
#include "stoker/ops/elementwise.h"

namespace stoker {
namespace {

Result<ItemTypes> compared_types(DType a, DType b) {
  const std::optional<DType> both = promote(a, b);
  if (!both) return Error::invalid("cannot compare ", name_of(a), " and ", name_of(b));
  return ItemTypes{*both, DType::kBool};
}

template <typename F>
struct Compared {
  template <typename T>
  static constexpr bool takes = true;
  template <typename T>
  static constexpr BinaryLoop loop = &binary_loop<F, T, T, bool>;
};

template <typename T>
constexpr bool is_wide = std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t>;

// One struct for each comparison. 64-bit integers of different signedness are compared as numbers, not as bits.
#define STOKER_COMPARISON(name, sign, exact)                           \
  struct name {                                                        \
    template <typename A, typename B>                                  \
    bool operator()(A a, B b, bool&) const {                           \
      if constexpr (!std::is_same_v<A, B> && is_wide<A> && is_wide<B>) \
        return std::exact(a, b);                                       \
      else                                                             \
        return a sign b;                                               \
    }                                                                  \
  };
STOKER_COMPARISON(EqualItem, ==, cmp_equal)
STOKER_COMPARISON(NotEqualItem, !=, cmp_not_equal)
STOKER_COMPARISON(LessItem, <, cmp_less)
STOKER_COMPARISON(LessEqualItem, <=, cmp_less_equal)
STOKER_COMPARISON(GreaterItem, >, cmp_greater)
STOKER_COMPARISON(GreaterEqualItem, >=, cmp_greater_equal)
#undef STOKER_COMPARISON

template <typename F>
constexpr BinaryItems comparison() {
  BinaryItems items{
      &compared_types, {}, {}, &binary_loop<F, int64_t, uint64_t, bool>, &binary_loop<F, uint64_t, int64_t, bool>};
  fill_loops<Compared<F>>(items.loops);
  return items;
}

constexpr BinaryItems kEqual = comparison<EqualItem>();
constexpr BinaryItems kNotEqual = comparison<NotEqualItem>();
constexpr BinaryItems kLess = comparison<LessItem>();
constexpr BinaryItems kLessEqual = comparison<LessEqualItem>();
constexpr BinaryItems kGreater = comparison<GreaterItem>();
constexpr BinaryItems kGreaterEqual = comparison<GreaterEqualItem>();

}  // namespace

Result<LeafSpec> Equal::spec(std::span<const LeafSpec> inputs) const { return items_spec(kEqual, inputs); }
Result<Column> Equal::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kEqual, inputs, rows, context);
}

Result<LeafSpec> NotEqual::spec(std::span<const LeafSpec> inputs) const { return items_spec(kNotEqual, inputs); }
Result<Column> NotEqual::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kNotEqual, inputs, rows, context);
}

Result<LeafSpec> Less::spec(std::span<const LeafSpec> inputs) const { return items_spec(kLess, inputs); }
Result<Column> Less::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kLess, inputs, rows, context);
}

Result<LeafSpec> LessEqual::spec(std::span<const LeafSpec> inputs) const { return items_spec(kLessEqual, inputs); }
Result<Column> LessEqual::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kLessEqual, inputs, rows, context);
}

Result<LeafSpec> Greater::spec(std::span<const LeafSpec> inputs) const { return items_spec(kGreater, inputs); }
Result<Column> Greater::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kGreater, inputs, rows, context);
}

Result<LeafSpec> GreaterEqual::spec(std::span<const LeafSpec> inputs) const {
  return items_spec(kGreaterEqual, inputs);
}
Result<Column> GreaterEqual::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kGreaterEqual, inputs, rows, context);
}

Value operator==(Value a, Value b) { return call(Equal{}, {std::move(a), std::move(b)}); }
Value operator!=(Value a, Value b) { return call(NotEqual{}, {std::move(a), std::move(b)}); }
Value operator<(Value a, Value b) { return call(Less{}, {std::move(a), std::move(b)}); }
Value operator<=(Value a, Value b) { return call(LessEqual{}, {std::move(a), std::move(b)}); }
Value operator>(Value a, Value b) { return call(Greater{}, {std::move(a), std::move(b)}); }
Value operator>=(Value a, Value b) { return call(GreaterEqual{}, {std::move(a), std::move(b)}); }

}  // namespace stoker
