#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op_of.h"

namespace stoker {

// Applies an operation to symbolic values: `return call(Add{}, {a, b})`.
template <typename T>
Value call(T op, std::vector<Value> inputs) {
  std::vector<Expr::Ref> parts;
  for (Value& input : inputs) parts.push_back(input.expr());
  return Value(Expr::of_op(std::make_shared<const OpOf<T>>(std::move(op)), std::move(parts)));
}

}  // namespace stoker
