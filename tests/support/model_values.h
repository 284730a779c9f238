#pragma once

#include <string>
#include <vector>

#include "support/model.h"

// The elements of the random graphs, and the numbers that decide what happens to them.
// The engine's stages and the model use the same functions, so that both drop, fail and
// open for the same elements.
namespace stoker::model {

struct Leaf {
  std::vector<int64_t> dims;
  std::vector<int64_t> numbers;
};
struct Value {
  std::string structure = "x";
  std::vector<Leaf> leaves;
};

constexpr int64_t kPrime = 1'000'003;

Value value_of(const Element& element);
std::string text_of(const Value& value);

// A number below 2^31 that depends on every number of an element.
int64_t hash_of(const Value& value, int64_t salt);

int64_t mapped(int64_t x, const Params& params);
bool fails(const Value& value, const Params& params);
bool is_dropped(const Value& value, const Params& params);
// For kDoubt, whether an element that does not fail is dropped.
bool is_doubtful(const Value& value, const Params& params);
std::string failure(const Value& value);
// Number i of the array that kWiden makes of an element.
int64_t widened(const Value& value, int64_t i);
// For kInterleave and kFlatMap, whether the element fails instead of opening a child.
bool opens_nothing(const Value& value, const Params& params);
// For kRangeOf, the number of elements and the first one.
int64_t count_for(const Value& opened_by, const Params& params);
int64_t start_for(const Value& opened_by);

}  // namespace stoker::model
