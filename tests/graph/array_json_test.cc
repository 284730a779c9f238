#include "stoker/graph/array_json.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stoker/core/element.h"
#include "stoker/graph/codec.h"
#include "support/temp_dir.h"
#include "support/typed_arrays.h"

namespace stoker {
namespace {

Result<Array> array_in(std::string_view text, std::optional<DType> type = {}) {
  ReadContext context;
  return array_from_json(parse_json(text).value(), context, type);
}

TEST(ArrayJson, ReadsValuesWithoutADtypeAsTensorFlowDoes) {
  EXPECT_EQ(*array_in("3"), Array::of<int32_t>(3));
  EXPECT_EQ(*array_in("3000000000"), Array::of<int64_t>(3000000000));
  EXPECT_EQ(*array_in("1.5"), Array::of(1.5f));
  EXPECT_EQ(*array_in("true"), Array::of(true));
  EXPECT_EQ(*array_in("\"text\""), Array::of_bytes("text"));
  EXPECT_EQ(*array_in("[1, 2]"), Array::from(std::vector<int32_t>{1, 2}));
  EXPECT_EQ(*array_in("[1, 2.5]"), Array::from(std::vector<float>{1, 2.5}));
  EXPECT_EQ(*array_in("[[1], [2]]"), Array::from(std::vector<int32_t>{1, 2}).reshaped(std::vector<int64_t>{2, 1}));
  EXPECT_EQ(*array_in("[]"), Array::from(std::vector<float>{}));
  EXPECT_EQ(*array_in(R"(["nan", "text"])"), Array::from(std::vector<std::string>{"nan", "text"}));
  EXPECT_TRUE(std::isinf(array_in(R"([1, "-inf"])")->values<float>()[1]));
  EXPECT_EQ(*array_in(R"({"const": [1, 2], "dtype": "uint8"})"), Array::from(std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(*array_in("[1, 2]", DType::kFloat64), Array::from(std::vector<double>{1, 2}));
}

TEST(ArrayJson, ReportsWhatWasExpected) {
  EXPECT_EQ(array_in("[1, [2]]").error().message(), "expected lists of equal depth, got a list among values");
  EXPECT_EQ(array_in("[[1], 2]").error().message(), "expected lists of equal depth, got an integer among lists");
  EXPECT_EQ(array_in("[[1], [2, 3]]").error().message(), "expected lists of equal length, got lengths 1 and 2");
  EXPECT_EQ(array_in("[[], [1]]").error().message(), "expected lists of equal length, got lengths 0 and 1");
  EXPECT_EQ(array_in("[1, \"a\"]").error().message(),
            "expected values of one kind, got a mix of numbers, bools and strings");
  EXPECT_EQ(array_in("[null]").error().message(), "expected a number, a bool or a string, got null");
  EXPECT_EQ(array_in(R"({"const": 300, "dtype": "uint8"})").error().message(), "expected values of uint8, got 300");
  EXPECT_EQ(array_in(R"({"const": 1.5, "dtype": "int32"})").error().message(), "expected values of int32, got 1.5");
  EXPECT_EQ(array_in(R"({"const": 1, "dtype": "int32"})", DType::kFloat32).error().message(),
            "expected float32, got int32");
  EXPECT_EQ(array_in(R"({"const": [1], "dtype": "int32", "shape": [2]})").error().message(),
            "expected as many values as the shape [2] has, got 1");
  EXPECT_EQ(array_in(std::string(65, '[') + "1" + std::string(65, ']')).error().message(),
            "expected at most 64 nested lists");
}

Result<Array> through_text(const Array& array, WriteContext write = {}) {
  STOKER_TRY(Json json, array_to_json(array, write));
  STOKER_TRY(Json parsed, parse_json(json.text()));
  ReadContext read;
  read.folder = write.folder;
  return array_from_json(parsed, read);
}

TEST(ArrayJson, PreservesTheBitsOfEveryType) {
  for (const Array& array : one_of_each_type()) {
    EXPECT_EQ(*through_text(array), array) << array.describe();
    EXPECT_EQ(*through_text(array.row(0)), array.row(0)) << array.describe();
    EXPECT_EQ(*through_text(array.reshaped(std::vector<int64_t>{1, 3, 1})),
              array.reshaped(std::vector<int64_t>{1, 3, 1}));
  }
}

TEST(ArrayJson, PreservesShapesWithoutValues) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0}, {0, 3}, {2, 0}, {2, 0, 4}})
    for (DType type : {DType::kInt16, DType::kBytes}) {
      const Array array = Array::make(dims, type).value();
      EXPECT_EQ(*through_text(array), array) << shape_text(dims);
    }
}

TEST(ArrayJson, WritesArraysOfManyDimsFlat) {
  const std::vector<int64_t> dims{1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1};
  const Array array = Array::from(std::vector<int>{1, 2, 3, 4}).reshaped(dims);
  WriteContext write;
  EXPECT_EQ(array_to_json(array, write)->text(),
            R"({"const":[1,2,3,4],"dtype":"int32","shape":[1,1,2,1,1,1,1,1,1,1,2,1]})");
  EXPECT_EQ(*through_text(array), array);
}

TEST(ArrayFiles, ContainLargeArraysInTheFolderOfTheGraph) {
  const TempDir folder;
  for (const Array& small : one_of_each_type()) {
    const std::vector<Array> rows(2000, small);
    const Array large = stacked(rows).value();
    WriteContext write{.folder = folder.path().string(), .stem = "graph"};
    const Json json = array_to_json(large, write).value();
    ASSERT_TRUE(json.find("array")) << json.text();
    EXPECT_EQ(json.find("array")->text(), "\"graph-1.npy\"");
    EXPECT_EQ(*through_text(large, write), large) << large.describe();
  }
}

TEST(ArrayFiles, AreRequiredForLargeArrays) {
  WriteContext write;
  EXPECT_EQ(array_to_json(Array::from(std::vector<double>(1000)), write).error().message(),
            "an array of 8000 bytes does not fit in the text of a graph, whose limit is 4096 bytes; save the graph to "
            "a file");
}

TEST(ArrayFiles, AreRejectedIfTheyContainAnotherArray) {
  const TempDir folder;
  WriteContext write{.folder = folder.path().string(), .stem = "g"};
  const Json json = array_to_json(Array::from(std::vector<double>(1000, 1)), write).value();
  write.arrays = 0;
  ASSERT_TRUE(array_to_json(Array::from(std::vector<double>(1000, 2)), write).ok());
  ReadContext read;
  read.folder = folder.path().string();
  EXPECT_EQ(array_from_json(json, read).error().message(),
            "g-1.npy does not contain the array that the graph was saved with");
}

TEST(ArrayFiles, AreReadOnlyFromTheFolderOfTheGraph) {
  EXPECT_EQ(array_in(R"({"array": "../secret.npy"})").error().message(),
            "expected the name of a file in the folder of the graph, got '../secret.npy'");
  EXPECT_EQ(array_in(R"({"array": "none.npy"})").error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace stoker
