// Declarations that the source files of Program share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/graph/expr.h"

namespace stoker {

inline constexpr int kDeepestExpression = 1000;

// The nodes of an expression, each once, inputs before users.
struct Order {
  std::vector<const Expr*> nodes;
  std::unordered_map<const Expr*, int> height;  // 1 for a node without inputs
};
// Fails with InvalidArgument if the expression is nested deeper than kDeepestExpression levels.
Result<Order> order_of(const Expr& root);

// Sets the stage of the error to the operation, if it has none.
Error named(Error error, std::string_view op);

// "x", "y", "z", "x3", …
std::string argument_name(int i);

// An expression for elements of one structure. Tuples, dicts and fields are resolved, and calls on numbered columns
// remain. The columns of the element come first, then the constants, then the result of each call.
struct Program::Plan {
  static constexpr int kUnknownColumn = -1;  // a component of an element of unknown structure

  struct Constant {
    Array value;
    Column column;  // one row; a plain number has the type that it has without other inputs
    bool weak = false;
  };
  struct Call {
    const Op* op = nullptr;
    std::vector<int> inputs;
    // The operation that runs: `op`; for the last link of a fused chain, the chain; for its other links, null.
    const Op* run_op = nullptr;
    std::vector<int> run_inputs;
    int result = 0;
    bool constant = false;       // computed once for all rows
    std::optional<size_t> leaf;  // the leaf of the program's result that it computes, if any
    uint64_t salt = 0;           // its number among the calls that draw random numbers
    std::vector<int> last_uses;  // columns that no later call reads
  };

  int arguments = 0;  // the number of columns of the element
  std::vector<Constant> constants;
  std::vector<Call> calls;
  const Nest* nest = nullptr;  // of the result; null: unknown
  std::vector<int> results;    // the column of each leaf

  const Constant* constant_at(int column) const {
    const int i = column - arguments;
    return i >= 0 && i < static_cast<int>(constants.size()) ? &constants[static_cast<size_t>(i)] : nullptr;
  }
  const Call* call_at(int column) const {
    const int i = column - arguments - static_cast<int>(constants.size());
    return i >= 0 ? &calls[static_cast<size_t>(i)] : nullptr;
  }
  bool is_plain(int column) const { return constant_at(column) && constant_at(column)->weak; }
  int columns() const { return arguments + static_cast<int>(constants.size() + calls.size()); }

  // Converts the plain numbers among the inputs to the type that the other inputs require.
  Result<void> convert_plain(const Call& call, Columns& inputs, OpRows& rows) const;
  // `others` is the promoted type of the inputs that are not plain numbers; nothing if there are none.
  DType plain_type_at(const Call& call, size_t input, std::optional<DType> others) const;
  Result<Column> run(const Call& call, Columns& columns, OpRows& rows, Context& context) const;
  // Returns the columns of the result; none if every row has failed.
  Result<Columns> results_of(Run& run, Context& context) const;
};

}  // namespace stoker
