#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "stoker/core/array.h"
#include "stoker/core/inline_vector.h"
#include "stoker/core/nest.h"
#include "stoker/core/origin.h"
#include "stoker/core/recycled.h"
#include "stoker/core/spec.h"

namespace stoker {

// One element: its structure and the arrays at its leaves.
struct Element {
  const Nest* nest = Nest::leaf();
  InlineVector<Array, 2> leaves;

  Element() = default;
  explicit Element(Array&& only) { leaves.emplace_back(std::move(only)); }
  explicit Element(const Array& only) { leaves.emplace_back(only); }
  Element(const Nest* structure, InlineVector<Array, 2> arrays) : nest(structure), leaves(std::move(arrays)) {}

  // Field of a tuple or dict that is one component; the element must have it.
  const Array& operator[](size_t field) const {
    return leaves[nest->fields().empty() ? field : nest->first_leaf(field)];
  }
  const Array& operator[](std::string_view field) const;

  // Declares memory that user code still holds a handle to as read again later.
  void freeze_if_shared() const {
    for (const Array& leaf : leaves) leaf.freeze_if_shared();
  }

  int64_t byte_size() const;
  Spec spec() const;
  bool operator==(const Element&) const;
  std::string words() const;
  // Types, shapes and a hash of the values; of large arrays, of parts of them.
  std::string fingerprint() const;
};

// What elements of one data set have in common: structure and types. Shapes may
// differ.
struct ElementType {
  const Nest* nest = nullptr;  // null: not known yet
  InlineVector<DType, 8> types;

  static ElementType of(const Element& element);
  bool operator==(const ElementType& other) const;
  std::string words() const;  // "(int64, float32)"
};

// Joins elements into one whose components they are.
Element tuple_of(std::vector<Element> parts);
Element dict_of(std::vector<std::pair<std::string, Element>> parts);

using Arrays = RecycledVector<Array>;

// n rows of one leaf: one block of shape [n] + row shape, or n arrays where
// shapes differ or nobody has stacked them yet.
class Column {
 public:
  Column() = default;
  explicit Column(Array block) : block_(std::move(block)), dense_(true) {}
  explicit Column(Arrays rows) : rows_(std::move(rows)) {}

  bool dense() const { return dense_; }
  int64_t size() const { return dense_ ? block_.dim(0) : static_cast<int64_t>(rows_.size()); }
  Array take_row(int64_t i) { return dense_ ? block_.row(i) : std::move(rows_[static_cast<size_t>(i)]); }
  // Replaces row i of a column of single arrays.
  void set_row(int64_t i, Array row) { rows_[static_cast<size_t>(i)] = std::move(row); }
  Array row(int64_t i) const { return dense_ ? block_.row(i) : rows_[static_cast<size_t>(i)]; }
  const Array& block() const { return block_; }
  const Arrays& rows() const { return rows_; }

  // Makes the column one block; an error names the first row that differs.
  Result<void> make_dense();
  Column slice(int64_t first, int64_t n) const;
  Column select(const std::vector<int32_t>& rows) const;
  void append(Column more);
  void append(Array row);
  int64_t byte_size() const;

 private:
  void make_rows();

  Array block_;
  Arrays rows_;
  bool dense_ = false;
};

using Columns = RecycledVector<Column>;

// An element's failure, kept at its place.
struct Failure {
  int32_t row;
  Error error;
  // It has no place any more and only travels on to be told: struck out by a stage
  // that fills something from several elements, the end of a stream that broke, or
  // an end of the whole program.
  bool struck = false;
  bool no_room = false;  // a stage that holds elements found no room for them

  Failure at(int32_t other_row) const { return {other_row, error, struck, no_room}; }
};

// What the runtime moves: n >= 1 elements in order, of one structure.
//
// A run of names has no columns yet: its rows are positions of a list, to be
// fetched by the span behind it. A failed row has a place and no value; what
// its columns hold there means nothing.
struct Run {
  const Nest* nest = nullptr;  // null: names, not made yet
  int32_t size = 0;
  Origins origins;
  Columns columns;
  std::vector<Failure> failed;  // rising by row
  Numbers positions;            // of names: places in the list
  Numbers passes;               // of names: one for each row, or one for all

  static Run of(Element element, Origin origin);
  static Run failure(Error error, Origin origin, bool struck = false);

  bool names() const { return nest == nullptr && !positions.empty(); }
  const Failure* failure_of(int32_t row) const;
  Element element(int32_t row) const {
    Element e(nest, {});
    for (const Column& column : columns) e.leaves.emplace_made([&] { return column.row(row); });
    return e;
  }
  // The row, taken out of a column of single arrays: what it leaves behind has no
  // meaning. Memory that only this run referred to is then the element's alone.
  Element take_element(int32_t row) {
    Element e(nest, {});
    for (Column& column : columns) e.leaves.emplace_made([&] { return column.take_row(row); });
    return e;
  }
  // A row for user code: its arrays may be kept, returned or written to without
  // any effect on this run (Array::isolate).
  Element argument(int32_t row) const {
    Element e = element(row);
    for (Array& leaf : e.leaves) leaf.isolate(Buffer::Access::kBorrow);
    return e;
  }
  // Declares memory that the source of these rows still holds as read again later.
  void freeze_if_shared() const;
  Run slice(int32_t first, int32_t n) const;
  Run select(const std::vector<int32_t>& rows) const;
  // The other's rows behind these; both are names or both made. Structures
  // that differ turn the other's rows into failures.
  void append(Run more);
  // Marks a row as failed, once: the first error stays.
  void fail(int32_t row, Error error);
  int64_t byte_size() const;
};

using Runs = RecycledVector<Run>;

// New elements in place of a run's: what a function gave for each row. Numbers
// go straight into one block.
class Rebuilt {
 public:
  // What `type` does not know yet, the first row says.
  Rebuilt(int32_t rows, ElementType& type) : rows_(rows), type_(type) {}

  // Fails when structure or types differ from that.
  Result<void> set(int32_t row, Element&& element) {
    if (begun_ && fits(element) && put_numbers(row, element)) return {};
    return set_slowly(row, std::move(element));
  }
  // Rows that were not set have failed; their places stay.
  void put_into(Run& run);

 private:
  struct Leaf {
    Array block;                   // of numbers
    std::byte* numbers = nullptr;  // its memory
    Arrays each;                   // else; empty while there is a block
  };
  Result<void> set_slowly(int32_t row, Element&& element);
  Result<void> begin(const Element& element);
  bool fits(const Element& element) const {
    if (element.nest != type_.nest) return false;
    for (size_t i = 0; i < element.leaves.size(); ++i)
      if (element.leaves[i].type() != type_.types[i]) return false;
    return true;
  }
  // Whether it was one, and the leaf is a block of them.
  static bool put_number(Leaf& leaf, int32_t row, const Array& array) {
    if (!leaf.each.empty() || !array.is_number()) return false;
    const size_t bytes = size_of(array.type());
    copy_number(leaf.numbers + bytes * static_cast<size_t>(row), array.raw(), array.type());
    return true;
  }
  bool put_numbers(int32_t row, const Element& element) {
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (!put_number(leaves_[i], row, element.leaves[i])) return false;
    return true;
  }
  void spell_out(Leaf& leaf);

  const int32_t rows_;
  ElementType& type_;
  bool begun_ = false;
  InlineVector<Leaf, 2> leaves_;
};

// Collects elements into a run.
class RunBuilder {
 public:
  void add(Element element, Origin origin);
  void add(Run rows) { run_.append(std::move(rows)); }
  void add_failure(Error error, Origin origin, bool struck);
  bool empty() const { return run_.size == 0; }
  int32_t size() const { return run_.size; }
  Run take() { return std::exchange(run_, Run()); }

 private:
  Run run_;
};

}  // namespace stoker
