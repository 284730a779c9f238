#pragma once

#include <limits>
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

// One element of a dataset: its structure and the arrays at its leaves.
struct Element {
  const Nest* nest = Nest::leaf();
  InlineVector<Array, 2> leaves;

  Element() = default;
  explicit Element(Array&& only) { leaves.emplace_back(std::move(only)); }
  explicit Element(const Array& only) { leaves.emplace_back(only); }
  Element(const Nest* structure, InlineVector<Array, 2> arrays) : nest(structure), leaves(std::move(arrays)) {}

  // Returns a field of a tuple or dict that is one component. Throws InvalidArgument, with the fields that exist, if
  // there is no such field.
  const Array& operator[](size_t field) const;
  const Array& operator[](std::string_view field) const;

  // Freezes memory to which user code still holds a handle.
  void freeze_if_shared() const {
    for (const Array& leaf : leaves) leaf.freeze_if_shared();
  }

  int64_t byte_size() const;
  Spec spec() const;
  bool operator==(const Element&) const;
  std::string describe() const;
  // Types, shapes and a hash of the values. Only parts of large arrays are hashed.
  std::string fingerprint() const;
};

// The structure and types that all elements of a dataset have in common. Shapes may differ.
struct ElementType {
  const Nest* nest = nullptr;  // null: unknown until the first element
  InlineVector<DType, 8> types;

  static ElementType of(const Element& element);
  bool operator==(const ElementType& other) const;
  std::string describe() const;  // "a tuple of 2 components (int64, float32)"
};

// Joins elements into one element with these components.
Element tuple_of(std::vector<Element> parts);
Element dict_of(std::vector<std::pair<std::string, Element>> parts);

using Arrays = RecycledVector<Array>;

// n rows of one leaf: either one block of shape [n] + row shape, or n separate arrays if their
// shapes differ or they have not been stacked.
class Column {
 public:
  Column() = default;
  explicit Column(Array block) : block_(std::move(block)), dense_(true) {}
  explicit Column(Arrays rows) : rows_(std::move(rows)) {}

  bool dense() const { return dense_; }
  int64_t size() const { return dense_ ? block_.dim(0) : static_cast<int64_t>(rows_.size()); }
  Array take_row(int64_t i) { return dense_ ? block_.row(i) : std::move(rows_[static_cast<size_t>(i)]); }
  // Replaces row i. The column must not be dense.
  void set_row(int64_t i, Array row) { rows_[static_cast<size_t>(i)] = std::move(row); }
  Array row(int64_t i) const { return dense_ ? block_.row(i) : rows_[static_cast<size_t>(i)]; }
  const Array& block() const { return block_; }
  const Arrays& rows() const { return rows_; }
  // Array::check_intact() of row i.
  Result<void> check_intact(int64_t i) const {
    const Array& memory = dense_ ? block_ : rows_[static_cast<size_t>(i)];
    const Backing* const from = memory.backing();
    return !from || from->intact() ? Result<void>() : row(i).check_intact();
  }

  // Stacks the rows into one block. Fails if rows differ; the error names the first row that
  // differs.
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

// The error of a failed element, in place of its value.
struct Failure {
  int32_t row;
  Error error;
  // The failure has no place in the output and is only reported: a stage that combines several
  // elements dropped the row, a stream ended with an error, user code requested the end of the
  // program, or the error is extra (see Error).
  bool struck = false;

  Failure at(int32_t other_row) const { return {other_row, error, struck}; }
  void set_extra() {
    error.set_extra();
    struck = true;
  }
};

// The largest number of rows of a run.
inline constexpr int64_t kMostRowsOfRun = std::numeric_limits<int32_t>::max();

// The size of a run of that many rows. Throws ResourceExhausted if it is out of range.
int32_t run_size(int64_t rows);

// The unit that the runtime moves: n >= 1 elements in order, of one structure.
//
// A run of names has no columns. Its rows are positions in a list, and the span downstream loads
// them. A failed row keeps its place but has no value; the contents of its columns are undefined.
struct Run {
  const Nest* nest = nullptr;  // null: a run of names
  int32_t size = 0;
  Origins origins;
  Columns columns;
  std::vector<Failure> failed;  // sorted by row
  Numbers positions;            // of names: positions in the list
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
  // Moves the row out of a column of separate arrays; the row that remains there is undefined. If
  // only this run referred to its memory, the element then has the only reference.
  Element take_element(int32_t row) {
    Element e(nest, {});
    for (Column& column : columns) e.leaves.emplace_made([&] { return column.take_row(row); });
    return e;
  }
  // Returns a row for user code, which may keep, return or write to the arrays without any effect
  // on this run (Array::isolate).
  Element argument(int32_t row) const {
    Element e = element(row);
    for (Array& leaf : e.leaves) leaf.isolate(Buffer::Access::kBorrow);
    return e;
  }
  // Freezes memory to which the source of these rows still holds a handle.
  void freeze_if_shared() const;
  Run slice(int32_t first, int32_t n) const;
  Run select(const std::vector<int32_t>& rows) const;
  // Appends the rows of the other run. Both must be runs of names, or neither. If the structures
  // differ, the rows of the other run become failures.
  void append(Run more);
  // Marks a row as failed. If it already failed, the first error stays.
  void fail(int32_t row, Error error);
  // Fails the rows that `input`, a run of as many rows, has in a file that was
  // truncated: what was computed from them is not to be used. The DataLoss replaces
  // errors that came of it.
  void fail_truncated(const Run& input);
  int64_t byte_size() const;
};

using Runs = RecycledVector<Run>;

// Builds the rows that replace those of a run from the results of a function. Numbers are written
// directly into one block.
class ResultRows {
 public:
  // If `type` is unknown, the first row that is set determines it.
  ResultRows(int32_t rows, ElementType& type) : rows_(rows), type_(type) {}

  // Fails with InvalidArgument if the structure or types differ from `type`.
  Result<void> set(int32_t row, Element&& element) {
    if (begun_ && fits(element) && put_numbers(row, element)) return {};
    return set_slowly(row, std::move(element));
  }
  // Rows that were not set must be marked as failed by the caller; they keep their places.
  void put_into(Run& run);

 private:
  struct Leaf {
    Array block;                   // of numbers
    std::byte* numbers = nullptr;  // its memory
    Arrays each;                   // of other values; empty while there is a block
  };
  Result<void> set_slowly(int32_t row, Element&& element);
  Result<void> begin(const Element& element);
  bool fits(const Element& element) const {
    if (element.nest != type_.nest) return false;
    for (size_t i = 0; i < element.leaves.size(); ++i)
      if (element.leaves[i].type() != type_.types[i]) return false;
    return true;
  }
  // Returns false if the array is not a number or the leaf is not a block of numbers.
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
