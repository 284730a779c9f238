#pragma once

#include <concepts>

#include "stoker/graph/op.h"

namespace stoker {

// The optional functions of an operation's struct. A struct that has a member of such a name with another signature
// does not compile: otherwise a missing `const` would silently disable the function.
//
// To detect a name of any signature, a class inherits it from T and from a second base. If the name is ambiguous, T has
// it.
template <typename T>
struct ChainNamed {
  struct Name {
    int chain;
  };
  struct Both : T, Name {};
  static constexpr bool value = !requires { &Both::chain; };
};
template <typename T>
struct ContributionNamed {
  struct Name {
    int contribution;
  };
  struct Both : T, Name {};
  static constexpr bool value = !requires { &Both::contribution; };
};

// static Chain chain(std::span<const ChainLink> links): fuses the operations after this one with it (op.h).
template <typename T>
concept StartsChains = requires(std::span<const ChainLink> links) {
  { T::chain(links) } -> std::same_as<Chain>;
};

// Contribution contribution() const: what the operation contributes to a fused chain (op.h).
template <typename T>
concept Contributes = requires(const T& op) {
  { op.contribution() } -> std::same_as<Contribution>;
};

// Derives an operation from a plain struct with kName, kDoc, describe(Fields&), spec(inputs), and one of
//
//   Result<Column> apply(std::span<const Column>, OpRows&, Context&) const   all rows at once
//   Result<Array> apply(std::span<const Array>, Context&) const              one row at a time
//
// The optional members are the functions above, and the constants kInputs (the number of inputs, if it is fixed),
// kPlain, kWaits, kRandom and kByItem, which set the members of OpType.
template <typename T>
class OpOf final : public Op {
  static_assert(!ChainNamed<T>::value || StartsChains<T>,
                "the signature of `chain` must be: static Chain chain(std::span<const ChainLink>)");
  static_assert(!ContributionNamed<T>::value || Contributes<T>,
                "the signature of `contribution` must be: Contribution contribution() const");

 public:
  explicit OpOf(T op) : op_(std::move(op)) {}

  static const OpType& info() {
    static const OpType type = make_info();
    return type;
  }

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
  Contribution contribution() const override {
    if constexpr (Contributes<T>)
      return op_.contribution();
    else
      return {};
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
    if constexpr (StartsChains<T>) type.chain = &T::chain;
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

}  // namespace stoker
