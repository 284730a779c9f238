#pragma once

#include <any>
#include <memory>
#include <span>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/graph/context.h"
#include "stoker/graph/fields.h"
#include "stoker/graph/param_doc.h"

namespace stoker {

class Op;

// Which type the plain numbers among an operation's inputs have. A plain number is written without a type, as the 2 in
// x * 2.
enum class Plain {
  kOwn,       // int32 or float32, as without other inputs
  kOthers,    // the type of the other inputs, as in NumPy 2; a number that does not fit is an error
  kCompared,  // the same, but a number that does not fit is compared as int64
};

// One operation of a chain, in which each operation processes only the result of the one before. Its other inputs are
// constants.
struct ChainLink {
  struct Constant {
    Array value;
    bool plain = false;  // a plain number
  };

  std::shared_ptr<const Op> op;
  size_t input = 0;                 // the position of the previous result among the inputs; 0 for the first link
  std::vector<Constant> constants;  // the other inputs, in order
  uint64_t draws = 0;               // the number for Context::set_op
};

// One operation that replaces the first `length` links of a chain, with the same results and the same errors. It has
// the inputs of the first link.
struct Chain {
  std::shared_ptr<const Op> op;  // null if the links cannot be fused
  size_t length = 0;
};

// What an operation can contribute to a fused chain. The chain defines the types of the contributions
// (ops/image_steps.h does for images) and composes them without the types of the operations.
class Contribution {
 public:
  Contribution() = default;  // nothing: a chain ends before the operation
  template <typename T>
  static Contribution of(T value) {
    Contribution contribution;
    contribution.value_ = std::move(value);
    return contribution;
  }

  // Returns null if this is a contribution of another type. The pointer is valid as long as the contribution.
  template <typename T>
  const T* as() const {
    return std::any_cast<T>(&value_);
  }

 private:
  std::any value_;
};

// The properties of an operation that do not depend on its parameters, for the table of operations.
struct OpType {
  std::string_view name;
  std::string_view doc;
  int inputs = -1;  // the number of inputs; negative: any number
  Plain plain = Plain::kOwn;
  bool waits = false;    // reads files: runs on a thread that may block
  bool random = false;   // draws random numbers
  bool by_item = false;  // applied to a batch, it returns the batch of its results for the items
  std::vector<ParamDoc> params;
  Result<std::shared_ptr<const Op>> (*read)(const Json& params, ReadContext&) = nullptr;
  // Fuses the operations after this one with it, if it can start a chain. `links` starts with this operation.
  Chain (*chain)(std::span<const ChainLink> links) = nullptr;
};

// The rows that an operation processes, and the failures among them. The value of a failed row is unspecified and may
// have another type.
struct OpRows {
  int32_t size = 0;
  std::vector<Failure>* failed = nullptr;  // not null; sorted by row
  std::string_view op = {};                // becomes the stage of the errors

  bool any_failed() const { return !failed->empty(); }
  bool has_failed(int32_t row) const;
  // Records a failure, unless the row has failed before.
  void fail(int32_t row, Error error);
};

// Returns row i of an input. A column of a single row, such as a constant, stands for any number of equal rows.
inline Array input_row(const Column& column, int32_t row) { return column.row(column.size() == 1 ? 0 : row); }

// Returns the error for the current exception. Must be called in a catch block.
Error error_of_exception();

// An operation inside `map`. It maps columns to one column of rows.size rows. Each input has as many rows, or one (see
// input_row). Operations are immutable and are shared by threads.
class Op {
 public:
  virtual ~Op() = default;
  virtual const OpType& type() const = 0;
  virtual Result<Json> params(WriteContext&) const = 0;
  virtual Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const = 0;
  // An error that is returned fails every row. An error of one row is recorded with rows.fail().
  virtual Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const = 0;
  virtual Contribution contribution() const { return {}; }
};

}  // namespace stoker
