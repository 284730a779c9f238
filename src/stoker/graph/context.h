#pragma once

#include <atomic>
#include <optional>

#include "stoker/core/element.h"
#include "stoker/core/rng.h"

namespace stoker {

// The memory of a batch, for the rows of a run. A row is written where it belongs if no earlier element of the batch
// fails.
class RowTarget {
 public:
  virtual ~RowTarget() = default;
  // Returns the memory of row `row` of leaf `leaf`. Returns nothing if the batch has no memory yet, or memory of
  // another shape or type.
  virtual std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) = 0;
  // Returns the memory of all rows of the leaf; dims[0] is their number.
  virtual std::optional<Array> block_of(size_t leaf, Dims dims, DType type) = 0;
};

// What a stage or an operation uses in addition to its inputs: the random numbers of the element, memory for results,
// and whether the pipeline was stopped. One thread uses a context at a time.
class Context {
 public:
  Context() = default;
  Context(uint64_t seed, uint64_t stage_key, const std::atomic<bool>* stopped)
      : seed_(seed), stage_key_(stage_key), stopped_(stopped) {}

  // Whether the result will be discarded. Long loops check this.
  bool stopped() const { return stopped_ && stopped_->load(std::memory_order_relaxed); }

  // Returns the element's random numbers. They depend only on the seed, the stage, the operation, the origin and
  // `salt`, which is below 256 and separates several draws of one stage or operation.
  Rng rng(uint64_t salt = 0) const {
    const auto [hi, lo] = origin().key();
    return Rng(seed_, stage_key_ + (((op_ << 8) + salt) << 32), hi, lo);
  }
  Origin origin() const { return origins_ ? origins_->at(row_) : Origin{}; }
  int32_t row() const { return row_; }

  // Allocates memory for a value that is not part of the result.
  Result<Array> scratch(Dims dims, DType type) const { return Array::make(dims, type); }
  // Returns memory for a component of the result: its row of the batch if that exists, otherwise new memory.
  Result<Array> output(size_t leaf, Dims dims, DType type) const {
    if (target_)
      if (std::optional<Array> row = target_->row_of(leaf, row_, dims, type)) return writable(*std::move(row));
    return Array::make(dims, type);
  }

  // The same for all rows at once; dims[0] is their number.
  Result<Array> output_block(size_t leaf, Dims dims, DType type) const {
    if (target_)
      if (std::optional<Array> block = target_->block_of(leaf, dims, type)) return writable(*std::move(block));
    return Array::make(dims, type);
  }

  // Returns memory for the result of an operation inside `map`: as output() if it is a component of the map's result,
  // otherwise as scratch().
  Result<Array> result(Dims dims, DType type) const {
    return leaf_ ? output(*leaf_, dims, type) : Array::make(dims, type);
  }
  Result<Array> result_block(Dims dims, DType type) const {
    return leaf_ ? output_block(*leaf_, dims, type) : Array::make(dims, type);
  }

  // A program sets these before it calls an operation: the component of the result that the operation computes, and
  // its number among the operations that draw random numbers.
  void set_leaf(std::optional<size_t> leaf) { leaf_ = leaf; }
  std::optional<size_t> leaf() const { return leaf_; }
  void set_op(uint64_t op) { op_ = first_op_ + op; }

  // Returns a context for operations that a user's function calls for this element. `first_op` operations have drawn
  // random numbers before, so that the numbers are those of one program with all operations.
  Context for_call(uint64_t first_op) const {
    Context context(seed_, stage_key_, stopped_);
    context.first_op_ = context.op_ = first_op;
    return context;
  }
  // Returns a seed for the random numbers and the datasets that a user's function creates for this element.
  uint64_t element_seed() const { return rng(kElementSeed).bits64(); }

  // The runtime, and loops over rows, set these.
  void set_origins(const Origins* origins) { origins_ = origins; }
  void set_row(int32_t row) {
    row_ = row;
    if (shown_) shown_->store(row, std::memory_order_relaxed);
  }
  // The structure and types that the results of a function must have. The first result sets them.
  ElementType& like() { return like_ ? *like_ : own_like_; }
  void set_like(ElementType* like) { like_ = like; }
  // set_row() also stores the row here, for other threads.
  void show_row(std::atomic<int32_t>* shown) { shown_ = shown; }
  void set_target(RowTarget* target) { target_ = target; }

 private:
  static constexpr uint64_t kElementSeed = 255;  // a salt that no operation uses

  // The caller owns these rows exclusively, although other threads write other rows of the same buffer.
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
