#include "stoker/ops/parse_example.h"

#include "stoker/codecs/example.h"
#include "support/eval.h"

namespace stoker {
namespace {

Array example() {
  ExampleWriter writer;
  writer.set("label", std::vector<int64_t>{7});
  writer.set("box", std::vector<float>{1, 2, 3, 4});
  writer.set("image", "bytes");
  writer.set("words", std::vector<Bytes>{"a", "b"});
  writer.set("none", std::vector<int64_t>{});
  return Array::of_bytes(writer.serialized());
}

Function parse(const FixedLenFeature& feature) {
  return [=](Value x) { return parse_single_example(x, {feature})[feature.key]; };
}
Array value(const FixedLenFeature& feature) { return eval(parse(feature), {example()}).value(); }
std::string wrong(const FixedLenFeature& feature) { return complaint(parse(feature), {example()}); }

TEST(ParseExample, GivesFeaturesInTheirShapes) {
  EXPECT_EQ(value({.key = "label", .dtype = DType::kInt64}), Array::of<int64_t>(7));
  EXPECT_EQ(value({.key = "label", .shape = {1}, .dtype = DType::kInt64}), array<int64_t>({7}));
  EXPECT_EQ(value({.key = "box", .shape = {2, 2}}), array<float>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(value({.key = "image", .dtype = DType::kBytes}), Array::of_bytes("bytes"));
  EXPECT_EQ(value({.key = "words", .shape = {2}, .dtype = DType::kBytes}), array<std::string>({"a", "b"}));
  EXPECT_EQ(value({.key = "none", .shape = {0}, .dtype = DType::kInt64}), array<int64_t>({}));
}

TEST(ParseExample, GivesADictOfTheFeatures) {
  const auto both = [](Value x) {
    return parse_single_example(x, {{.key = "label", .dtype = DType::kInt64}, {.key = "box", .shape = {4}}});
  };
  const Element element = eval_element(both, {example()}).value();
  EXPECT_EQ(element["label"], Array::of<int64_t>(7));
  EXPECT_EQ(element["box"], array<float>({1, 2, 3, 4}));
}

TEST(ParseExample, PutsTheDefaultForWhatIsMissing) {
  EXPECT_EQ(value({.key = "gone", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(-1)}),
            Array::of<int64_t>(-1));
  EXPECT_EQ(value({.key = "gone", .shape = {2}, .default_value = array<int32_t>({1, 2})}), array<float>({1, 2}));
  EXPECT_EQ(value({.key = "gone", .dtype = DType::kBytes, .default_value = Array::of_bytes("x")}),
            Array::of_bytes("x"));
  EXPECT_EQ(value({.key = "label", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(-1)}),
            Array::of<int64_t>(7));
}

TEST(ParseExample, NamesTheFeatureThatDoesNotFit) {
  EXPECT_EQ(wrong({.key = "gone", .dtype = DType::kInt64}),
            "the feature 'gone' (int64) is required and not in the example");
  EXPECT_EQ(wrong({.key = "label"}), "the feature 'label' is int64, float32 was wanted");
  EXPECT_EQ(wrong({.key = "label", .default_value = Array::of(0.0f)}),
            "the feature 'label' is int64, float32 was wanted");
  EXPECT_EQ(wrong({.key = "box", .shape = {3}}), "the feature 'box' has 4 values, the shape [3] wants 3");
  EXPECT_EQ(wrong({.key = "none", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(1)}),
            "the feature 'none' has 0 values, the shape [] wants 1");
}

TEST(ParseExample, RefusesParametersThatCannotBe) {
  EXPECT_EQ(wrong({.key = "label", .dtype = DType::kInt32}),
            "the feature 'label' cannot be int32, only int64, float32 or string");
  EXPECT_EQ(wrong({.key = "box", .shape = {-1}}), "the feature 'box' wants a shape that is known, not [?]");
  EXPECT_EQ(wrong({.key = "label", .dtype = DType::kInt64, .default_value = Array::of(0.5f)}),
            "the default of the feature 'label' is float32, int64 was wanted");
  EXPECT_EQ(wrong({.key = "box", .shape = {4}, .default_value = Array::of(0.5f)}),
            "the default of the feature 'box' has 1 values, the shape [4] wants 4");
}

TEST(ParseExample, NeverShowsTheRecord) {
  const std::string record = "secret garbage";
  const std::string message = complaint(parse({.key = "label", .dtype = DType::kInt64}), {Array::of_bytes(record)});
  EXPECT_NE(message.find("no tf.train.Example"), std::string::npos) << message;
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  EXPECT_EQ(complaint(parse({.key = "label"}), {Array::of<int64_t>(1)}),
            "one serialized example was wanted, a string[], and this is int64[]");
}

}  // namespace
}  // namespace stoker
