#include "stoker/sources/jsonl.h"

#include <gtest/gtest.h>

#include "support/compress.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

// Written once: the laws make the example again while others read it.
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
  Texts found = words_of(Dataset::jsonl(
      {.filenames = {dir.write("x", line)}, .names = {"a"}, .dtypes = {type}, .shapes = {std::move(shape)}}));
  for (std::string& text : found)
    if (const size_t at = text.find(dir.at("x")); at != std::string::npos) text.replace(at, dir.at("x").size(), "x");
  return found;
}

TEST(JsonLines, GivesADictOfTheFeaturesOfEachLineAndGoesOnBehindOneThatIsWrong) {
  const Dataset ds = Dataset::jsonl(example());
  EXPECT_EQ(ds.element_spec().words(), "(ids: int32[?], text: string[])");
  Loader loader(ds);
  const Element first = **loader.next();
  EXPECT_EQ(first["text"].bytes(), "one");
  EXPECT_EQ(first["ids"], Array::from(std::vector<int32_t>{1, 2}));
  const Element second = **loader.next();
  EXPECT_EQ(second["text"].bytes(), "none");
  EXPECT_EQ(second["ids"].count(), 0);
  const auto wrong = loader.next();
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message(), example().filenames[1] + ", line 1: 'text': an integer where string was wanted");
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
  EXPECT_EQ(words(R"({"a": 1.5})", DType::kInt64), Texts{"error: x, line 1: 'a': a number where int64 was wanted"});
  EXPECT_EQ(words(R"({"a": 1, "a": 2})", DType::kInt64), Texts{"int64[] 2;"});
}

TEST(JsonLines, ChecksShapes) {
  EXPECT_EQ(words(R"({"a": [[1, 2], [3]]})", DType::kInt64, {-1, -1}),
            Texts{"error: x, line 1: 'a': a list of 1 where one of 2 was wanted"});
  EXPECT_EQ(words(R"({"a": 1})", DType::kInt64, {2}),
            Texts{"error: x, line 1: 'a': an integer where a list of rank 1 was wanted"});
  EXPECT_EQ(words(R"({"a": [1]})", DType::kInt64), Texts{"error: x, line 1: 'a': a list where int64 was wanted"});
}

TEST(JsonLines, SaysWhatIsNoObject) {
  EXPECT_EQ(words("[1]", DType::kInt64), Texts{"error: x, line 1: a list where an object was wanted"});
  EXPECT_EQ(words("{}", DType::kInt64), Texts{"error: x, line 1: 'a': it is missing, and has no default"});
  EXPECT_EQ(words(R"({"a": null})", DType::kInt64), Texts{"error: x, line 1: 'a': it is null, and has no default"});
  const Texts found = words("\xef\xbb\xbf{\"a\": 1}\r\n{\"a\": \n{\"a\": 3}\n", DType::kInt64);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], "int64[] 1;");
  EXPECT_TRUE(found[1].starts_with("error: x, line 2: no JSON: ")) << found[1];
  EXPECT_EQ(found[2], "int64[] 3;");
}

TEST(JsonLines, GoesOnFromACheckpoint) {
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
  EXPECT_EQ(words_of_rest(second), words_of_rest(first));
}

TEST(JsonLines, RefusesFeaturesThatMakeNoSense) {
  const auto wrong = [](JsonLines stage) {
    stage.filenames = {"a"};
    return error_of(Dataset::jsonl(stage));
  };
  EXPECT_EQ(wrong({}), "jsonl: names is empty, at least one feature was wanted");
  EXPECT_EQ(wrong({.names = {"a"}}), "jsonl: 1 names and 0 dtypes");
  EXPECT_EQ(wrong({.names = {"a", "a"}, .dtypes = {DType::kBool, DType::kBool}}),
            "jsonl: the feature 'a' stands twice");
  EXPECT_EQ(wrong({.names = {"a"}, .dtypes = {DType::kBool}, .defaults = {Array::of(1.0)}}),
            "jsonl: the default of 'a' is float64 of shape [], bool of shape [] was wanted");
}

}  // namespace
}  // namespace stoker
