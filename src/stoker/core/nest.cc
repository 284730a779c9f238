#include "stoker/core/nest.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

namespace stoker {

Nest::Nest(Kind kind, std::vector<Field> fields)
    : kind_(kind), fields_(std::move(fields)), first_leaf_(fields_.size()), leaf_count_(kind == Kind::kLeaf ? 1 : 0) {
  std::vector<size_t> order(fields_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (kind == Kind::kDict)
    std::ranges::sort(order, [&](size_t a, size_t b) { return fields_[a].first < fields_[b].first; });
  for (size_t field : order) {
    first_leaf_[field] = leaf_count_;
    leaf_count_ += fields_[field].second->leaf_count();
  }
}

const Nest* Nest::intern(Kind kind, std::vector<Field> fields) {
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<Kind, std::vector<Field>>, std::unique_ptr<const Nest>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const Nest>& nest = (*known)[{kind, fields}];
  if (!nest) nest.reset(new Nest(kind, std::move(fields)));
  return nest.get();
}

const Nest* Nest::leaf() {
  static const Nest* nest = intern(Kind::kLeaf, {});
  return nest;
}

const Nest* Nest::tuple(std::vector<const Nest*> parts) {
  std::vector<Field> fields;
  for (const Nest* part : parts) fields.emplace_back(std::to_string(fields.size()), part);
  return intern(Kind::kTuple, std::move(fields));
}

const Nest* Nest::tuple_of_leaves(size_t n) { return tuple(std::vector<const Nest*>(n, leaf())); }

const Nest* Nest::dict(std::vector<Field> fields) { return intern(Kind::kDict, std::move(fields)); }

std::optional<size_t> Nest::find(std::string_view name) const {
  for (size_t i = 0; i < fields_.size(); ++i)
    if (fields_[i].first == name) return i;
  return std::nullopt;
}

std::string_view Nest::composite_kind() const {
  const auto has_keys = [this](std::initializer_list<std::string_view> keys) {
    return kind_ == Kind::kDict && fields_.size() == keys.size() &&
           std::ranges::all_of(keys, [this](std::string_view key) { return find(key).has_value(); });
  };
  if (has_keys({"values", "row_splits"})) return "ragged";
  return has_keys({"indices", "values", "dense_shape"}) ? "sparse" : "";
}

std::string Nest::path_of(size_t leaf) const {
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Nest* part = fields_[i].second;
    if (leaf < first_leaf_[i] || leaf >= first_leaf_[i] + part->leaf_count()) continue;
    const std::string rest = part->path_of(leaf - first_leaf_[i]);
    return rest.empty() ? fields_[i].first : fields_[i].first + "/" + rest;
  }
  return "";
}

std::string Nest::describe() const {
  if (kind_ == Kind::kLeaf) return "x";
  std::string text = kind_ == Kind::kTuple ? "(" : "{";
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (i) text += ", ";
    if (kind_ == Kind::kDict) text += "'" + fields_[i].first + "': ";
    text += fields_[i].second->describe();
  }
  if (kind_ == Kind::kTuple && fields_.size() == 1) text += ",";
  return text + (kind_ == Kind::kTuple ? ")" : "}");
}

}  // namespace stoker
