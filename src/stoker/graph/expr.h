#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/graph/op.h"

namespace stoker {

// One node of an expression over the components of an element. Nodes are immutable. A node that several nodes share is
// computed once.
struct Expr {
  enum class Kind { kArgument, kConstant, kOp, kTuple, kDict, kGet };
  using Ref = std::shared_ptr<const Expr>;

  Kind kind = Kind::kConstant;
  int argument = 0;               // kArgument
  Array constant;                 // kConstant
  bool weak = false;              // kConstant: a plain number, whose type depends on the other operands (op.h)
  std::shared_ptr<const Op> op;   // kOp
  std::vector<Ref> inputs;        // kOp, kTuple, kDict, kGet (one)
  std::vector<std::string> keys;  // kDict
  std::string key;                // kGet: the name of a field, or its number in a tuple

  static Ref of_argument(int i);
  static Ref of_constant(Array value, bool weak);
  static Ref of_op(std::shared_ptr<const Op> op, std::vector<Ref> inputs);
  static Ref of_tuple(std::vector<Ref> parts);
  static Ref of_dict(std::vector<std::string> keys, std::vector<Ref> parts);
  // If `from` is a kTuple or kDict node with this field, returns the field's node.
  static Ref of_get(Ref from, std::string key);

  Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;
  // Does not recurse: expressions can be a million nodes deep before compile() rejects them.
  ~Expr();
};

// A symbolic value. Calling a C++ function with symbolic values records its operations as an expression.
class Value {
 public:
  explicit Value(Expr::Ref expr) : expr_(std::move(expr)) {}
  Value(int value) : Value(int64_t{value}) {}
  Value(int64_t value);
  Value(double value);
  Value(float value) : Value(static_cast<double>(value)) {}
  Value(bool value);
  Value(const char* text);
  Value(Array value);

  const Expr::Ref& expr() const { return expr_; }
  Value operator[](std::string_view key) const { return Value(Expr::of_get(expr_, std::string(key))); }
  Value operator[](size_t field) const { return Value(Expr::of_get(expr_, std::to_string(field))); }

 private:
  Expr::Ref expr_;
};

template <typename... Values>
Value tuple(Values... values) {
  return Value(Expr::of_tuple({Value(std::move(values)).expr()...}));
}
Value dict(std::vector<std::pair<std::string, Value>> fields);

// A compiled expression: a list of operations on columns. Immutable and thread-safe.
class Program {
 public:
  // `arguments` is the number of arguments of the function. A single argument is the element itself; several arguments
  // are its fields. Fails with InvalidArgument if the expression is nested deeper than 1,000 levels.
  static Result<std::shared_ptr<const Program>> compile(Expr::Ref result, int arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int arguments() const { return arguments_; }
  const Expr::Ref& result() const { return result_; }
  bool random() const { return random_; }
  bool waits() const { return waits_; }
  // Whether applying it to each item before `batch` has the same result as applying it to the batch.
  bool by_item() const { return by_item_; }

  // Splits the program, so that different threads can read and compute. `reads` performs the operations that wait and
  // what they depend on; its result is the arguments and what was read. `rest` continues with this result. Returns
  // nothing if one of the parts would be empty, or if an operation that waits depends on random numbers.
  struct Parts {
    std::shared_ptr<const Program> reads, rest;
  };
  std::optional<Parts> cut() const;

  Result<Spec> spec(const Spec& input) const;
  // Replaces the columns of the run by the results. Rows that fail remain in the run, marked as failed. An error that
  // is returned fails all rows. The stage of an error is the operation.
  Result<void> apply(Run& run, Context& context) const;

  // {"args": ["x", "y"], "value": E}. A node that is used more than once is written once, with an "id", and then as
  // {"ref": id} (docs/formats/graph.md).
  Result<Json> to_json(WriteContext& context) const;
  static Result<std::shared_ptr<const Program>> from_json(const Json& json, ReadContext& context);
  // Returns the expression as a formula, such as "x * 2 + 1", for explain. A long formula is truncated.
  std::string describe() const;
  // Returns the operations of each fused chain: "decode_jpeg, resize, cast".
  std::vector<std::string> chains() const;

 private:
  struct Plan;
  class Planner;

  Program(Expr::Ref result, int arguments) : result_(std::move(result)), arguments_(arguments) {}
  Result<std::shared_ptr<const Plan>> plan_for(const Nest* input) const;
  void find_chains();

  Expr::Ref result_;
  int arguments_;
  bool random_ = false;
  bool waits_ = false;
  bool by_item_ = false;
  std::vector<const Expr*> order_;  // every node once, inputs before users
  struct FusedChain {
    std::shared_ptr<const Op> op;
    std::vector<const Expr*> links;  // the nodes that it replaces
  };
  std::vector<FusedChain> chains_;

  mutable Mutex mutex_;
  // One plan for each structure of an element.
  mutable std::map<const Nest*, std::shared_ptr<const Plan>> plans_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
