// What the files that make up Program share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stoker/graph/expr.h"

namespace stoker {

inline constexpr int kDeepestExpression = 1000;

// Nodes reached from `root`, each once, inputs before users; and how deep each is.
struct Order {
  std::vector<const Expr*> nodes;
  std::unordered_map<const Expr*, int> height;
};
Result<Order> order_of(const Expr& root);

// With the operation as its stage, unless it names one.
Error named(Error error, std::string_view op);

// "x", "y", "z", "x3", …
std::string argument_name(int i);

// What an expression comes to once the element's structure is known: tuples,
// dicts and fields are gone, and what is left are calls on numbered columns.
// First come the element's own, then constants, then one for each call.
struct Program::Plan {
  static constexpr int kUnknownColumn = -1;  // of an element whose structure is not known

  struct Constant {
    Array value;
    Column column;  // of one row; of a plain number, as it would stand alone
    bool weak = false;
  };
  struct Call {
    const Op* op = nullptr;
    std::vector<int> inputs;
    const Op* run_op = nullptr;  // what runs for it: `op`, a whole chain for its last link, null for the other links
    std::vector<int> run_inputs;
    int result = 0;
    bool constant = false;       // made once for all rows
    std::optional<size_t> leaf;  // of the result, if it is one
    uint64_t salt = 0;           // its number among the calls that draw
    std::vector<int> last_uses;  // columns that nobody wants afterwards
  };

  int arguments = 0;  // columns of the element
  std::vector<Constant> constants;
  std::vector<Call> calls;
  const Nest* nest = nullptr;  // of the result; null: not known
  std::vector<int> results;    // its leaves

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

  // Gives the plain numbers among a call's inputs their type.
  Result<void> settle_plain(const Call& call, Columns& inputs, OpRows& rows) const;
  DType plain_type_at(const Call& call, size_t input, std::optional<DType> others) const;
  Result<Column> run(const Call& call, Columns& columns, OpRows& rows, Context& context) const;
  Result<Columns> results_of(Run& run, Context& context) const;
};

}  // namespace stoker
