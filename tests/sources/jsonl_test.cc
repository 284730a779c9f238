#include "stoker/sources/jsonl.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

// Written once: the laws build the example again while other loaders read the files.
JsonLines example() {
  static const TempDir dir;
  static const std::vector<std::string> files = {
      dir.write("a.jsonl", "{\"text\": \"one\", \"ids\": [1, 2], \"more\": {}}\n\n{\"ids\": []}\n"),
      dir.write("b.jsonl", "{\"text\": 5, \"ids\": [3]}\n{\"text\": \"\\u00fc\", \"ids\": [4]}")};
  return {.filenames = files,
          .names = {"text", "ids"},
          .dtypes = {DType::kBytes, DType::kInt32},
          .shapes = {{}, {-1}},
          .defaults = {Array::of_bytes("none"), std::nullopt}};
}

DATASET_EXAMPLE(Dataset::jsonl(example()));

Texts words(const std::string& line, DType type, std::vector<int64_t> shape = {}) {
  const TempDir dir;
  Texts found = text_of(Dataset::jsonl(
      {.filenames = {dir.write("x", line)}, .names = {"a"}, .dtypes = {type}, .shapes = {std::move(shape)}}));
  for (std::string& text : found)
    if (const size_t at = text.find(dir.at("x")); at != std::string::npos) text.replace(at, dir.at("x").size(), "x");
  return found;
}

TEST(JsonLines, YieldsADictForEachLineAndContinuesAfterABadOne) {
  const Dataset ds = Dataset::jsonl(example());
  EXPECT_EQ(ds.element_spec().describe(), "(ids: int32[?], text: string[])");
  Loader loader(ds);
  const Element first = **loader.next();
  EXPECT_EQ(first["text"].bytes(), "one");
  EXPECT_EQ(first["ids"], Array::from(std::vector<int32_t>{1, 2}));
  const Element second = **loader.next();
  EXPECT_EQ(second["text"].bytes(), "none");
  EXPECT_EQ(second["ids"].count(), 0);
  const auto wrong = loader.next();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), example().filenames[1] + ", line 1: 'text': expected string, got an integer");
  EXPECT_EQ(wrong.error().place().path, example().filenames[1]);
  EXPECT_EQ(wrong.error().place().offset, 0);
  EXPECT_EQ((**loader.next())["text"].bytes(), "\xc3\xbc");
  EXPECT_FALSE(*loader.next());
}

TEST(JsonLines, ReadsNumbersOfEveryType) {
  EXPECT_EQ(words(R"({"a": 255})", DType::kUint8), Texts{"uint8[] 255;"});
  EXPECT_EQ(words(R"({"a": 256})", DType::kUint8), Texts{"error: x, line 1: 'a': 256 does not fit uint8"});
  EXPECT_EQ(words(R"({"a": true})", DType::kBool), Texts{"bool[] 1;"});
  EXPECT_EQ(words(R"({"a": 1})", DType::kFloat32), Texts{"float32[] 1;"});
  EXPECT_EQ(words(R"({"a": 1.5})", DType::kFloat16), Texts{"float16[] 1.5;"});
  EXPECT_EQ(words(R"({"a": 1.5})", DType::kInt64), Texts{"error: x, line 1: 'a': expected int64, got a number"});
  EXPECT_EQ(words(R"({"a": 1, "a": 2})", DType::kInt64), Texts{"int64[] 2;"});
}

TEST(JsonLines, ChecksShapes) {
  EXPECT_EQ(words(R"({"a": [[1, 2], [3]]})", DType::kInt64, {-1, -1}),
            Texts{"error: x, line 1: 'a': expected a list of 2 items, got 1"});
  EXPECT_EQ(words(R"({"a": 1})", DType::kInt64, {2}),
            Texts{"error: x, line 1: 'a': expected a list of rank 1, got an integer"});
  EXPECT_EQ(words(R"({"a": [1]})", DType::kInt64), Texts{"error: x, line 1: 'a': expected int64, got a list"});
}

TEST(JsonLines, RejectsLinesThatAreNotObjectsWithTheFeatures) {
  EXPECT_EQ(words("[1]", DType::kInt64), Texts{"error: x, line 1: expected an object, got a list"});
  EXPECT_EQ(words("{}", DType::kInt64),
            Texts{"error: x, line 1: 'a': the key is missing and the feature has no default"});
  EXPECT_EQ(words(R"({"a": null})", DType::kInt64),
            Texts{"error: x, line 1: 'a': the value is null and the feature has no default"});
  const Texts found = words("\xef\xbb\xbf{\"a\": 1}\r\n{\"a\": \n{\"a\": 3}\n", DType::kInt64);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], "int64[] 1;");
  EXPECT_TRUE(found[1].starts_with("error: x, line 2: not valid JSON at column 7: ")) << found[1];
  EXPECT_EQ(found[1].find("line 1"), std::string::npos) << found[1];
  EXPECT_EQ(found[2], "int64[] 3;");
}

TEST(JsonLines, ContinuesFromACheckpoint) {
  const TempDir dir;
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += i % 7 == 3 ? "\n" : "{\"a\": " + std::to_string(i) + "}\n";
  const Dataset ds = Dataset::jsonl({.filenames = {dir.write("a", gzipped(lines)), dir.write("b", gzipped(lines))},
                                     .names = {"a"},
                                     .dtypes = {DType::kInt64},
                                     .compression_type = "GZIP"});
  Loader first(ds);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(first.next().ok());
  const std::string saved = *first.save();
  Loader second(ds);
  ASSERT_TRUE(second.restore(saved).ok());
  EXPECT_EQ(text_of_rest(second), text_of_rest(first));
}

TEST(JsonLines, RejectsInvalidFeatures) {
  const auto wrong = [](JsonLines stage) {
    stage.filenames = {"a"};
    return error_of(Dataset::jsonl(stage));
  };
  EXPECT_EQ(wrong({}), "jsonl: names is empty, expected at least one feature");
  EXPECT_EQ(wrong({.names = {"a"}}), "jsonl: expected one dtype for each of the 1 names, got 0");
  EXPECT_EQ(wrong({.names = {"a", "a"}, .dtypes = {DType::kBool, DType::kBool}}),
            "jsonl: names contains 'a' more than once");
  EXPECT_EQ(wrong({.names = {"a"}, .dtypes = {DType::kBool}, .defaults = {Array::of(1.0)}}),
            "jsonl: the default of 'a' is float64 of shape [], expected bool of shape []");
}

}  // namespace
}  // namespace stoker
