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

// One node of an expression over an element's components. Immutable; shared
// nodes are computed once.
struct Expr {
  enum class Kind { kArgument, kConstant, kOp, kTuple, kDict, kGet };
  using Ref = std::shared_ptr<const Expr>;

  Kind kind = Kind::kConstant;
  int argument = 0;               // kArgument
  Array constant;                 // kConstant
  bool weak = false;              // kConstant: a plain number, which takes the other operand's type
  std::shared_ptr<const Op> op;   // kOp
  std::vector<Ref> inputs;        // kOp, kTuple, kDict, kGet (one)
  std::vector<std::string> keys;  // kDict
  std::string key;                // kGet: a field's name or number

  static Ref of_argument(int i);
  static Ref of_constant(Array value, bool weak);
  static Ref of_op(std::shared_ptr<const Op> op, std::vector<Ref> inputs);
  static Ref of_tuple(std::vector<Ref> parts);
  static Ref of_dict(std::vector<std::string> keys, std::vector<Ref> parts);
  static Ref of_get(Ref from, std::string key);  // of a tuple or dict written out: the part itself

  Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;
  // A chain of any length is taken apart without recursion.
  ~Expr();
};

// A symbolic value: what a traced function computes with.
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

// An expression made ready: a straight list of operations on columns.
class Program {
 public:
  // `arguments`: how many the function takes. One argument is the element
  // itself; several are its fields. Refuses what is nested deeper than 1,000.
  static Result<std::shared_ptr<const Program>> compile(Expr::Ref result, int arguments);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int arguments() const { return arguments_; }
  const Expr::Ref& result() const { return result_; }
  bool random() const { return random_; }
  bool waits() const { return waits_; }
  // Whether it may as well work on the items before they are made a batch.
  bool by_item() const { return by_item_; }

  // In two, so that reading and computing can be left to different threads. The
  // first part makes what waits and what that needs, and gives the arguments and
  // the results; the second goes on with them. Both together give what the whole
  // gives. Nothing where nothing would be left for either, or where what waits
  // needs random numbers.
  struct Parts {
    std::shared_ptr<const Program> reads, rest;
  };
  std::optional<Parts> cut() const;

  Result<Spec> spec(const Spec& input) const;
  // Puts the results in place of the run's columns. A row that fails keeps its
  // place; an error returned is every row's. Errors name the operation as
  // their stage.
  Result<void> apply(Run& run, Context& context) const;

  // {"args": ["x", "y"], "value": E}. What is used twice is written once, with
  // "id", and then as {"ref": id}.
  Result<Json> to_json(WriteContext& context) const;
  static Result<std::shared_ptr<const Program>> from_json(const Json& json, ReadContext& context);
  // "x * 2 + 1" and the like, for explain; cut where it gets long.
  std::string words() const;
  // "decode_jpeg, resize, cast" for each chain that runs as one operation.
  std::vector<std::string> chains() const;

 private:
  struct Plan;

  Program(Expr::Ref result, int arguments) : result_(std::move(result)), arguments_(arguments) {}
  Result<std::shared_ptr<const Plan>> plan_for(const Nest* input) const;
  Result<std::shared_ptr<const Plan>> make_plan(const Nest* input) const;
  void find_chains();

  Expr::Ref result_;
  int arguments_;
  bool random_ = false;
  bool waits_ = false;
  bool by_item_ = false;
  std::vector<const Expr*> order_;  // every node once, inputs before users
  struct Joined {
    std::shared_ptr<const Op> op;
    std::vector<const Expr*> links;
  };
  std::vector<Joined> joined_;

  mutable Mutex mutex_;
  // By the element's structure.
  mutable std::map<const Nest*, std::shared_ptr<const Plan>> plans_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
