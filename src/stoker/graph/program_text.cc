// Programs as formulas, for explain.
#include <algorithm>

#include "stoker/graph/program_plan.h"

namespace stoker {
namespace {

constexpr size_t kMaxLength = 160;  // in bytes

struct Infix {
  std::string_view op;
  std::string_view sign;
  int precedence;  // as in Python; operators with a higher one bind first
};
constexpr Infix kInfix[] = {
    {"logical_or", "or", 1},   {"logical_and", "and", 2}, {"equal", "==", 4},   {"not_equal", "!=", 4},
    {"less", "<", 4},          {"less_equal", "<=", 4},   {"greater", ">", 4},  {"greater_equal", ">=", 4},
    {"add", "+", 5},           {"subtract", "-", 5},      {"multiply", "*", 6}, {"divide", "/", 6},
    {"floor_divide", "//", 6}, {"mod", "%", 6},           {"power", "**", 8},
};
constexpr Infix kPrefix[] = {{"logical_not", "not ", 3}, {"negative", "-", 7}};

class Formatter {
 public:
  std::string text;

  void add(const Expr& expr, int outer) {
    if (text.size() > kMaxLength) return;
    switch (expr.kind) {
      case Expr::Kind::kArgument: text += argument_name(expr.argument); return;
      case Expr::Kind::kConstant: text += expr.constant.describe(); return;
      case Expr::Kind::kOp: add_op(expr, outer); return;
      case Expr::Kind::kTuple:
        text += "(";
        add_all(expr.inputs, {});
        text += expr.inputs.size() == 1 ? ",)" : ")";
        return;
      case Expr::Kind::kDict:
        text += "{";
        add_all(expr.inputs, expr.keys);
        text += "}";
        return;
      case Expr::Kind::kGet:
        add(*expr.inputs[0], 9);
        text += "['" + expr.key + "']";
        return;
    }
  }

 private:
  void add_all(const std::vector<Expr::Ref>& parts, const std::vector<std::string>& keys) {
    for (size_t i = 0; i < parts.size() && text.size() <= kMaxLength; ++i) {
      if (i) text += ", ";
      if (!keys.empty()) text += "'" + keys[i] + "': ";
      add(*parts[i], 0);
    }
  }
  void add_op(const Expr& expr, int outer) {
    const std::string_view name = expr.op->type().name;
    if (const auto* infix = std::ranges::find(kInfix, name, &Infix::op);
        infix != std::end(kInfix) && expr.inputs.size() == 2) {
      if (infix->precedence < outer) text += "(";
      const bool right_associative = name == "power";
      add(*expr.inputs[0], infix->precedence + (right_associative ? 1 : 0));
      text += " " + std::string(infix->sign) + " ";
      add(*expr.inputs[1], infix->precedence + (right_associative ? 0 : 1));
      if (infix->precedence < outer) text += ")";
      return;
    }
    if (const auto* prefix = std::ranges::find(kPrefix, name, &Infix::op);
        prefix != std::end(kPrefix) && expr.inputs.size() == 1) {
      if (prefix->precedence < outer) text += "(";
      text += prefix->sign;
      add(*expr.inputs[0], prefix->precedence);
      if (prefix->precedence < outer) text += ")";
      return;
    }
    text += std::string(name) + "(";
    add_all(expr.inputs, {});
    add_params(*expr.op, expr.inputs.empty());
    text += ")";
  }
  // Adds the parameters that differ from their defaults.
  void add_params(const Op& op, bool first) {
    WriteContext context;
    const Result<Json> params = op.params(context);
    if (!params) {
      text += first ? "…" : ", …";
      return;
    }
    for (const auto& [key, value] : *params->as<Json::Dict>()) {
      const auto doc = std::ranges::find(op.type().params, key, &ParamDoc::name);
      if (doc != op.type().params.end() && !doc->required && doc->default_value == value) continue;
      const std::string* string = value.as<std::string>();
      text += (std::exchange(first, false) ? "" : ", ") + key + "=" + (string ? *string : value.text());
    }
  }
};

}  // namespace

std::string Program::describe() const {
  Formatter formatter;
  formatter.add(*result_, 0);
  std::string text = std::move(formatter.text);
  if (text.size() <= kMaxLength) return text;
  size_t end = kMaxLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

}  // namespace stoker
