#include "stoker/core/spec.h"

namespace stoker {

std::string LeafSpec::describe() const {
  const std::string type_text = type ? std::string(name_of(*type)) : "?";
  return type_text + (shape ? shape_text(*shape) : "[…]");
}

Spec Spec::of(const Array& array) {
  return {Nest::leaf(), {{array.type(), std::vector<int64_t>(array.shape().begin(), array.shape().end())}}};
}

std::string Spec::describe() const {
  if (!known()) return "unknown";
  std::string text;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const std::string path = nest->path_of(i);
    text += (i ? ", " : "") + (path.empty() ? "" : path + ": ") + leaves[i].describe();
  }
  return nest->kind() == Nest::Kind::kLeaf ? text : "(" + text + ")";
}

std::optional<Spec> common(const Spec& a, const Spec& b) {
  if (!a.known() || !b.known()) return Spec::unknown();
  if (a.nest != b.nest) return std::nullopt;
  Spec both = a;
  for (size_t i = 0; i < both.leaves.size(); ++i) {
    LeafSpec& leaf = both.leaves[i];
    const LeafSpec& other = b.leaves[i];
    if (leaf.type && other.type && *leaf.type != *other.type) return std::nullopt;
    if (!other.type) leaf.type.reset();
    if (!leaf.shape || !other.shape || leaf.shape->size() != other.shape->size()) {
      leaf.shape.reset();
      continue;
    }
    for (size_t d = 0; d < leaf.shape->size(); ++d)
      if ((*leaf.shape)[d] != (*other.shape)[d]) (*leaf.shape)[d] = -1;
  }
  return both;
}

}  // namespace stoker
