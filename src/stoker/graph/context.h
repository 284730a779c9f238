#pragma once

#include <atomic>
#include <optional>

#include "stoker/core/element.h"
#include "stoker/core/rng.h"

namespace stoker {

// Where the rows of a run belong in a batch, if nothing before them is lost.
class RowTarget {
 public:
  virtual ~RowTarget() = default;
  // The place of row `row` of leaf `leaf`; nothing when shape or type is not
  // the slab's, or when there is no slab.
  virtual std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) = 0;
  // All rows of the leaf at once; dims[0] is their number.
  virtual std::optional<Array> block_of(size_t leaf, Dims dims, DType type) = 0;
};

// What a stage is given beside the element: its own random numbers, memory,
// and a way to see that nobody wants the result any more.
class Context {
 public:
  Context() = default;
  Context(uint64_t seed, uint64_t stage_key, const std::atomic<bool>* stopped)
      : seed_(seed), stage_key_(stage_key), stopped_(stopped) {}

  bool stopped() const { return stopped_ && stopped_->load(std::memory_order_relaxed); }

  // The element's own numbers: the same whoever runs it, and whenever. `salt`,
  // below 256, tells several draws of one stage or operation apart.
  Rng rng(uint64_t salt = 0) const {
    const auto [hi, lo] = origin().key();
    return Rng(seed_, stage_key_ + (((op_ << 8) + salt) << 32), hi, lo);
  }
  Origin origin() const { return origins_ ? origins_->at(row_) : Origin{}; }
  int32_t row() const { return row_; }

  // Memory for a result that does not leave the stage.
  Result<Array> scratch(Dims dims, DType type) const { return Array::make(dims, type); }
  // Memory for a component of the result: the row of the batch it will lie
  // in, where that is known.
  Result<Array> output(size_t leaf, Dims dims, DType type) const {
    if (target_)
      if (std::optional<Array> row = target_->row_of(leaf, row_, dims, type)) return writable(*std::move(row));
    return Array::make(dims, type);
  }

  // The same for all rows at once: dims[0] is their number.
  Result<Array> output_block(size_t leaf, Dims dims, DType type) const {
    if (target_)
      if (std::optional<Array> block = target_->block_of(leaf, dims, type)) return writable(*std::move(block));
    return Array::make(dims, type);
  }

  // Memory for what an operation inside `map` gives back: a component of the
  // result where it is one (then as `output`), else as `scratch`.
  Result<Array> result(Dims dims, DType type) const {
    return leaf_ ? output(*leaf_, dims, type) : Array::make(dims, type);
  }
  Result<Array> result_block(Dims dims, DType type) const {
    return leaf_ ? output_block(*leaf_, dims, type) : Array::make(dims, type);
  }

  // Set by the program around each of its operations: the leaf of the result
  // that it makes, and its number among those that draw.
  void set_leaf(std::optional<size_t> leaf) { leaf_ = leaf; }
  std::optional<size_t> leaf() const { return leaf_; }
  void set_op(uint64_t op) { op_ = first_op_ + op; }

  // For operations that a function calls on its own for this element, `first_op` of
  // which have drawn already: the same numbers as inside one program.
  Context for_call(uint64_t first_op) const {
    Context context(seed_, stage_key_, stopped_);
    context.first_op_ = context.op_ = first_op;
    return context;
  }
  // For what a function of the user's draws or builds for this element.
  uint64_t element_seed() const { return rng(kElementSeed).bits64(); }

  // Set by the runtime and by loops over rows.
  void set_origins(const Origins* origins) { origins_ = origins; }
  void set_row(int32_t row) {
    row_ = row;
    if (shown_) shown_->store(row, std::memory_order_relaxed);
  }
  // What a function's results must be like, or what they were like.
  ElementType& like() { return like_ ? *like_ : own_like_; }
  void set_like(ElementType* like) { like_ = like; }
  // Where to show which row it has come to.
  void show_row(std::atomic<int32_t>* shown) { shown_ = shown; }
  void set_target(RowTarget* target) { target_ = target; }

 private:
  static constexpr uint64_t kElementSeed = 255;  // a salt that no operation uses

  // These rows are the caller's own, although others are written in the same buffer.
  static Array writable(Array rows) {
    rows.isolate(Buffer::Access::kWrite);
    return rows;
  }

  uint64_t seed_ = 0;
  uint64_t stage_key_ = 0;
  const std::atomic<bool>* stopped_ = nullptr;
  const Origins* origins_ = nullptr;
  int32_t row_ = 0;
  std::atomic<int32_t>* shown_ = nullptr;
  RowTarget* target_ = nullptr;
  ElementType* like_ = nullptr;
  ElementType own_like_;
  uint64_t first_op_ = 0;
  uint64_t op_ = 0;
  std::optional<size_t> leaf_;
};

}  // namespace stoker
