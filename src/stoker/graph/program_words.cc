// Programs in words, for explain.
#include <algorithm>

#include "stoker/graph/program_plan.h"

namespace stoker {
namespace {

constexpr size_t kLongest = 160;

struct Infix {
  std::string_view op;
  std::string_view sign;
  int binding;  // tighter is higher, as in Python
};
constexpr Infix kInfix[] = {
    {"logical_or", "or", 1},   {"logical_and", "and", 2}, {"equal", "==", 4},   {"not_equal", "!=", 4},
    {"less", "<", 4},          {"less_equal", "<=", 4},   {"greater", ">", 4},  {"greater_equal", ">=", 4},
    {"add", "+", 5},           {"subtract", "-", 5},      {"multiply", "*", 6}, {"divide", "/", 6},
    {"floor_divide", "//", 6}, {"mod", "%", 6},           {"power", "**", 8},
};
constexpr Infix kPrefix[] = {{"logical_not", "not ", 3}, {"negative", "-", 7}};

class Speaker {
 public:
  std::string text;

  void say(const Expr& expr, int outer) {
    if (text.size() > kLongest) return;
    switch (expr.kind) {
      case Expr::Kind::kArgument: text += argument_name(expr.argument); return;
      case Expr::Kind::kConstant: text += expr.constant.words(); return;
      case Expr::Kind::kOp: say_op(expr, outer); return;
      case Expr::Kind::kTuple:
        text += "(";
        say_all(expr.inputs, {});
        text += expr.inputs.size() == 1 ? ",)" : ")";
        return;
      case Expr::Kind::kDict:
        text += "{";
        say_all(expr.inputs, expr.keys);
        text += "}";
        return;
      case Expr::Kind::kGet:
        say(*expr.inputs[0], 9);
        text += "['" + expr.key + "']";
        return;
    }
  }

 private:
  void say_all(const std::vector<Expr::Ref>& parts, const std::vector<std::string>& keys) {
    for (size_t i = 0; i < parts.size() && text.size() <= kLongest; ++i) {
      if (i) text += ", ";
      if (!keys.empty()) text += "'" + keys[i] + "': ";
      say(*parts[i], 0);
    }
  }
  void say_op(const Expr& expr, int outer) {
    const std::string_view name = expr.op->type().name;
    if (const auto* infix = std::ranges::find(kInfix, name, &Infix::op);
        infix != std::end(kInfix) && expr.inputs.size() == 2) {
      if (infix->binding < outer) text += "(";
      const bool from_the_right = name == "power";
      say(*expr.inputs[0], infix->binding + (from_the_right ? 1 : 0));
      text += " " + std::string(infix->sign) + " ";
      say(*expr.inputs[1], infix->binding + (from_the_right ? 0 : 1));
      if (infix->binding < outer) text += ")";
      return;
    }
    if (const auto* prefix = std::ranges::find(kPrefix, name, &Infix::op);
        prefix != std::end(kPrefix) && expr.inputs.size() == 1) {
      if (prefix->binding < outer) text += "(";
      text += prefix->sign;
      say(*expr.inputs[0], prefix->binding);
      if (prefix->binding < outer) text += ")";
      return;
    }
    text += std::string(name) + "(";
    say_all(expr.inputs, {});
    say_params(*expr.op, expr.inputs.empty());
    text += ")";
  }
  // Those that are not as they would be without being said.
  void say_params(const Op& op, bool first) {
    WriteContext context;
    const Result<Json> params = op.params(context);
    if (!params) {
      text += first ? "…" : ", …";
      return;
    }
    for (const auto& [key, value] : *params->as<Json::Dict>()) {
      const auto doc = std::ranges::find(op.type().params, key, &ParamDoc::name);
      if (doc != op.type().params.end() && !doc->required && doc->standard == value) continue;
      const std::string* word = value.as<std::string>();
      text += (std::exchange(first, false) ? "" : ", ") + key + "=" + (word ? *word : value.text());
    }
  }
};

}  // namespace

std::string Program::words() const {
  Speaker speaker;
  speaker.say(*result_, 0);
  std::string text = std::move(speaker.text);
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

}  // namespace stoker
