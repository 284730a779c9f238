#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "stoker/graph/function.h"
#include "support/ops_registry.h"

namespace stoker {

// Evaluates a symbolic function on arrays: eval([](Value x) { return x + 1; }, {x}).
//
// Computes it on a run of one row, on a block of rows, on separate rows, and again
// from its JSON form. Checks that all results agree, and that the spec computed
// before running matches the result.

// A run of these columns: one is the element itself, several are its components.
inline Run run_of(Columns columns) {
  Run run;
  run.size = static_cast<int32_t>(columns[0].size());
  run.nest = columns.size() == 1 ? Nest::leaf() : Nest::tuple_of_leaves(columns.size());
  run.origins = Origins(0, 0, 0, run.size);
  run.columns = std::move(columns);
  return run;
}

inline Run rows_of(const Arrays& arguments, int32_t n, bool dense) {
  Columns columns;
  for (const Array& argument : arguments) {
    Column column(Arrays(static_cast<size_t>(n), argument));
    if (dense) {
      EXPECT_TRUE(column.make_dense().ok());
    }
    columns.push_back(std::move(column));
  }
  return run_of(std::move(columns));
}

inline Result<Element> first_of(const Program& program, Run run) {
  Context context;
  STOKER_TRY(program.apply(run, context));
  if (!run.failed.empty()) {
    EXPECT_EQ(static_cast<int32_t>(run.failed.size()), run.size);  // all rows are equal
    return run.failed[0].error;
  }
  const Element first = run.element(0);
  for (int32_t i = 1; i < run.size; ++i) EXPECT_EQ(run.element(i), first);
  return first;
}

inline Spec spec_of(const Arrays& arguments) {
  Spec spec{arguments.size() == 1 ? Nest::leaf() : Nest::tuple_of_leaves(arguments.size()), {}};
  for (const Array& argument : arguments) spec.leaves.push_back(Spec::of(argument).leaves[0]);
  return spec;
}

inline Result<std::shared_ptr<const Program>> read_again(const Program& program) {
  static const OpsRegistry registry;
  WriteContext write;
  STOKER_TRY(Json json, program.to_json(write));
  STOKER_TRY(Json parsed, parse_json(json.text()));
  ReadContext read;
  read.registry = &registry;
  return Program::from_json(parsed, read);
}

// Whether the spec computed before running has complete shapes.
enum class Shapes { kKnown, kInPart };

inline Result<Element> eval_element(const Function& function, const Arrays& arguments, Shapes shapes = Shapes::kKnown) {
  STOKER_TRY(function.check());
  const Program& program = *function.program();
  Result<Element> one = first_of(program, rows_of(arguments, 1, true));
  const auto expect_same = [&](const Result<Element>& other, const char* how) {
    EXPECT_EQ(other.ok(), one.ok()) << how << ": "
                                    << (other.ok() == one.ok() ? "" : (other ? one : other).error().describe());
    if (other && one) {
      EXPECT_EQ(*other, *one) << how << ": " << other->describe() << " and " << one->describe();
    }
  };
  expect_same(first_of(program, rows_of(arguments, 1, false)), "one row apart");
  expect_same(first_of(program, rows_of(arguments, 5, true)), "a block");
  expect_same(first_of(program, rows_of(arguments, 5, false)), "rows apart");
  Result<std::shared_ptr<const Program>> again = read_again(program);
  EXPECT_TRUE(again.ok()) << (again ? "" : again.error().describe());
  if (again) expect_same(first_of(**again, rows_of(arguments, 1, true)), "from JSON");
  const Result<Spec> spec = program.spec(spec_of(arguments));
  if (one) {
    EXPECT_TRUE(spec.ok() && *spec == (shapes == Shapes::kKnown ? one->spec() : common(*spec, one->spec())))
        << (spec ? spec->describe() : spec.error().describe()) << " was expected, got " << one->spec().describe();
  }
  return one;
}

inline Result<Array> eval(const Function& function, const Arrays& arguments, Shapes shapes = Shapes::kKnown) {
  STOKER_TRY(Element element, eval_element(function, arguments, shapes));
  return element.leaves[0];
}

// The message of the error; "" if there is none.
inline std::string complaint(const Function& function, const Arrays& arguments) {
  const Result<Element> result = eval_element(function, arguments);
  return result ? "" : result.error().message();
}

template <typename T>
Array array(const std::vector<T>& values) {
  return Array::from(values);
}
template <typename T>
Array array(const std::vector<T>& values, std::vector<int64_t> dims) {
  return Array::from(values).reshaped(dims);
}

}  // namespace stoker
