#include "stoker/ops/parse_example.h"

#include <algorithm>
#include <set>

#include "stoker/codecs/tfrecord.h"
#include "stoker/ops/call.h"
#include "support/compress.h"
#include "support/examples.h"
#include "support/support.h"
#include "support/temp_dir.h"

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

TEST(ParseExample, TakesAnEmptyDefaultForNone) {
  EXPECT_EQ(wrong({.key = "gone", .shape = {0}, .default_value = array<float>({})}),
            "the feature 'gone' (float32) is required and not in the example");
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
            "serialized examples were wanted, string[] or string[?], and this is int64[]");
}

TEST(ParseExample, StacksTheFeaturesOfSeveralRecords) {
  const Array records = vector_of({ints({{"a", {1, 2}}}), ints({{"a", {3, 4}}}), ints({})});
  const FixedLenFeature a{.key = "a", .shape = {2}, .dtype = DType::kInt64, .default_value = array<int64_t>({8, 9})};
  EXPECT_EQ(decode({"a"}, a, records), array<int64_t>({1, 2, 3, 4, 8, 9}, {3, 2}));
  EXPECT_EQ(decode({"a"}, a, vector_of({})), array<int64_t>({}, {0, 2}));
  ExampleWriter text;
  text.set("t", "x");
  const FixedLenFeature t{.key = "t", .dtype = DType::kBytes, .default_value = Array::of_bytes("-")};
  EXPECT_EQ(decode({"t"}, t, vector_of({text.serialized(), ints({})})), array<std::string>({"x", "-"}));
}

TEST(ParseExample, NamesTheRecordOfAVectorThatDoesNotFit) {
  const Array records = vector_of({ints({{"a", {1}}}), ints({{"a", {3, 4}}})});
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "a", .dtype = DType::kInt64}, records),
            "the feature 'a' has 2 values, the shape [] wants 1, in record 1 of the vector");
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "a", .dtype = DType::kInt64}, vector_of({ints({}), "garbage"})),
            "the bytes are no tf.train.Example: a field has a wire type that is not in use, in byte 1 or behind it, in "
            "record 1 of the vector");
}

TEST(ParseExample, RefusesAPlaceThatWasNotLookedFor) {
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "b", .at = 1, .dtype = DType::kInt64}, one(ints({{"b", {1}}}))),
            "place 1 is none of the 1 names that example_features looked for");
}

TEST(FixedLenSequence, GivesAnyNumberOfRows) {
  const FixedLenSequenceFeature pairs{.key = "a", .shape = {2}, .dtype = DType::kInt64, .allow_missing = true};
  EXPECT_EQ(decode({"a"}, pairs, one(ints({{"a", {1, 2, 3, 4}}}))), array<int64_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(decode({"a"}, pairs, one(ints({}))), array<int64_t>({}, {0, 2}));
  EXPECT_EQ(refusal({"a"}, pairs, one(ints({{"a", {1, 2, 3}}}))),
            "the feature 'a' has 3 values, which are no whole rows of shape [2]");
}

TEST(FixedLenSequence, FillsShortRecordsUp) {
  const Array records = vector_of({ints({{"a", {1}}}), ints({}), ints({{"a", {2, 3}}})});
  FixedLenSequenceFeature a{.key = "a", .dtype = DType::kInt64, .allow_missing = true};
  EXPECT_EQ(decode({"a"}, a, records), array<int64_t>({1, 0, 0, 0, 2, 3}, {3, 2}));
  a.default_value = Array::of<int64_t>(-1);
  EXPECT_EQ(decode({"a"}, a, records), array<int64_t>({1, -1, -1, -1, 2, 3}, {3, 2}));
  a.default_value = array<int64_t>({1, 2});
  EXPECT_EQ(refusal({"a"}, a, records), "the default of the feature 'a' has 2 values, one to fill up with was wanted");
}

TEST(FixedLenSequence, TakesAStepOfASequenceForARow) {
  const FixedLenSequenceFeature pairs{.key = "a", .shape = {2}, .dtype = DType::kInt64, .steps = true};
  const std::string two = steps({{"a", {{1, 2}, {3, 4}}}}), none = steps({{"a", {}}});
  EXPECT_EQ(decode({"a"}, pairs, one(two), true), array<int64_t>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(decode({"a"}, pairs, vector_of({none, two}), true), array<int64_t>({0, 0, 0, 0, 1, 2, 3, 4}, {2, 2, 2}));
  EXPECT_EQ(decode({"a"}, SequenceLength{.key = "a"}, vector_of({none, two, ""}), true), array<int64_t>({0, 2, 0}));
  EXPECT_EQ(refusal({"a"}, pairs, one(steps({{"a", {{1, 2}, {3}}}})), true),
            "step 1 of the feature 'a' has 1 values, the shape [2] wants 2");
  EXPECT_EQ(refusal({"a"}, pairs, one(""), true), "the feature 'a' (int64) is required and not in the example");
}

// As one by one: all written as usual, and with one among them that is not.
TEST(ParseExample, ReadsStringsOfRecordsThatLieInOneTable) {
  const Function parse = [](Value x) {
    return parse_single_example(x,
                                {{.key = "a", .dtype = DType::kBytes, .default_value = Array::of_bytes("none")}})["a"];
  };
  std::vector<std::string> texts{"one", "", "three"}, records;
  for (const auto& more : {std::string(), std::string(200, 'x'), std::string("?")}) {
    if (!more.empty()) texts.push_back(more);
    records.clear();
    for (const std::string& text : texts) {
      ExampleWriter writer;
      if (text != "?") writer.set("a", text);
      records.push_back(writer.serialized());
    }
    std::vector<std::string> found;
    for (const Element& e :
         elements(Dataset::from_tensor_slices({.tensors = Element(Array::from(records))}).map({.map_func = parse})))
      found.emplace_back(e.leaves[0].bytes());
    std::vector<std::string> wanted = texts;
    std::ranges::replace(wanted, "?", "none");
    EXPECT_EQ(found, wanted);
  }
}

// The record of a file that is at fault is named, also where many were read at once.
TEST(ParseExample, NamesTheFileAndTheByteOfABadRecord) {
  TempDir dir;
  std::string file;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < 50; ++i) {
    places.push_back(static_cast<int64_t>(file.size()));
    append_record(file, i == 41 ? "garbage" : ints({{"a", {i}}}));
  }
  const std::string path = dir.write("records", file);
  const Dataset parsed = Dataset::tfrecord({.filenames = {path}}).map({.map_func = [](Value x) {
    return parse_single_example(x, {{.key = "a", .dtype = DType::kInt64}})["a"];
  }});
  Loader loader(parsed.batch({.batch_size = 16}));
  Result<std::optional<Element>> next = loader.next();
  while (next && *next) next = loader.next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().place().path, path);
  EXPECT_EQ(next.error().place().offset, places[41]);
  EXPECT_EQ(next.error().place().position, 41);
}

// Behind a batch it is done before: a bad record costs itself alone.
TEST(ParseExample, BehindABatchLosesNoMoreThanTheBadRecord) {
  std::vector<std::string> records;
  for (int64_t i = 0; i < 6; ++i) records.push_back(i == 1 ? "garbage" : ints({{"a", {i}}}));
  const auto parse = [](Value x) { return parse_single_example(x, {{.key = "a", .dtype = DType::kInt64}})["a"]; };
  const auto batches = [](const Dataset& ds) {
    Arrays all;
    for (const Element& element : elements(ds.ignore_errors({}))) all.push_back(element.leaves[0]);
    return all;
  };
  const Dataset source = Dataset::from_tensor_slices({.tensors = Element(Array::from(records))});
  const Arrays behind = batches(source.batch({.batch_size = 2}).map({.map_func = parse}));
  EXPECT_EQ(behind, batches(source.map({.map_func = parse}).batch({.batch_size = 2})));
  EXPECT_EQ(behind, (Arrays{array<int64_t>({0, 2}), array<int64_t>({3, 4}), array<int64_t>({5})}));
}

// The views must outlive the blocks that records were read into, which are used again.
TEST(ExampleFeatures, AsTheResultOfAMapKeepTheRecordsTheyPointInto) {
  constexpr int64_t kRecords = 3000;
  const auto image_of = [](int64_t i) {
    return std::string(1000, static_cast<char>('a' + i % 26)) + std::to_string(i);
  };
  const TempDir dir;
  std::string file;
  for (int64_t i = 0; i < kRecords; ++i) {
    ExampleWriter writer;
    writer.set("image", Bytes(image_of(i)));
    append_record(file, writer.serialized());
  }
  const std::string plain = dir.write("plain", file), packed = dir.write("packed", gzipped(file));
  const auto found = [](Value record) { return call(ExampleFeatures{.keys = {"image"}}, {std::move(record)}); };
  for (const Dataset& records :
       {Dataset::tfrecord({.filenames = {plain}}),
        Dataset::tfrecord({.filenames = {packed}, .compression_type = "GZIP"}),
        Dataset::tfrecord({.filenames = {packed}, .compression_type = "GZIP"}).shuffle({.buffer_size = 7, .seed = 1}),
        Dataset::tfrecord({.filenames = {plain}}).shuffle({.seed = 1}),
        Dataset::tfrecord({.filenames = {packed}, .compression_type = "GZIP"}).batch({.batch_size = 4})}) {
    std::vector<Element> kept;
    {
      Loader loader(records.map({.map_func = found}));
      while (true) {
        Result<std::optional<Element>> next = loader.next();
        ASSERT_TRUE(next.ok()) << next.error().words();
        if (!*next) break;
        kept.push_back(**std::move(next));
      }
    }
    std::set<int64_t> seen;
    for (const Element& element : kept)
      for (const Bytes message : element.leaves[0].values<Bytes>()) {
        const std::string number(message.substr(message.find_last_not_of("0123456789") + 1));
        ASSERT_FALSE(number.empty());
        ASSERT_TRUE(message.ends_with(image_of(std::stoll(number))));
        seen.insert(std::stoll(number));
      }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), kRecords);
  }
}

}  // namespace
}  // namespace stoker
