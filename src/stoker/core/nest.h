#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

// The structure of an element: one component, or a tuple or dict of nests.
//
// Nests are interned and live as long as the process, because a program has few of them. Equal
// structures have equal pointers, and elements do not count references to them. Leaves are numbered
// from left to right, those of a dict by sorted key. All functions are thread-safe.
class Nest {
 public:
  enum class Kind { kLeaf, kTuple, kDict };
  using Field = std::pair<std::string, const Nest*>;

  static const Nest* leaf();
  static const Nest* tuple(std::vector<const Nest*> parts);
  static const Nest* tuple_of_leaves(size_t n);
  // The fields keep the given order, in which they are printed.
  static const Nest* dict(std::vector<Field> fields);

  Kind kind() const { return kind_; }
  size_t leaf_count() const { return leaf_count_; }
  // The names of the fields of a tuple are "0", "1", …
  const std::vector<Field>& fields() const { return fields_; }
  // The number of the field's first leaf.
  size_t first_leaf(size_t field) const { return first_leaf_[field]; }
  std::optional<size_t> find(std::string_view name) const;

  // "sparse" or "ragged" if this is the dict of such a value (docs/design/sparse_and_ragged.md), "" otherwise.
  std::string_view composite_kind() const;

  // The path from the root to a leaf: "image", "0", "meta/size".
  std::string path_of(size_t leaf) const;
  // Formats the structure as "(x, {'a': x})", with x for a component.
  std::string describe() const;

 private:
  Nest(Kind kind, std::vector<Field> fields);
  static const Nest* intern(Kind kind, std::vector<Field> fields);

  Kind kind_;
  std::vector<Field> fields_;
  std::vector<size_t> first_leaf_;
  size_t leaf_count_;
};

}  // namespace stoker
