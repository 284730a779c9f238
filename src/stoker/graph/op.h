#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/graph/context.h"
#include "stoker/graph/fields.h"

namespace stoker {

class Op;

struct ParamDoc {
  std::string name, type, doc;
  bool required = false;
  Json standard;  // the default
};

// What type the plain numbers among an operation's inputs take.
enum class Plain {
  kOwn,       // int32 or float32, as they would alone
  kOthers,    // that of the other inputs, as in NumPy 2; one that does not fit is an error
  kCompared,  // the same, but one that does not fit is compared as it is
};

// One of several operations of which each works on what the one before gives,
// which nobody else wants. Its other inputs are constants.
struct ChainLink {
  struct Constant {
    Array value;
    bool plain = false;  // a number that takes the other inputs' type
  };

  std::shared_ptr<const Op> op;
  size_t input = 0;                 // which of its inputs is the result before; of the first link nothing
  std::vector<Constant> constants;  // the others, in order
  uint64_t draws = 0;               // its number among those that draw: Context::set_op
};

// An operation that does the work of the first `length` links at once, with the
// same results and the same errors: its inputs are those of the first.
struct Chain {
  std::shared_ptr<const Op> op;  // null: there is none
  size_t length = 0;
};

// What the table knows of an operation.
struct OpType {
  std::string_view name;
  std::string_view doc;
  int inputs = -1;  // how many it takes; negative: any number
  Plain plain = Plain::kOwn;
  bool waits = false;    // a read: runs on a waiting thread
  bool random = false;   // draws from the element's numbers
  bool by_item = false;  // what it makes of a batch is the batch of what it makes of the items
  std::vector<ParamDoc> params;
  Result<std::shared_ptr<const Op>> (*read)(const Json& params, ReadContext&) = nullptr;
  // For an operation that leads chains: `links` begin with it.
  Chain (*chain)(std::span<const ChainLink> links) = nullptr;
};

// The rows an operation works on, and where a row's failure is told. A failed
// row of a column holds anything, also of another type.
struct OpRows {
  int32_t size = 0;
  std::vector<Failure>* failed = nullptr;  // rising by row; not null
  std::string_view op = {};                // named in the error as its stage

  bool any_failed() const { return !failed->empty(); }
  bool has_failed(int32_t row) const;
  void fail(int32_t row, Error error);  // the first error of a row stays
};

// Row i of an input: a column of a single row stands for every row, which is
// how constants come.
inline Array input_row(const Column& column, int32_t row) { return column.row(column.size() == 1 ? 0 : row); }

// The error for an exception that left somebody's code. Call it in a handler.
Error error_of_exception();

// An operation inside `map`: columns in, one column out, which has rows.size
// rows. Each input has as many or a single one (see input_row). Immutable and
// shared.
class Op {
 public:
  virtual ~Op() = default;
  virtual const OpType& type() const = 0;
  virtual Result<Json> params(WriteContext&) const = 0;
  virtual Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const = 0;
  // An error returned is every row's; a row's own goes to `rows.fail`.
  virtual Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const = 0;
};

}  // namespace stoker
