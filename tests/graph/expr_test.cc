#include "stoker/graph/expr.h"

#include <array>
#include <atomic>
#include <cmath>
#include <set>
#include <stdexcept>
#include <thread>

#include "stoker/ops/arithmetic.h"
#include "stoker/ops/call.h"
#include "stoker/ops/cast.h"
#include "stoker/ops/comparison.h"
#include "stoker/ops/logic.h"
#include "stoker/ops/reduce.h"
#include "stoker/ops/shape.h"
#include "support/eval.h"

namespace stoker {
namespace {

const OpsRegistry& ops() {
  static const OpsRegistry registry;
  return registry;
}

Result<std::shared_ptr<const Program>> parsed(std::string_view text, const Element* element = nullptr) {
  STOKER_TRY(Json json, parse_json(text));
  ReadContext context;
  context.registry = &ops();
  context.element = element;
  return Program::from_json(json, context);
}

std::string error_in(std::string_view text) {
  const auto program = parsed(text);
  return program ? "" : program.error().message();
}

std::string json_of(const Function& function) {
  WriteContext context;
  return function.program()->to_json(context).value().text();
}

Array numbers(std::vector<int64_t> values) { return Array::from(values); }

// ---- arguments and structures

TEST(Program, PassesTheWholeElementToASingleArgument) {
  auto run = run_of({Column(numbers({1, 2})), Column(numbers({10, 20}))});
  Context context;
  ASSERT_TRUE(Function([](Value pair) { return pair[0] + pair[1]; }).apply(run, context).ok());
  EXPECT_EQ(run.nest, Nest::leaf());
  EXPECT_EQ(run.columns[0].block(), numbers({11, 22}));
}

TEST(Program, PassesTheFieldsToSeveralArguments) {
  const Result<Element> swapped =
      eval_element([](Value x, Value y) { return tuple(y, x); }, {Array::of(1), Array::of_bytes("a")});
  ASSERT_TRUE(swapped.ok());
  EXPECT_EQ(swapped->leaves[0], Array::of_bytes("a"));
  EXPECT_EQ(swapped->leaves[1], Array::of(1));
}

TEST(Program, PassesTheFieldsOfADictInItsOrder) {
  auto run = run_of({Column(numbers({1})), Column(numbers({2}))});
  run.nest = Nest::dict({{"z", Nest::leaf()}, {"a", Nest::leaf()}});  // leaves are sorted by key: a, z
  Context context;
  ASSERT_TRUE(Function([](Value z, Value a) { return z * 10 + a; }).apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block(), numbers({21}));
}

TEST(Program, ReportsAWrongNumberOfArguments) {
  EXPECT_EQ(complaint([](Value x, Value y) { return x + y; }, {Array::of(1), Array::of(2), Array::of(3)}),
            "the function takes 2 arguments and the element (x, x, x) has 3 components");
  EXPECT_EQ(complaint([](Value x, Value y) { return x + y; }, {Array::of(1)}),
            "the function takes 2 arguments and the element x has 1 component");
}

TEST(Program, ReturnsNestedStructures) {
  const Result<Element> made =
      eval_element([](Value x) { return dict({{"b", tuple(x, x + 1)}, {"a", x * 2}}); }, {Array::of<int64_t>(5)});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->nest->describe(), "{'b': (x, x), 'a': x}");
  EXPECT_EQ((*made)["a"], Array::of<int64_t>(10));  // leaves are sorted by key
  EXPECT_EQ(made->leaves[1], Array::of<int64_t>(5));
  EXPECT_EQ(made->leaves[2], Array::of<int64_t>(6));
}

TEST(Program, FindsFieldsByNameAndReportsMissingOnes) {
  auto run = run_of({Column(numbers({1})), Column(numbers({2}))});
  run.nest = Nest::dict({{"image", Nest::leaf()}, {"label", Nest::leaf()}});
  const auto copy = run;
  Context context;
  ASSERT_TRUE(Function([](Value e) { return e["label"]; }).apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block(), numbers({2}));
  auto wrong = copy;
  EXPECT_EQ(Function([](Value e) { return e["lable"]; }).apply(wrong, context).error().message(),
            "no field named 'lable' in {'image': x, 'label': x}; did you mean 'label'?");
  EXPECT_EQ(Function([](Value e) { return e + 1; }).apply(wrong, context).error().message(),
            "expected one component, got {'image': x, 'label': x}");
  EXPECT_EQ(Function([](Value x) { return x["a"]["b"]; }).apply(wrong, context).error().message(),
            "no field named 'a' in {'image': x, 'label': x}");
}

TEST(Program, ComputesOnlyTheUsedFieldsOfItsOwnStructures) {
  const Function second = [](Value x) { return tuple(floor_divide(x, 0), x)[1]; };
  EXPECT_EQ(*eval(second, {Array::of(3)}), Array::of(3));
  EXPECT_EQ(Function([](Value x) { return tuple(x, x)[2]; }).check().error().message(), "no field '2' in a tuple of 2");
  EXPECT_EQ(Function([](Value x) { return (x + 1)["a"]; }).check().error().message(),
            "a single component has no field 'a'; use getitem for an item of an array");
  EXPECT_EQ(Function([](Value x) { return dict({{"a", x}, {"a", x}}); }).check().error().message(),
            "a dict has the key 'a' twice");
}

TEST(Program, RepeatsConstantsForEveryRow) {
  auto run = run_of({Column(numbers({1, 2, 3}))});
  Context context;
  const Array pair = Array::from(std::vector<float>{1, 2});
  ASSERT_TRUE(Function([&](Value) { return tuple(7, "label", Value(pair) * 2.0); }).apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block(), Array::from(std::vector<int32_t>{7, 7, 7}));
  EXPECT_EQ(run.columns[1].row(2), Array::of_bytes("label"));
  EXPECT_EQ(run.columns[2].row(2), Array::from(std::vector<float>{2, 4}));
  EXPECT_NE(run.columns[2].row(0).raw(), run.columns[2].row(1).raw());  // the caller may write into its rows
}

// ---- operations of this test

// Counts its calls.
struct Counted {
  static constexpr std::string_view kName = "counted";
  static constexpr std::string_view kDoc = "";
  static inline std::atomic<int> calls = 0;
  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const { return inputs[0]; }
  Result<Column> apply(std::span<const Column> inputs, OpRows&, Context&) const {
    ++calls;
    return inputs[0];
  }
};

TEST(Program, ComputesSharedNodesOnce) {
  Counted::calls = 0;
  const Function function = [](Value x) {
    const Value shared = call(Counted{}, {x});
    return tuple(shared + shared, shared * 2, shared);
  };
  Counted::calls = 0;
  auto run = run_of({Column(numbers({1, 2}))});
  Context context;
  ASSERT_TRUE(function.apply(run, context).ok());
  EXPECT_EQ(Counted::calls, 1);
  EXPECT_EQ(run.columns[0].block(), numbers({2, 4}));
  EXPECT_EQ(run.columns[2].block(), numbers({1, 2}));
}

struct Drawn {
  static constexpr std::string_view kName = "drawn";
  static constexpr std::string_view kDoc = "";
  static constexpr bool kRandom = true;
  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec>) const { return LeafSpec{DType::kFloat64, std::vector<int64_t>{}}; }
  Result<Array> apply(std::span<const Array>, Context& context) const { return Array::of(context.rng().uniform()); }
};

TEST(Program, DrawsIndependentNumbersForEachRandomOperation) {
  const Function function = [](Value x) {
    const Value first = call(Drawn{}, {x});
    return tuple(first, call(Drawn{}, {x}), first, call(Drawn{}, {1}));
  };
  EXPECT_TRUE(function.program()->random());
  auto run = run_of({Column(numbers({1, 2, 3}))});
  Context context(42, 7, nullptr);
  context.set_origins(&run.origins);
  const auto whole = run;
  ASSERT_TRUE(function.apply(run, context).ok());
  std::set<double> seen;
  for (int32_t row = 0; row < 3; ++row) {
    const Element e = run.element(row);
    EXPECT_EQ(e.leaves[0], e.leaves[2]);
    for (size_t i : {0, 1, 3}) seen.insert(e.leaves[i].scalar<double>());
  }
  EXPECT_EQ(seen.size(), 9u);  // each row draws its own number, also if the input is a constant

  auto tail = whole.slice(2, 1);  // no number depends on the length of a run
  context.set_origins(&tail.origins);
  ASSERT_TRUE(function.apply(tail, context).ok());
  EXPECT_EQ(tail.element(0), run.element(2));

  // Only random operations are counted.
  auto other = whole;
  context.set_origins(&other.origins);
  ASSERT_TRUE(Function([](Value x) { return call(Drawn{}, {x * 2 + 1}); }).apply(other, context).ok());
  EXPECT_EQ(other.element(1).leaves[0], run.element(1).leaves[0]);
}

struct Waiting : Counted {
  static constexpr bool kWaits = true;
};

TEST(Program, WaitsIfOneOfItsOperationsWaits) {
  EXPECT_TRUE(Function([](Value x) { return call(Waiting{}, {x}); }).program()->waits());
  EXPECT_FALSE(Function([](Value x) { return x + 1; }).program()->waits());
}

// Applies the two parts of a function one after the other.
Result<Element> in_parts(const Function& function, const Arrays& arguments) {
  const auto parts = function.program()->cut();
  if (!parts) return Error::internal("the program was not split");
  EXPECT_TRUE(parts->reads->waits());
  EXPECT_FALSE(parts->rest->waits());
  Run run = rows_of(arguments, 3, true);
  Context context(42, 7, nullptr);
  context.set_origins(&run.origins);
  STOKER_TRY(parts->reads->apply(run, context));
  STOKER_TRY(parts->rest->apply(run, context));
  return run.element(2);
}
Result<Element> in_one(const Function& function, const Arrays& arguments) {
  Run run = rows_of(arguments, 3, true);
  Context context(42, 7, nullptr);
  context.set_origins(&run.origins);
  STOKER_TRY(function.apply(run, context));
  return run.element(2);
}

TEST(Program, ReturnsTheSameInTwoPartsOfWhichOnlyTheFirstWaits) {
  const auto wait = [](Value x) { return call(Waiting{}, {std::move(x)}); };
  const Array one = Array::of<int64_t>(3), two = Array::of<int64_t>(5);
  const Function functions[] = {
      [&](Value x, Value y) { return wait(x) * y + x; },
      [&](Value x, Value y) { return tuple(y, dict({{"a", wait(x)}, {"b", wait(y) - wait(x)}})); },
      [&](Value x, Value y) { return wait(wait(x + 1) * y) + wait(x); },
      [&](Value x, Value y) {
        const Value both = tuple(wait(x), y);
        return both[0] + both[1] + wait(7);
      },
      [&](Value x, Value y) { return tuple(call(Drawn{}, {y}), wait(x) * 2, call(Drawn{}, {wait(x)})); },
  };
  for (const Function& function : functions) {
    const Result<Element> parts = in_parts(function, {one, two});
    ASSERT_TRUE(parts.ok()) << function.describe() << parts.error().message();
    EXPECT_EQ(*parts, *in_one(function, {one, two})) << function.describe();
  }
  const Function whole = [&](Value pair) { return wait(pair[0]) + pair[1]; };
  EXPECT_EQ(*in_parts(whole, {one, two}), *in_one(whole, {one, two}));
}

TEST(Program, IsNotSplitIfAPartIsEmptyOrTheReadsDependOnRandomNumbers) {
  const auto cut = [](const Function& function) { return function.program()->cut().has_value(); };
  EXPECT_FALSE(cut([](Value x) { return x + 1; }));
  EXPECT_FALSE(cut([](Value x) { return tuple(x, call(Waiting{}, {x})); }));
  EXPECT_FALSE(cut([](Value x) { return call(Waiting{}, {call(Drawn{}, {x})}) + 1; }));
}

struct Throwing {
  static constexpr std::string_view kName = "throwing";
  static constexpr std::string_view kDoc = "";
  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const { return inputs[0]; }
  Result<Array> apply(std::span<const Array> inputs, Context&) const {
    if (inputs[0].scalar<int64_t>() == 2) throw std::runtime_error("two is not supported");
    return inputs[0];
  }
};

TEST(Program, FailsTheRowThatThrows) {
  auto run = run_of({Column(numbers({1, 2, 3}))});
  Context context;
  ASSERT_TRUE(Function([](Value x) { return call(Throwing{}, {x}) * 10; }).apply(run, context).ok());
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].row, 1);
  EXPECT_NE(run.failed[0].error.message().find("two is not supported"), std::string::npos);
  EXPECT_EQ(run.failed[0].error.place().stage, "throwing");
  EXPECT_EQ(run.element(0).leaves[0], Array::of<int64_t>(10));
  EXPECT_EQ(run.element(2).leaves[0], Array::of<int64_t>(30));
}

struct ThrowingKernel : Throwing {
  Result<Column> apply(std::span<const Column>, OpRows&, Context&) const { throw std::bad_alloc(); }
};
struct ReturnsNoRows : Throwing {
  Result<Column> apply(std::span<const Column>, OpRows&, Context&) const {
    return Column(Array::from(std::vector<int>{}));
  }
};

TEST(Program, FailsTheRunIfAKernelThrows) {
  auto run = run_of({Column(numbers({1, 2, 3}))});
  Context context;
  const Result<void> done = Function([](Value x) { return call(ThrowingKernel{}, {x}); }).apply(run, context);
  EXPECT_EQ(done.error().code(), Code::kResourceExhausted);
  EXPECT_EQ(run.columns.size(), run.nest->leaf_count());
  EXPECT_EQ(run.columns[0].size(), 3);
  auto again = run_of({Column(numbers({1, 2, 3}))});
  EXPECT_EQ(Function([](Value x) { return call(ReturnsNoRows{}, {x}); }).apply(again, context).error().message(),
            "returned 0 rows for 3");
}

TEST(Program, DoesNotChangeARunOfFailures) {
  Context context;
  auto run = Run::failure(Error::corrupt("cut"), Origin{});
  ASSERT_TRUE(Function([](Value x, Value y) { return x + y; }).apply(run, context).ok());
  EXPECT_EQ(run.failed[0].error.message(), "cut");
}

// ---- the memory of results

class Slab final : public RowTarget {
 public:
  Slab() : leaves_{Array::make({4}, DType::kInt64).value(), Array::make({4}, DType::kFloat32).value()} {}
  std::optional<Array> row_of(size_t leaf, int32_t row, Dims dims, DType type) override {
    if (!dims.empty() || type != leaves_[leaf].type()) return std::nullopt;
    return leaves_[leaf].rows(row, 1).reshaped({});
  }
  std::optional<Array> block_of(size_t leaf, Dims dims, DType type) override {
    if (dims.size() != 1 || dims[0] != 4 || type != leaves_[leaf].type()) return std::nullopt;
    return leaves_[leaf];
  }
  std::array<Array, 2> leaves_;
};

TEST(Program, WritesTheLeavesOfTheResultIntoTheBatch) {
  Slab slab;
  Context context;
  context.set_target(&slab);
  auto run = run_of({Column(numbers({1, 2, 3, 4}))});
  ASSERT_TRUE(Function([](Value x) { return tuple(x * 2 + 1, cast(x, kFloat32) / 2.0); }).apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block().raw(), slab.leaves_[0].raw());
  EXPECT_EQ(run.columns[1].block().raw(), slab.leaves_[1].raw());
  EXPECT_EQ(slab.leaves_[0], numbers({3, 5, 7, 9}));
  EXPECT_EQ(slab.leaves_[1], Array::from(std::vector<float>{0.5, 1, 1.5, 2}));
}

TEST(Program, NumbersTheLeavesOfADictBySortedKey) {
  Slab slab;
  Context context;
  context.set_target(&slab);
  auto run = run_of({Column(numbers({1, 2, 3, 4}))});
  const Function function = [](Value x) { return dict({{"b", cast(x, kFloat32)}, {"a", x + 1}}); };
  ASSERT_TRUE(function.apply(run, context).ok());
  EXPECT_EQ(run.columns[0].block().raw(), slab.leaves_[0].raw());
  EXPECT_EQ(run.columns[1].block().raw(), slab.leaves_[1].raw());
}

// ---- types before running

TEST(ProgramSpec, IsPartlyKnownForUnknownInputs) {
  const Function function = [](Value x) { return tuple(cast(x["a"], kFloat32), x["b"] == 1, 7); };
  const Spec spec = function.spec(Spec::unknown()).value();
  EXPECT_EQ(spec.describe(), "(0: float32[…], 1: ?[…], 2: int32[])");
  EXPECT_FALSE(Function([](Value x) { return tuple(x, 1); }).spec(Spec::unknown())->known());
}

TEST(ProgramSpec, BroadcastsPartlyKnownShapes) {
  const Spec image{Nest::leaf(), {{DType::kUint8, std::vector<int64_t>{-1, -1, 3}}}};
  const Array channels = Array::from(std::vector<float>{1, 2, 3});
  EXPECT_EQ(Function([&](Value x) { return x - Value(channels); }).spec(image)->describe(), "float32[?, ?, 3]");
  EXPECT_EQ(
      Function([&](Value x) { return reduce_mean(x, {.axis = std::vector<int64_t>{0, 1}}); }).spec(image)->describe(),
      "float64[3]");
  EXPECT_EQ(Function([&](Value x) { return reshape(x, {.shape = {-1, 3}}); }).spec(image)->describe(), "uint8[?, 3]");
  EXPECT_EQ(Function([&](Value x) { return stack({x, x}, {.axis = -1}); }).spec(image)->describe(),
            "uint8[?, ?, 3, 2]");
}

TEST(ProgramSpec, ReportsMistakesBeforeRunning) {
  const Spec bytes = Spec::scalar(DType::kBytes);
  const Result<Spec> spec = Function([](Value x) { return x + 1; }).spec(bytes);
  EXPECT_EQ(spec.error().message(), "expected numbers, got string and int32");
  EXPECT_EQ(spec.error().place().stage, "add");
  const Spec three{Nest::leaf(), {{DType::kInt32, std::vector<int64_t>{3}}}};
  const Array four = Array::from(std::vector<int>{1, 2, 3, 4});
  EXPECT_EQ(Function([&](Value x) { return x + Value(four); }).spec(three).error().message(),
            "shapes [3] and [4] cannot be broadcast together");
}

// ---- JSON

TEST(ProgramJson, IsTheFormInGraphFiles) {
  EXPECT_EQ(json_of([](Value x) { return x * 2 + 1; }),
            R"({"args":["x"],"value":{"op":"add","in":[{"op":"multiply","in":["x",2]},1]}})");
  EXPECT_EQ(
      json_of([](Value x, Value y) { return tuple(cast(x, kFloat32) / 255.0, y); }),
      R"({"args":["x","y"],"value":{"tuple":[{"op":"divide","in":[{"op":"cast","in":["x"],"dtype":"float32"},255.0]},"y"]}})");
  EXPECT_EQ(json_of([](Value x) { return dict({{"a", x["image"]}, {"b", Value(Array::of<uint8_t>(3))}}); }),
            R"({"args":["x"],"value":{"dict":{"a":{"get":"x","key":"image"},"b":{"const":3,"dtype":"uint8"}}}})");
  EXPECT_EQ(json_of([](Value, Value, Value, Value w) { return w; }), R"({"args":["x","y","z","x3"],"value":"x3"})");
  EXPECT_EQ(json_of([](Value) { return Value("x"); }), R"({"args":["x"],"value":{"const":"x","dtype":"string"}})");
  EXPECT_EQ(json_of([](Value) { return Value(HUGE_VAL); }), R"({"args":["x"],"value":{"const":"inf","weak":true}})");
}

TEST(ProgramJson, ContainsASharedNodeOnce) {
  const Function function = [](Value x) {
    const Value shared = x + 1;
    return shared * shared;
  };
  EXPECT_EQ(json_of(function),
            R"({"args":["x"],"value":{"op":"multiply","in":[{"op":"add","in":["x",1],"id":0},{"ref":0}]}})");
  const auto again = read_again(*function.program());
  EXPECT_EQ((*again)->result()->inputs[0], (*again)->result()->inputs[1]);
  // Forty doublings are forty nodes, not 2^40.
  const Function doubled = [](Value x) {
    for (int i = 0; i < 40; ++i) x = x + x;
    return x;
  };
  EXPECT_EQ(*eval(doubled, {Array::of<int64_t>(1)}), Array::of(int64_t{1} << 40));
}

TEST(ProgramJson, PreservesWhetherANumberIsPlain) {
  const Function plain = [](Value x) { return x + 1; };
  const Function typed = [](Value x) { return x + Value(Array::of(1)); };
  for (const Function& function : {plain, typed}) {
    const auto again = read_again(*function.program()).value();
    EXPECT_EQ(again->spec(Spec::scalar(DType::kUint8))->describe(),
              function.spec(Spec::scalar(DType::kUint8))->describe());
  }
  EXPECT_EQ(parsed(R"({"args": ["x"], "value": {"op": "add", "in": ["x", {"const": 1}]}})")
                .value()
                ->spec(Spec::scalar(DType::kUint8))
                ->describe(),
            "uint8[]");
}

TEST(ProgramJson, AcceptsAnyNamesOfArguments) {
  const auto program = parsed(R"({"args": ["image", "label"], "value": {"op": "add", "in": ["label", 1]}})");
  ASSERT_TRUE(program.ok()) << program.error().describe();
  EXPECT_EQ((*program)->arguments(), 2);
  EXPECT_EQ((*program)->describe(), "y + 1");
}

TEST(ProgramJson, ReplacesComponentsOfTheOuterElement) {
  const Element outer = tuple_of({Element(Array::of<int64_t>(5)), Element(Array::of_bytes("a"))});
  const auto program = parsed(R"({"args": ["x"], "value": {"op": "add", "in": ["x", {"element": "0"}]}})", &outer);
  ASSERT_TRUE(program.ok()) << program.error().describe();
  EXPECT_EQ((*program)->describe(), "x + 5");
  EXPECT_EQ((*parsed(R"({"args": ["x"], "value": {"tuple": ["x", {"element": ""}]}})", &outer))->describe(),
            "(x, (5, 'a'))");
}

TEST(ProgramJson, ReportsWhatWasExpected) {
  const auto value = [](std::string_view e) {
    return error_in(R"({"args": ["x", "y"], "value": )" + std::string(e) + "}");
  };
  EXPECT_EQ(value(R"({"op": "ad", "in": ["x", 1]})"), "no operation named 'ad'; did you mean 'add'?");
  EXPECT_EQ(value(R"({"op": "frobnicate", "in": ["x"]})"), "no operation named 'frobnicate'");
  EXPECT_EQ(value(R"({"op": "add", "in": ["x"]})"), "add takes 2 inputs, got 1");
  EXPECT_EQ(value(R"({"op": "cast", "in": ["x"]})"), "cast: parameter 'dtype' is missing");
  EXPECT_EQ(value(R"({"op": "cast", "in": ["x"], "dtyp": "int8"})"),
            "cast: no parameter named 'dtyp'; did you mean 'dtype'?");
  EXPECT_EQ(value(R"({"op": "add", "in": "x"})"), "expected a list of expressions, got a string");
  EXPECT_EQ(value(R"({"op": 3})"), "expected the name of an operation, got an integer");
  EXPECT_EQ(value(R"("z")"), "no argument named 'z'; the arguments are x, y, and a string is {\"const\": \"…\"}");
  EXPECT_EQ(value("null"), "null as a component is not supported");
  EXPECT_EQ(value("[1]"), "expected an expression, got a list; write {\"tuple\": […]} or {\"const\": […]}");
  EXPECT_EQ(value("{}"), "expected an expression with op, tuple, dict, get, const, array or ref, got {}");
  EXPECT_EQ(value(R"({"tuple": ["x"], "extra": 1})"), "an expression with 'tuple' cannot have 'extra'");
  EXPECT_EQ(value(R"({"tuple": ["x"], "tuple": ["y"]})"), "'tuple' is present twice in an expression");
  EXPECT_EQ(value(R"({"get": "x"})"), "an expression with 'get' requires a 'key' that is a name or a number");
  EXPECT_EQ(value(R"({"ref": 3})"), "no expression before this one has the id 3");
  EXPECT_EQ(value(R"({"dict": {"a": "x", "a": "y"}})"), "a dict has the key 'a' twice");
  EXPECT_EQ(value(R"({"const": 300, "dtype": "uint8"})"), "expected values of uint8, got 300");
  EXPECT_EQ(value(R"({"element": "a"})"), "the component 'a' of an outer element is used, but the graph is not nested");
  EXPECT_EQ(value(R"({"tuple": [{"op": "add", "in": ["x", 1], "id": 1}, {"op": "add", "in": ["x", 1], "id": 1}]})"),
            "the id 1 is present twice");
  EXPECT_EQ(error_in("3"), "expected a function {\"args\": […], \"value\": …}, got an integer");
  EXPECT_EQ(error_in(R"({"args": ["x"]})"), "a function requires the keys args and value, each once");
  EXPECT_EQ(error_in(R"({"args": ["x", "x"], "value": "x"})"), "the argument 'x' is present twice");
  EXPECT_EQ(error_in(R"({"args": [], "value": 1})"), "a function takes at least one argument");
  EXPECT_EQ(error_in(R"({"arg": ["x"], "value": 1})"), "expected a function with the keys args and value, got 'arg'");
}

TEST(ProgramJson, PreservesEveryOperationAndItsParameters) {
  ASSERT_GT(ops().ops().size(), 20u);
  for (const OpType* type : ops().ops()) {
    EXPECT_FALSE(type->doc.empty()) << type->name;
    Json json = Json::dict();
    json.set("op", type->name);
    Json in = Json::list();
    for (int i = 0; i < std::max(1, type->inputs); ++i) in.push("x");
    json.set("in", in);
    for (const ParamDoc& param : type->params) {
      EXPECT_FALSE(param.doc.empty()) << type->name << " " << param.name;
      if (!param.required) continue;
      json.set(param.name, param.type == "dtype"                          ? Json("int8")
                           : param.type == "two int64"                    ? Json(Json::List{Json(1), Json(1)})
                           : param.type == "string"                       ? Json("text")
                           : param.type == "list of string"               ? Json(Json::List{Json("text")})
                           : param.type.find("list") == std::string::npos ? Json(1)
                                                                          : Json(Json::List{Json(1)}));
    }
    Json function = Json::dict();
    function.set("args", Json(Json::List{Json("x")}));
    function.set("value", json);
    ReadContext context;
    context.registry = &ops();
    const auto program = Program::from_json(function, context);
    ASSERT_TRUE(program.ok()) << type->name << ": " << program.error().describe();
    WriteContext write;
    const Json once = (*program)->to_json(write).value();
    const auto again = read_again(**program);
    ASSERT_TRUE(again.ok()) << type->name << ": " << again.error().describe();
    EXPECT_EQ((*again)->to_json(write).value(), once) << type->name;
    EXPECT_FALSE((*program)->describe().empty());
  }
}

// ---- depth

Function chain(int length) {
  return [length](Value x) {
    for (int i = 0; i < length; ++i) x = x + 1;
    return x;
  };
}

TEST(Program, RejectsExpressionsThatAreNestedTooDeep) {
  EXPECT_TRUE(chain(999).check().ok());
  EXPECT_EQ(chain(1000).check().error().message(),
            "an expression is nested deeper than 1000 levels; split the function into several maps");
  EXPECT_FALSE(chain(1000000).check().ok());  // and is destroyed without recursion
}

TEST(Program, WritesDeepExpressionsInAReadableForm) {
  for (int length : {98, 99, 100, 101, 200, 500, 998}) {
    const Function deep = chain(length);
    EXPECT_EQ(*eval(deep, {Array::of<int64_t>(0)}), Array::of<int64_t>(length)) << length;
    const auto again = read_again(*deep.program()).value();
    WriteContext context;
    EXPECT_EQ(again->to_json(context).value().text(), json_of(deep)) << length;
  }
}

TEST(ProgramJson, RejectsDeepTextAndDeepReferences) {
  Json deep("x");
  for (int i = 0; i < 300; ++i) {
    Json parts = Json::list(), outer = Json::dict();
    parts.push(std::move(deep));
    outer.set("tuple", std::move(parts));
    deep = std::move(outer);
  }
  Json function = Json::dict();
  function.set("args", Json(Json::List{Json("x")}));
  function.set("value", std::move(deep));
  ReadContext context;
  context.registry = &ops();
  EXPECT_EQ(Program::from_json(function, context).error().message(),
            "an expression is written deeper than 256 levels; give parts of it an \"id\" and use {\"ref\": id}");

  std::string text = R"({"args": ["x"], "value": {"tuple": [{"op": "add", "in": ["x", 1], "id": 0})";
  for (int i = 1; i < 2000; ++i)
    text += R"(, {"op": "add", "in": [{"ref": )" + std::to_string(i - 1) + R"(}, 1], "id": )" + std::to_string(i) + "}";
  EXPECT_EQ(error_in(text + "]}}"),
            "an expression is nested deeper than 1000 levels; split the function into several maps");
}

// ---- formulas

TEST(ProgramText, IsAFormula) {
  const auto text = [](const Function& function) { return function.describe(); };
  EXPECT_EQ(text([](Value x) { return x * 2 + 1; }), "x * 2 + 1");
  EXPECT_EQ(text([](Value x) { return (x + 1) * 2; }), "(x + 1) * 2");
  EXPECT_EQ(text([](Value x, Value y) { return x - (y - 1); }), "x - (y - 1)");
  EXPECT_EQ(text([](Value x, Value y) { return x - y - 1; }), "x - y - 1");
  EXPECT_EQ(text([](Value x) { return power(-x, 2); }), "(-x) ** 2");
  EXPECT_EQ(text([](Value x) { return -power(x, 2); }), "-x ** 2");
  EXPECT_EQ(text([](Value x) { return power(power(x, 2), 3); }), "(x ** 2) ** 3");
  EXPECT_EQ(text([](Value x, Value y) { return !(x < 1 && y >= 2.5) || x == y; }),
            "not (x < 1 and y >= 2.5) or x == y");
  EXPECT_EQ(text([](Value x) { return tuple(cast(x["image"], kFloat32) / 255.0, x["label"]); }),
            "(cast(x['image'], dtype=float32) / 255, x['label'])");
  EXPECT_EQ(text([](Value x) { return dict({{"a", reduce_sum(x)}}); }), "{'a': reduce_sum(x)}");
  EXPECT_EQ(text([](Value x) { return getitem(x, {.start = 1, .axis = 2}); }), "getitem(x, start=1, axis=2)");
  EXPECT_EQ(text([](Value x) { return tuple(x); }), "(x,)");
}

TEST(ProgramText, IsTruncatedIfItIsLong) {
  const Function function = [](Value x) {
    for (int i = 0; i < 60; ++i) x = x + x;
    return x;
  };
  const std::string text = function.describe();
  EXPECT_LT(text.size(), 200u);
  EXPECT_TRUE(text.ends_with("…"));
}

TEST(Program, CanBeUsedByThreadsAtTheSameTime) {
  const Function function = [](Value x, Value y) { return tuple(x * 2 + y, y); };
  std::vector<std::thread> threads;
  std::atomic<int> correct = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto run = run_of({Column(numbers({1, 2, 3})), Column(numbers({i, i, i}))});
        Context context;
        if (function.apply(run, context).ok() && run.element(2).leaves[0] == Array::of<int64_t>(6 + i)) ++correct;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(correct, 800);
}

}  // namespace
}  // namespace stoker
