#include "stoker/graph/expr.h"

#include <algorithm>

namespace stoker {
namespace {

std::optional<size_t> field_of(const Expr& expr, std::string_view key) {
  if (expr.kind == Expr::Kind::kDict) {
    const auto at = std::ranges::find(expr.keys, key);
    if (at != expr.keys.end()) return static_cast<size_t>(at - expr.keys.begin());
  } else if (expr.kind == Expr::Kind::kTuple) {
    for (size_t i = 0; i < expr.inputs.size(); ++i)
      if (key == std::to_string(i)) return i;
  }
  return std::nullopt;
}

}  // namespace

Expr::Ref Expr::of_argument(int i) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kArgument;
  expr->argument = i;
  return expr;
}

Expr::Ref Expr::of_constant(Array value, bool weak) {
  auto expr = std::make_shared<Expr>();
  expr->constant = std::move(value);
  if (Buffer* owner = expr->constant.owner()) owner->freeze();
  expr->weak = weak;
  return expr;
}

Expr::Ref Expr::of_op(std::shared_ptr<const Op> op, std::vector<Ref> inputs) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kOp;
  expr->op = std::move(op);
  expr->inputs = std::move(inputs);
  return expr;
}

Expr::Ref Expr::of_tuple(std::vector<Ref> parts) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kTuple;
  expr->inputs = std::move(parts);
  return expr;
}

Expr::Ref Expr::of_dict(std::vector<std::string> keys, std::vector<Ref> parts) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kDict;
  expr->keys = std::move(keys);
  expr->inputs = std::move(parts);
  return expr;
}

Expr::Ref Expr::of_get(Ref from, std::string key) {
  if (const std::optional<size_t> field = field_of(*from, key)) return from->inputs[*field];
  auto expr = std::make_shared<Expr>();
  expr->kind = Kind::kGet;
  expr->inputs.push_back(std::move(from));
  expr->key = std::move(key);
  return expr;
}

Expr::~Expr() {
  std::vector<Ref> pending = std::move(inputs);
  while (!pending.empty()) {
    const Ref last = std::move(pending.back());
    pending.pop_back();
    if (!last || last.use_count() > 1) continue;
    auto& inner = const_cast<Expr&>(*last).inputs;  // the last reference, to an object that is not const
    pending.insert(pending.end(), std::make_move_iterator(inner.begin()), std::make_move_iterator(inner.end()));
    inner.clear();
  }
}

Value::Value(int64_t value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(double value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(bool value) : Value(Expr::of_constant(Array::of(value), true)) {}
Value::Value(const char* text) : Value(Expr::of_constant(Array::of_bytes(text), false)) {}
Value::Value(Array value) : Value(Expr::of_constant(std::move(value), false)) {}

Value dict(std::vector<std::pair<std::string, Value>> fields) {
  std::vector<std::string> keys;
  std::vector<Expr::Ref> parts;
  for (auto& [key, value] : fields) {
    keys.push_back(std::move(key));
    parts.push_back(value.expr());
  }
  return Value(Expr::of_dict(std::move(keys), std::move(parts)));
}

}  // namespace stoker
