#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "stoker/graph/function.h"
#include "stoker/graph/op_of.h"

namespace stoker {

// The arguments of an operation for row 0, 1, …; the rows differ.
using OpRowsOf = Arrays (*)(int64_t row);

// An operation with its parameters, and rows to apply it to. The laws of operations
// (tests/laws/op_test.cc) run on each example.
struct OpExample {
  std::string name;
  const OpType* type = nullptr;
  Function function;
  OpRowsOf rows = nullptr;
};
inline std::ostream& operator<<(std::ostream& out, const OpExample& example) { return out << example.name; }

struct RegisterOpExample {
  RegisterOpExample(std::string name, std::function<OpExample()> make);
};
// All examples of the program. They are made by the first call.
const std::vector<OpExample>& op_examples();

// Makes a function that applies the operation to its `arguments` arguments.
Function function_of(std::shared_ptr<const Op> op, size_t arguments);

template <typename T>
OpExample op_example(T op, OpRowsOf rows) {
  return {{}, &OpOf<T>::info(), function_of(std::make_shared<const OpOf<T>>(std::move(op)), rows(0).size()), rows};
}

#define STOKER_OP_EXAMPLE_JOIN(a, b) a##b
#define STOKER_OP_EXAMPLE_NAME(line) STOKER_OP_EXAMPLE_JOIN(stoker_op_example_, line)
// OP_EXAMPLE(Cast{.dtype = kInt32}, float_rows): the operation applied to these rows.
#define OP_EXAMPLE(...)                                                      \
  static const ::stoker::RegisterOpExample STOKER_OP_EXAMPLE_NAME(__LINE__)( \
      #__VA_ARGS__, [] { return ::stoker::op_example(__VA_ARGS__); })

// ---- rows

Arrays float_rows(int64_t row);           // float32 [2, 3], from -3 to 3
Arrays two_float_rows(int64_t row);       // two such arrays
Arrays two_integer_rows(int64_t row);     // int32 [3] and uint8 [3], from 1 to 9
Arrays two_bool_rows(int64_t row);        // bool [4]
Arrays image_rows(int64_t row);           // uint8 [6, 7, 3]
Arrays gray_image_rows(int64_t row);      // uint8 [6, 7, 1]
Arrays float_image_rows(int64_t row);     // float32 [6, 7, 3], from 0 to 1
Arrays image_and_seed_rows(int64_t row);  // an image, and int64 [2]
Arrays image_batch_rows(int64_t row);     // uint8 [3, 4, 5, 3]

}  // namespace stoker
