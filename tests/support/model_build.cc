// Builds the datasets of the random graphs, for the engine.
#include <stdexcept>

#include "support/model_values.h"
#include "support/support.h"

namespace stoker::model {
namespace {

struct TestMap {
  static constexpr std::string_view kName = "test_map";
  static constexpr std::string_view kDoc = "Multiplies and adds.";
  Params params;
  void describe(Fields& f) {
    f("factor", params.factor);
    f("offset", params.offset);
  }
  Result<Element> apply(Element element, Context&) const {
    for (Array& leaf : element.leaves) {
      Result<Array> made = Array::make(leaf.shape(), DType::kInt64);
      if (!made) return made.error();
      const auto from = leaf.values<int64_t>();
      auto to = made->mutable_values<int64_t>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = mapped(from[i], params);
      leaf = *std::move(made);
    }
    return element;
  }
};

struct TestWiden {
  static constexpr std::string_view kName = "test_widen";
  static constexpr std::string_view kDoc = "An array from a number.";
  int64_t width = 1;
  void describe(Fields& f) { f("width", width); }
  Result<Spec> spec(std::span<const Spec>) const {
    return Spec{Nest::leaf(), {{DType::kInt64, std::vector<int64_t>{width}}}};
  }
  Result<Element> apply(Element element, Context&) const {
    const Value value = value_of(element);
    Result<Array> made = Array::make({width}, DType::kInt64);
    if (!made) return made.error();
    for (int64_t i = 0; i < width; ++i) made->mutable_values<int64_t>()[static_cast<size_t>(i)] = widened(value, i);
    return Element(*std::move(made));
  }
};

struct TestFail {
  static constexpr std::string_view kName = "test_fail";
  static constexpr std::string_view kDoc = "Fails some.";
  Params params;
  void describe(Fields& f) {
    f("one_in", params.one_in);
    f("salt", params.salt);
    f("throws", params.throws);
  }
  Result<Element> apply(Element element, Context&) const {
    const Value value = value_of(element);
    if (!fails(value, params)) return element;
    if (params.throws) throw std::runtime_error(failure(value));
    return Error::corrupt(failure(value));
  }
};

struct TestFilter {
  static constexpr std::string_view kName = "test_filter";
  static constexpr std::string_view kDoc = "Drops some.";
  Kind kind = Kind::kFilter;
  Params params;
  void describe(Fields& f) {
    f("one_in", params.one_in);
    f("salt", params.salt);
  }
  Result<bool> keep(const Element& element, Context&) const {
    const Value value = value_of(element);
    if (kind == Kind::kFilter) return !is_dropped(value, params);
    if (fails(value, params)) return Error::corrupt(failure(value));
    return !is_doubtful(value, params);
  }
};

struct TestNoise {
  static constexpr std::string_view kName = "test_noise";
  static constexpr std::string_view kDoc = "Adds random numbers.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context& context) const {
    Rng numbers = context.rng();
    for (Array& leaf : element.leaves) {
      Result<Array> made = Array::make(leaf.shape(), DType::kInt64);
      if (!made) return made.error();
      const auto from = leaf.values<int64_t>();
      auto to = made->mutable_values<int64_t>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * 1000 + numbers.below(1000);
      leaf = *std::move(made);
    }
    return element;
  }
};

Dataset built(const Tree& tree, const Value* opened_by);

Dataset map_of(const Dataset& input, const Params& params) {
  // Expressions and typed functions differ in the sign of a remainder, but the numbers
  // here are never negative.
  const bool one = input.element_spec().known() && input.element_spec().leaves.size() == 1;
  if (params.form == MapForm::kExpression && one) {
    return input.map({.map_func = [factor = params.factor, offset = params.offset](stoker::Value x) {
      return (x * factor + offset) % kPrime;
    }});
  }
  const bool scalar = one && input.element_spec().leaves[0].shape && input.element_spec().leaves[0].shape->empty();
  if (params.form == MapForm::kTypedFunction && scalar)
    return input.map({.map_func = [params](int64_t x) { return mapped(x, params); }, .num_parallel_calls = 2});
  return input.then(TestMap{params});
}

GraphFunction opener(const Stage& stage) {
  return [child = stage.child, params = stage.params](const Element& element) -> Result<Dataset> {
    const Value value = value_of(element);
    if (opens_nothing(value, params)) return Error::invalid(failure(value));
    return built(child, &value);
  };
}

Dataset generator(int64_t n) {
  return Dataset::from_generator({.generator = [n] {
    return [n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::optional<Element>();
      return std::optional<Element>(Element(Array::of<int64_t>(i++)));
    };
  }});
}

Dataset slices(const Params& params) {
  Array rows = Array::make({params.count, params.width}, DType::kInt64).value();
  auto to = rows.mutable_values<int64_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int64_t>(i);
  return Dataset::from_tensor_slices({.tensors = Element(std::move(rows))});
}

Dataset built(const Tree& tree, const Value* opened_by) {
  const Stage& s = *tree;
  const Params& p = s.params;
  std::vector<Dataset> in;
  for (const Tree& input : s.inputs) in.push_back(built(input, opened_by));
  switch (s.kind) {
    case Kind::kRange: return Dataset::range({.start = p.start, .stop = p.start + p.count});
    case Kind::kSlices: return slices(p);
    case Kind::kGenerator: return generator(p.count);
    case Kind::kRangeOf: {
      if (opened_by == nullptr) return Error::internal("a range that nothing opened");
      const int64_t start = start_for(*opened_by);
      return Dataset::range({.start = start, .stop = start + count_for(*opened_by, p)});
    }
    case Kind::kMap: return map_of(in[0], p);
    case Kind::kFail: return in[0].then(TestFail{p});
    case Kind::kFilter:
    case Kind::kDoubt: return in[0].then(TestFilter{s.kind, p});
    case Kind::kWiden: return in[0].then(TestWiden{p.width});
    case Kind::kBatch: return in[0].batch({.batch_size = p.batch_size, .drop_remainder = p.drop_remainder});
    case Kind::kUnbatch: return in[0].unbatch({});
    case Kind::kShuffle:
      return in[0].shuffle({.buffer_size = p.buffer_size, .seed = p.seed, .reshuffle_each_iteration = !p.same_order});
    case Kind::kRepeat: return in[0].repeat({.count = p.count});
    case Kind::kTake: return in[0].take({.count = p.count});
    case Kind::kSkip: return in[0].skip({.count = p.count});
    case Kind::kShard: return in[0].shard({.num_shards = p.num_shards, .index = p.index});
    case Kind::kZip: return Dataset::zip({.datasets = {in[0], in[1]}});
    case Kind::kConcatenate: return in[0].concatenate({.dataset = in[1]});
    case Kind::kEnumerate: return in[0].enumerate({.start = p.start});
    case Kind::kCache: return in[0].cache({});
    case Kind::kPrefetch: return in[0].prefetch({.buffer_size = p.buffer_size});
    case Kind::kInterleave:
      return in[0].interleave({.map_func = opener(s), .cycle_length = p.cycle_length, .block_length = p.block_length});
    case Kind::kFlatMap: return in[0].flat_map({.map_func = opener(s)});
    case Kind::kIgnoreErrors: return in[0].ignore_errors({});
    case Kind::kAssertCardinality: return in[0].assert_cardinality({.expected_cardinality = p.count});
    case Kind::kNoise: return in[0].then(TestNoise{});
    case Kind::kDrawnShuffle: return in[0].shuffle({.buffer_size = p.buffer_size});
    case Kind::kGlobalShuffle: return in[0].shuffle({.seed = p.seed});
  }
  return Error::internal("a kind without a dataset");
}

}  // namespace

Dataset build(const Tree& tree) { return built(tree, nullptr); }

}  // namespace stoker::model
