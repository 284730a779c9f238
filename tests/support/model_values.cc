#include "support/model_values.h"

namespace stoker::model {
namespace {

// Salts, so that the decisions about one element are independent.
constexpr int64_t kWidenSalt = 1, kCountSalt = 3, kStartSalt = 4, kFailureSalt = 5, kOpenSalt = 31;
constexpr int64_t kDoubtOffset = 1, kDropOffset = 77;  // added to the salt of the stage

}  // namespace

Value value_of(const Element& element) {
  Value value;
  value.structure = element.nest->describe();
  for (const Array& array : element.leaves) {
    Leaf leaf;
    leaf.dims.assign(array.shape().begin(), array.shape().end());
    const auto numbers = array.values<int64_t>();
    leaf.numbers.assign(numbers.begin(), numbers.end());
    value.leaves.push_back(std::move(leaf));
  }
  return value;
}

std::string text_of(const Value& value) {
  std::string text = value.structure;
  for (const Leaf& leaf : value.leaves) {
    text += " " + stoker::shape_text(Dims(leaf.dims));
    for (int64_t x : leaf.numbers) text += " " + std::to_string(x);
  }
  return text;
}

int64_t hash_of(const Value& value, int64_t salt) {
  uint64_t h = 1469598103934665603u + static_cast<uint64_t>(salt);
  for (const Leaf& leaf : value.leaves)
    for (int64_t x : leaf.numbers) h = (h ^ static_cast<uint64_t>(x)) * 1099511628211u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  return static_cast<int64_t>(h >> 33);
}

int64_t mapped(int64_t x, const Params& params) { return (x * params.factor + params.offset) % kPrime; }

bool fails(const Value& value, const Params& params) { return hash_of(value, params.salt) % params.one_in == 0; }

bool is_dropped(const Value& value, const Params& params) {
  return hash_of(value, params.salt + kDropOffset) % params.one_in == 0;
}

bool is_doubtful(const Value& value, const Params& params) {
  return hash_of(value, params.salt + kDoubtOffset) % 3 == 0;
}

std::string failure(const Value& value) { return "bad " + std::to_string(hash_of(value, kFailureSalt)); }

int64_t widened(const Value& value, int64_t i) { return hash_of(value, kWidenSalt) + i; }

bool opens_nothing(const Value& value, const Params& params) {
  return params.fails_one_in > 0 && hash_of(value, kOpenSalt) % params.fails_one_in == 0;
}

int64_t count_for(const Value& opened_by, const Params& params) {
  return hash_of(opened_by, kCountSalt) % params.limit;
}

int64_t start_for(const Value& opened_by) { return hash_of(opened_by, kStartSalt) % 1000; }

}  // namespace stoker::model
