#include "stoker/ops/parse_example.h"

#include <algorithm>
#include <set>

#include "stoker/codecs/tfrecord.h"
#include "stoker/ops/call.h"
#include "support/compress.h"
#include "support/examples.h"
#include "support/op_example.h"
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
  return [=](Value x) { return io::parse_single_example(x, {feature})[feature.key]; };
}
Array value(const FixedLenFeature& feature) { return eval(parse(feature), {example()}).value(); }
std::string wrong(const FixedLenFeature& feature) { return complaint(parse(feature), {example()}); }

// A record, and its features "a" and "b".
Arrays feature_rows(int64_t row) { return record_and_features(ints({{"a", {row, 2}}, {"b", {3}}}), {"a", "b"}); }
Arrays record_rows(int64_t row) { return {feature_rows(row)[0]}; }

OP_EXAMPLE(ExampleFeatures{.keys = {"b", "a", "none"}}, record_rows);
OP_EXAMPLE(FixedLenFeature{.key = "a", .at = 0, .shape = {2}, .dtype = DType::kInt64}, feature_rows);

TEST(ParseExample, ReturnsFeaturesInTheirShapes) {
  EXPECT_EQ(value({.key = "label", .dtype = DType::kInt64}), Array::of<int64_t>(7));
  EXPECT_EQ(value({.key = "label", .shape = {1}, .dtype = DType::kInt64}), array<int64_t>({7}));
  EXPECT_EQ(value({.key = "box", .shape = {2, 2}}), array<float>({1, 2, 3, 4}, {2, 2}));
  EXPECT_EQ(value({.key = "image", .dtype = DType::kBytes}), Array::of_bytes("bytes"));
  EXPECT_EQ(value({.key = "words", .shape = {2}, .dtype = DType::kBytes}), array<std::string>({"a", "b"}));
  EXPECT_EQ(value({.key = "none", .shape = {0}, .dtype = DType::kInt64}), array<int64_t>({}));
}

TEST(ParseExample, ReturnsADictOfTheFeatures) {
  const auto both = [](Value x) {
    return io::parse_single_example(x, {{.key = "label", .dtype = DType::kInt64}, {.key = "box", .shape = {4}}});
  };
  const Element element = eval_element(both, {example()}).value();
  EXPECT_EQ(element["label"], Array::of<int64_t>(7));
  EXPECT_EQ(element["box"], array<float>({1, 2, 3, 4}));
}

TEST(ParseExample, ReturnsTheDefaultOfAMissingFeature) {
  EXPECT_EQ(value({.key = "gone", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(-1)}),
            Array::of<int64_t>(-1));
  EXPECT_EQ(value({.key = "gone", .shape = {2}, .default_value = array<int32_t>({1, 2})}), array<float>({1, 2}));
  EXPECT_EQ(value({.key = "gone", .dtype = DType::kBytes, .default_value = Array::of_bytes("x")}),
            Array::of_bytes("x"));
  EXPECT_EQ(value({.key = "label", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(-1)}),
            Array::of<int64_t>(7));
}

TEST(ParseExample, TreatsAnEmptyDefaultAsNoDefault) {
  EXPECT_EQ(wrong({.key = "gone", .shape = {0}, .default_value = array<float>({})}),
            "the feature 'gone' (float32) is missing from the example, which has these features: "
            "'box', 'image', 'label', 'none', 'words'; set its default_value if it is optional");
}

TEST(ParseExample, NamesAFeatureThatDoesNotFit) {
  EXPECT_EQ(wrong({.key = "gone", .dtype = DType::kInt64}),
            "the feature 'gone' (int64) is missing from the example, which has these features: "
            "'box', 'image', 'label', 'none', 'words'; set its default_value if it is optional");
  EXPECT_EQ(wrong({.key = "label"}), "the feature 'label' is int64, expected float32");
  EXPECT_EQ(wrong({.key = "label", .default_value = Array::of(0.0f)}),
            "the feature 'label' is int64, expected float32");
  EXPECT_EQ(wrong({.key = "box", .shape = {3}}), "the feature 'box' has 4 values, expected 3 for shape [3]");
  EXPECT_EQ(wrong({.key = "none", .dtype = DType::kInt64, .default_value = Array::of<int64_t>(1)}),
            "the feature 'none' has 0 values, expected 1 for shape []");
}

TEST(ParseExample, ListsTheFeaturesOfARecordThatLacksOne) {
  const auto missing = [](const Array& records) {
    return refusal({"y"}, FixedLenFeature{.key = "y", .dtype = DType::kInt64}, records);
  };
  const std::string start = "the feature 'y' (int64) is missing from the example, which has these features: ";
  const std::string fix = "; set its default_value if it is optional";
  EXPECT_EQ(missing(one(ints({}))), start + "none" + fix);
  EXPECT_EQ(missing(vector_of({ints({{"y", {1}}}), ints({{"x\n", {1}}})})),
            start + "'x\\x0a'" + fix + ", in record 1 of the vector");
  std::vector<std::pair<std::string, Ints>> many;
  for (int i = 10; i < 40; ++i) many.push_back({"x" + std::to_string(i), {i}});
  EXPECT_NE(missing(one(ints(many))).find("'x29', …; set"), std::string::npos) << missing(one(ints(many)));
}

TEST(ParseExample, RejectsInvalidParameters) {
  EXPECT_EQ(wrong({.key = "label", .dtype = DType::kInt32}),
            "the feature 'label' has dtype int32, expected int64, float32 or string");
  EXPECT_EQ(wrong({.key = "box", .shape = {-1}}),
            "the feature 'box' has shape [?], expected a shape without unknown sizes");
  EXPECT_EQ(wrong({.key = "label", .dtype = DType::kInt64, .default_value = Array::of(0.5f)}),
            "the default of the feature 'label' is float32, expected int64");
  EXPECT_EQ(wrong({.key = "box", .shape = {4}, .default_value = Array::of(0.5f)}),
            "the default of the feature 'box' has 1 values, expected 4 for shape [4]");
}

TEST(ParseExample, NeverPutsBytesOfTheRecordIntoErrors) {
  const std::string record = "secret garbage";
  const std::string message = complaint(parse({.key = "label", .dtype = DType::kInt64}), {Array::of_bytes(record)});
  EXPECT_NE(message.find("not a tf.train.Example"), std::string::npos) << message;
  EXPECT_EQ(message.find("secret"), std::string::npos) << message;
  EXPECT_EQ(complaint(parse({.key = "label"}), {Array::of<int64_t>(1)}),
            "expected serialized examples, string[] or string[?], got int64[]");
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

TEST(ParseExample, NamesARecordOfAVectorThatDoesNotFit) {
  const Array records = vector_of({ints({{"a", {1}}}), ints({{"a", {3, 4}}})});
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "a", .dtype = DType::kInt64}, records),
            "the feature 'a' has 2 values, expected 1 for shape [], in record 1 of the vector");
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "a", .dtype = DType::kInt64}, vector_of({ints({}), "garbage"})),
            "the data is not a tf.train.Example: a field has an unknown wire type, at or after byte 1, in "
            "record 1 of the vector");
}

TEST(ParseExample, RejectsAPositionOutsideTheKeys) {
  EXPECT_EQ(refusal({"a"}, FixedLenFeature{.key = "b", .at = 1, .dtype = DType::kInt64}, one(ints({{"b", {1}}}))),
            "at is 1, expected the position of one of the 1 keys of example_features");
}

// The same as one by one, both if all records have the usual encoding and if one of them does not.
TEST(ParseExample, ReadsStringsOfRecordsInOneTable) {
  const Function parse = [](Value x) {
    return io::parse_single_example(
        x, {{.key = "a", .dtype = DType::kBytes, .default_value = Array::of_bytes("none")}})["a"];
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

// The error names the bad record in the file, even if many records were read at once.
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
    return io::parse_single_example(x, {{.key = "a", .dtype = DType::kInt64}})["a"];
  }});
  Loader loader(parsed.batch({.batch_size = 16}));
  Result<std::optional<Element>> next = loader.next();
  while (next && *next) next = loader.next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().place().path, path);
  EXPECT_EQ(next.error().place().offset, places[41]);
  EXPECT_EQ(next.error().place().position, 41);
}

// The map is moved upstream of the batch, so a bad record fails alone.
TEST(ParseExample, AfterABatchLosesOnlyTheBadRecord) {
  std::vector<std::string> records;
  for (int64_t i = 0; i < 6; ++i) records.push_back(i == 1 ? "garbage" : ints({{"a", {i}}}));
  const auto parse = [](Value x) { return io::parse_single_example(x, {{.key = "a", .dtype = DType::kInt64}})["a"]; };
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

// The views must outlive the blocks into which records were read, because these are reused.
TEST(ExampleFeatures, AsTheResultOfAMapKeepTheirRecordsAlive) {
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
        ASSERT_TRUE(next.ok()) << next.error().describe();
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
