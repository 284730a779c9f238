#include "stoker/ops/logic.h"

#include "stoker/ops/call.h"
#include "stoker/ops/elementwise.h"

namespace stoker {
namespace {

constexpr ItemTypes kBools{DType::kBool, DType::kBool};

Result<ItemTypes> truths(DType a, DType b) {
  if (a == DType::kBytes || b == DType::kBytes) return no_numbers(a, b);
  return kBools;
}
Result<ItemTypes> truth(DType a) {
  if (a == DType::kBytes) return no_numbers(a);
  return kBools;
}

struct AndItem {
  bool operator()(bool a, bool b, bool&) const { return a && b; }
};
struct OrItem {
  bool operator()(bool a, bool b, bool&) const { return a || b; }
};
struct NotItem {
  bool operator()(bool a) const { return !a; }
};

template <typename F>
constexpr BinaryItems on_bools() {
  BinaryItems items{&truths, {}};
  items.loops[static_cast<size_t>(DType::kBool)] = &binary_loop<F, bool, bool, bool>;
  return items;
}
constexpr UnaryItems not_of_bools() {
  UnaryItems items{&truth, {}};
  items.loops[static_cast<size_t>(DType::kBool)] = &unary_loop<NotItem, bool, bool>;
  return items;
}

constexpr BinaryItems kAnd = on_bools<AndItem>();
constexpr BinaryItems kOr = on_bools<OrItem>();
constexpr UnaryItems kNot = not_of_bools();

}  // namespace

Result<LeafSpec> LogicalAnd::spec(std::span<const LeafSpec> inputs) const { return items_spec(kAnd, inputs); }
Result<Column> LogicalAnd::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kAnd, inputs, rows, context);
}

Result<LeafSpec> LogicalOr::spec(std::span<const LeafSpec> inputs) const { return items_spec(kOr, inputs); }
Result<Column> LogicalOr::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kOr, inputs, rows, context);
}

Result<LeafSpec> LogicalNot::spec(std::span<const LeafSpec> inputs) const { return items_spec(kNot, inputs); }
Result<Column> LogicalNot::apply(std::span<const Column> inputs, OpRows& rows, Context& context) const {
  return apply_items(kNot, inputs, rows, context);
}

Value operator&&(Value a, Value b) { return call(LogicalAnd{}, {std::move(a), std::move(b)}); }
Value operator||(Value a, Value b) { return call(LogicalOr{}, {std::move(a), std::move(b)}); }
Value operator!(Value a) { return call(LogicalNot{}, {std::move(a)}); }

}  // namespace stoker
