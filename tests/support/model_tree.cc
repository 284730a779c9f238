// The random graphs as trees: copies, text, and what the model can answer.
#include "support/model.h"

namespace stoker::model {

Tree stage(Kind kind, std::vector<Tree> inputs, Params params, Tree child) {
  return std::make_shared<Stage>(Stage{kind, params, std::move(inputs), std::move(child)});
}

Tree copy_of(const Tree& tree) {
  auto copy = std::make_shared<Stage>(*tree);
  for (Tree& input : copy->inputs) input = copy_of(input);
  if (copy->child) copy->child = copy_of(copy->child);
  return copy;
}

namespace {

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[] = {
      "range",    "slices",        "generator",     "range_of",      "map",
      "fail",     "filter",        "doubt",         "widen",         "batch",
      "unbatch",  "shuffle",       "repeat",        "take",          "skip",
      "shard",    "zip",           "concatenate",   "enumerate",     "cache",
      "prefetch", "interleave",    "flat_map",      "ignore_errors", "assert_cardinality",
      "noise",    "drawn_shuffle", "global_shuffle"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::string text_of(const Tree& tree) {
  std::string text;
  if (!tree->inputs.empty() && tree->kind != Kind::kZip) text = text_of(tree->inputs[0]) + ".";
  text += std::string(name_of(tree->kind)) + "(";
  if (tree->kind == Kind::kZip) {
    text += text_of(tree->inputs[0]) + ", " + text_of(tree->inputs[1]) + ")";
    return text;
  }
  if (tree->kind == Kind::kConcatenate) return text + text_of(tree->inputs[1]) + ")";
  const size_t open = text.size();
  const auto add = [&](const std::string& parameter) { text += (text.size() > open ? ", " : "") + parameter; };
  visit(tree->params, [&](std::string_view name, auto value, auto standard, Shrink) {
    if (value != standard) add(std::string(name) + "=" + std::to_string(static_cast<int64_t>(value)));
  });
  if (tree->child) add(text_of(tree->child));
  return text + ")";
}

bool answered(const Tree& tree) {
  if (tree->kind >= Kind::kNoise) return false;
  for (const Tree& input : tree->inputs)
    if (!answered(input)) return false;
  return !tree->child || answered(tree->child);
}

namespace {

bool has_repeat(const Tree& tree) {
  if (tree->kind == Kind::kRepeat) return true;
  for (const Tree& input : tree->inputs)
    if (has_repeat(input)) return true;
  return false;
}

}  // namespace

bool repeats_are_nested(const Tree& tree) {
  for (const Tree& input : tree->inputs)
    if (repeats_are_nested(input) || (tree->kind == Kind::kRepeat && has_repeat(input))) return true;
  return tree->child && repeats_are_nested(tree->child);
}

bool passes_are_delivered(const Tree& tree) {
  if (!has_repeat(tree)) return true;
  bool more_repeats = true;
  for (const Stage* at = tree.get();; at = at->inputs[0].get()) {
    switch (at->kind) {
      case Kind::kRepeat:
        if (at->params.count == 0) return false;
        more_repeats = has_repeat(at->inputs[0]);
        break;
      case Kind::kMap:
      case Kind::kFail:
      case Kind::kWiden:
      case Kind::kEnumerate:
      case Kind::kPrefetch: break;
      case Kind::kShuffle:
      case Kind::kCache:
        if (more_repeats) return false;
        break;
      case Kind::kRange:
      case Kind::kSlices:
      case Kind::kGenerator: return at->params.count > 0;
      default: return false;
    }
  }
}

}  // namespace stoker::model
