#pragma once

#include "stoker/graph/op.h"

namespace stoker {

// The parameters for the table of stages and operations.
std::vector<ParamDoc> documented(const Fields& fields);

// Derives an operation from a plain struct:
//   kName, kDoc, describe(Fields&), spec(inputs), and either
//   apply(std::span<const Column>, OpRows&, Context&) -> Result<Column>   a kernel over rows, or
//   apply(std::span<const Array>, Context&) -> Result<Array>              one row at a time.
// chain(links), static, is written where it leads chains (op.h). kWaits, kRandom
// and kByItem are said where they hold, kInputs where the number of
// inputs is fixed, kPlain where plain numbers follow the other inputs.
template <typename T>
class OpOf final : public Op {
 public:
  explicit OpOf(T op) : op_(std::move(op)) {}

  static const OpType& info() {
    static const OpType type = make_info();
    return type;
  }

  const T& get() const { return op_; }
  const OpType& type() const override { return info(); }
  Result<Json> params(WriteContext& context) const override {
    T copy = op_;
    Fields fields;
    copy.describe(fields);
    Json json = Json::dict();
    STOKER_TRY(write_fields(fields, json, context));
    return json;
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const override { return op_.spec(inputs); }
  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const override {
    if constexpr (requires { op_.apply(inputs, rows, context); })
      return op_.apply(inputs, rows, context);
    else
      return apply_by_row(inputs, rows, context);
  }

 private:
  static OpType make_info() {
    OpType type;
    type.name = T::kName;
    type.doc = T::kDoc;
    if constexpr (requires { T::kWaits; }) type.waits = T::kWaits;
    if constexpr (requires { T::kRandom; }) type.random = T::kRandom;
    if constexpr (requires { T::kByItem; }) type.by_item = T::kByItem;
    if constexpr (requires { T::kInputs; }) type.inputs = T::kInputs;
    if constexpr (requires { T::kPlain; }) type.plain = T::kPlain;
    if constexpr (requires { &T::chain; }) type.chain = &T::chain;
    T defaults{};
    Fields fields;
    defaults.describe(fields);
    type.params = documented(fields);
    type.read = &read;
    return type;
  }
  static Result<std::shared_ptr<const Op>> read(const Json& json, ReadContext& context) {
    T op{};
    Fields fields;
    op.describe(fields);
    STOKER_TRY(read_fields(fields, json, context, T::kName, {"op", "in", "id"}));
    return std::make_shared<const OpOf>(std::move(op));
  }
  Result<Column> apply_by_row(std::span<const Column> inputs, OpRows& rows, Context& context) const {
    Arrays results(static_cast<size_t>(rows.size));
    InlineVector<Array, 2> row(inputs.size());
    for (int32_t i = 0; i < rows.size; ++i) {
      if (rows.has_failed(i)) continue;
      for (size_t k = 0; k < inputs.size(); ++k) row[k] = input_row(inputs[k], i);
      context.set_row(i);
      Result<Array> result = one_row(row, context);
      if (result)
        results[static_cast<size_t>(i)] = *std::move(result);
      else
        rows.fail(i, std::move(result).error());
    }
    return Column(std::move(results));
  }

  Result<Array> one_row(const InlineVector<Array, 2>& row, Context& context) const {
    try {
      return op_.apply(std::span<const Array>(row.data(), row.size()), context);
    } catch (...) {
      return error_of_exception();
    }
  }

  T op_;
};

// The struct behind an operation, where it is of this type.
template <typename T>
const T* as(const Op& op) {
  const auto* known = dynamic_cast<const OpOf<T>*>(&op);
  return known ? &known->get() : nullptr;
}

}  // namespace stoker
