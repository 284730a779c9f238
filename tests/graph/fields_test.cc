#include "stoker/graph/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stoker/core/element.h"
#include "stoker/graph/op_of.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

// Parameters of every kind.
struct Batch {
  int64_t batch_size = 0;
  bool drop_remainder = false;
  int workers = 1;
  double share = 0.5;
  std::string name = "b";
  DType dtype = DType::kInt32;
  std::optional<int64_t> limit;
  std::vector<std::string> files;

  void describe(Fields& f) {
    f.required("batch_size", batch_size, "elements in a batch");
    f("drop_remainder", drop_remainder);
    f("workers", workers);
    f("share", share);
    f("name", name);
    f("dtype", dtype);
    f("limit", limit);
    f("files", files);
  }
};

Result<Batch> read_json(const Json& json, const Element* element = nullptr) {
  Batch batch;
  Fields fields;
  batch.describe(fields);
  ReadContext context;
  context.element = element;
  STOKER_TRY(read_fields(fields, json, context, "batch", {"stage"}));
  return batch;
}

Result<Batch> read(std::string_view text, const Element* element = nullptr) {
  return read_json(parse_json(text).value(), element);
}

std::string complaint(std::string_view text) {
  const Result<Batch> batch = read(text);
  return batch ? "" : batch.error().message();
}

Json written(Batch batch) {
  Fields fields;
  batch.describe(fields);
  Json json = Json::dict();
  WriteContext context;
  EXPECT_TRUE(write_fields(fields, json, context).ok());
  return json;
}

TEST(Fields, ReadWhatTheyWrote) {
  Batch batch{.batch_size = INT64_MIN,
              .drop_remainder = true,
              .workers = -7,
              .share = 1e-300,
              .name = "naïve",
              .dtype = DType::kBytes,
              .limit = 3,
              .files = {"a", "b"}};
  const Json json = written(batch);
  const Batch again = read_json(parse_json(json.text()).value()).value();
  EXPECT_EQ(written(again), json);
  EXPECT_EQ(again.files, batch.files);
  EXPECT_EQ(again.share, batch.share);
}

TEST(Fields, WriteDefaultsAndLeaveOutWhatIsNull) {
  EXPECT_EQ(written(Batch{}).text(),
            R"({"batch_size":0,"drop_remainder":false,"workers":1,"share":0.5,"name":"b","dtype":"int32","files":[]})");
}

TEST(Fields, SayInTheUsersWordsWhatIsWrong) {
  EXPECT_EQ(complaint(R"({"bach_size": 3})"), "batch: no parameter named 'bach_size'; did you mean 'batch_size'?");
  EXPECT_EQ(
      complaint(R"({"batch_size": 3, "colour": 1})"),
      "batch: no parameter named 'colour'; it takes batch_size, drop_remainder, workers, share, name, dtype, limit "
      "and files");
  EXPECT_EQ(complaint(R"({})"), "batch: parameter 'batch_size' is missing");
  EXPECT_EQ(complaint(R"({"batch_size": 3, "batch_size": 4})"), "batch: parameter 'batch_size' stands twice");
  EXPECT_EQ(complaint(R"({"batch_size": "3"})"), "batch: 'batch_size' wants an integer, found a string");
  EXPECT_EQ(complaint(R"({"batch_size": 1.5})"), "batch: 'batch_size' wants an integer, found 1.5");
  EXPECT_EQ(complaint(R"({"batch_size": 1e30})"), "batch: 'batch_size' wants an integer, found 1e+30");
  EXPECT_EQ(complaint(R"({"batch_size": 1, "workers": 3000000000})"),
            "batch: 'workers' wants an integer of 32 bits, found 3000000000");
  EXPECT_EQ(complaint(R"({"batch_size": 1, "drop_remainder": 1})"),
            "batch: 'drop_remainder' wants true or false, found an integer");
  EXPECT_EQ(complaint(R"({"batch_size": 1, "dtype": "int33"})"),
            "batch: 'dtype' wants the name of a dtype, found 'int33'; did you mean 'int32'?");
  EXPECT_EQ(complaint(R"({"batch_size": 1, "files": ["a", 2]})"),
            "batch: 'files', item 1: wants a string, found an integer");
  EXPECT_EQ(complaint(R"([1])"), "batch: parameters stand in an object, found a list");
}

TEST(Fields, LeaveReservedKeysToOthers) { EXPECT_TRUE(read(R"({"stage": "batch", "batch_size": 1})").ok()); }

TEST(Fields, TakeWholeNumbersHoweverTheyAreWritten) {
  EXPECT_EQ(read(R"({"batch_size": 1e3})")->batch_size, 1000);
  EXPECT_EQ(read(R"({"batch_size": 4.0})")->batch_size, 4);
  EXPECT_EQ(read(R"({"batch_size": 1, "share": 2})")->share, 2.0);
  EXPECT_EQ(read(R"({"batch_size": 1, "limit": null})")->limit, std::nullopt);
  EXPECT_EQ(read(R"({"batch_size": 1, "files": "one"})")->files, (std::vector<std::string>{"one"}));
}

TEST(Fields, KeepNumbersThatAreNotFinite) {
  Batch batch{.batch_size = 1, .share = -std::numeric_limits<double>::infinity()};
  EXPECT_EQ(read_json(parse_json(written(batch).text()).value())->share, batch.share);
  EXPECT_TRUE(std::isnan(read(R"({"batch_size": 1, "share": "nan"})")->share));
}

TEST(Fields, KeepBytesThatAreNotText) {
  Batch batch{.batch_size = 1, .name = std::string("\xff\x00\x80", 3)};
  const Json json = written(batch);
  EXPECT_EQ(json.find("name")->text(), R"({"base64":"/wCA"})");
  EXPECT_EQ(read_json(parse_json(json.text()).value())->name, batch.name);
}

// ---- components of the outer element

const Element& outer() {
  static const Element element(
      Nest::dict({{"count", Nest::leaf()}, {"names", Nest::leaf()}, {"pair", Nest::tuple_of_leaves(2)}}),
      {Array::of<int64_t>(7), Array::from(std::vector<std::string>{"x", "y"}), Array::of(0.25f),
       Array::of_bytes("\xfe")});
  return element;
}

TEST(Component, StandsForAParameter) {
  const Result<Batch> batch = read(R"({"batch_size": {"element": "count"}, "share": {"element": "pair/0"},
                                       "name": {"element": "pair/1"}, "files": {"element": "names"}})",
                                   &outer());
  ASSERT_TRUE(batch.ok()) << batch.error().words();
  EXPECT_EQ(batch->batch_size, 7);
  EXPECT_EQ(batch->share, 0.25);
  EXPECT_EQ(batch->name, "\xfe");
  EXPECT_EQ(batch->files, (std::vector<std::string>{"x", "y"}));
}

TEST(Component, StandsForAnItemOfAList) {
  EXPECT_EQ(read(R"({"batch_size": 1, "files": ["a", {"element": "pair/1"}]})", &outer())->files,
            (std::vector<std::string>{"a", "\xfe"}));
}

TEST(Component, IsTheElementItselfWithoutAPath) {
  const Element only(Array::of<int64_t>(5));
  EXPECT_EQ(read(R"({"batch_size": {"element": ""}})", &only)->batch_size, 5);
  const Element pair = tuple_of({Element(Array::of(1)), Element(Array::of(2))});
  EXPECT_EQ(read(R"({"batch_size": {"element": 1}})", &pair)->batch_size, 2);
}

TEST(Component, SaysWhatIsNotThere) {
  EXPECT_EQ(complaint(R"({"batch_size": {"element": "count"}})"),
            "batch: 'batch_size' wants the component 'count' of an outer element, and there is none: "
            "this graph is not nested");
  EXPECT_EQ(read(R"({"batch_size": {"element": "cuont"}})", &outer()).error().message(),
            "batch: 'batch_size' wants the component 'cuont' of the outer element, which is "
            "{'count': x, 'names': x, 'pair': (x, x)}");
  EXPECT_EQ(read(R"({"batch_size": {"element": "pair"}})", &outer()).error().message(),
            "batch: 'batch_size' wants one component of the outer element, found (x, x)");
  EXPECT_EQ(read(R"({"batch_size": {"element": "names"}})", &outer()).error().message(),
            "batch: 'batch_size' wants an integer, found a list");
}

// ---- arrays

Result<Array> array_in(std::string_view text, std::optional<DType> type = {}) {
  ReadContext context;
  return array_from_json(parse_json(text).value(), context, type);
}

TEST(ArrayJson, ReadsPlainValuesAsTensorFlowWould) {
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

TEST(ArrayJson, SaysWhatIsWrong) {
  EXPECT_EQ(array_in("[1, [2]]").error().message(), "wants lists of equal depth, found a list among values");
  EXPECT_EQ(array_in("[[1], 2]").error().message(), "wants lists of equal depth, found an integer among lists");
  EXPECT_EQ(array_in("[[1], [2, 3]]").error().message(), "wants lists of equal length, found one of 2 behind one of 1");
  EXPECT_EQ(array_in("[[], [1]]").error().message(), "wants lists of equal length, found one of 1 behind one of 0");
  EXPECT_EQ(array_in("[1, \"a\"]").error().message(),
            "wants values of one kind, found numbers, bools and strings together");
  EXPECT_EQ(array_in("[null]").error().message(), "wants a number, a bool or a string, found null");
  EXPECT_EQ(array_in(R"({"const": 300, "dtype": "uint8"})").error().message(), "wants values of uint8, found 300");
  EXPECT_EQ(array_in(R"({"const": 1.5, "dtype": "int32"})").error().message(), "wants values of int32, found 1.5");
  EXPECT_EQ(array_in(R"({"const": 1, "dtype": "int32"})", DType::kFloat32).error().message(),
            "wants float32, found int32");
  EXPECT_EQ(array_in(R"({"const": [1], "dtype": "int32", "shape": [2]})").error().message(),
            "wants as many values as the shape [2] has, found 1");
  EXPECT_EQ(array_in(std::string(65, '[') + "1" + std::string(65, ']')).error().message(),
            "wants at most 64 nested lists");
}

std::vector<Array> one_of_each_type() {
  std::vector<Array> arrays;
  for (int i = 0; i <= static_cast<int>(DType::kBytes); ++i)
    visit_dtype(static_cast<DType>(i), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Bytes>)
        arrays.push_back(Array::from(std::vector<std::string>{"text", std::string("\xff\0", 2), ""}));
      else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
        arrays.push_back(Array::from(std::vector<T>{T(0.1f), T(-3e4f), T(std::numeric_limits<float>::infinity())}));
      else if constexpr (std::is_same_v<T, bool>)
        arrays.push_back(Array::from(std::vector<bool>{true, false, true}));
      else
        arrays.push_back(Array::from(
            std::vector<T>{std::numeric_limits<T>::lowest(), static_cast<T>(0.1), std::numeric_limits<T>::max()}));
    });
  return arrays;
}

Result<Array> through_text(const Array& array, WriteContext write = {}) {
  STOKER_TRY(Json json, array_to_json(array, write));
  STOKER_TRY(Json parsed, parse_json(json.text()));
  ReadContext read;
  read.folder = write.folder;
  return array_from_json(parsed, read);
}

TEST(ArrayJson, KeepsEveryTypeBitByBit) {
  for (const Array& array : one_of_each_type()) {
    EXPECT_EQ(*through_text(array), array) << array.words();
    EXPECT_EQ(*through_text(array.row(0)), array.row(0)) << array.words();
    EXPECT_EQ(*through_text(array.reshaped(std::vector<int64_t>{1, 3, 1})),
              array.reshaped(std::vector<int64_t>{1, 3, 1}));
  }
}

TEST(ArrayJson, KeepsShapesWithoutValues) {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0}, {0, 3}, {2, 0}, {2, 0, 4}})
    for (DType type : {DType::kInt16, DType::kBytes}) {
      const Array array = Array::make(dims, type).value();
      EXPECT_EQ(*through_text(array), array) << words_of(dims);
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

TEST(ArrayJson, PutsLargeArraysBesideTheFile) {
  const TempDir folder;
  for (const Array& small : one_of_each_type()) {
    const std::vector<Array> rows(2000, small);
    const Array large = stacked(rows).value();
    WriteContext write{.folder = folder.path().string(), .stem = "graph"};
    const Json json = array_to_json(large, write).value();
    ASSERT_TRUE(json.find("array")) << json.text();
    EXPECT_EQ(json.find("array")->text(), "\"graph-1.npy\"");
    EXPECT_EQ(*through_text(large, write), large) << large.words();
  }
}

TEST(ArrayJson, RefusesLargeArraysWhereThereIsNoFile) {
  WriteContext write;
  EXPECT_EQ(array_to_json(Array::from(std::vector<double>(1000)), write).error().message(),
            "an array of 8000 bytes is too large to stand in the text (4096 bytes); save the graph to a file");
}

TEST(ArrayJson, FindsAnotherArrayInTheFile) {
  const TempDir folder;
  WriteContext write{.folder = folder.path().string(), .stem = "g"};
  const Json json = array_to_json(Array::from(std::vector<double>(1000, 1)), write).value();
  write.arrays = 0;
  ASSERT_TRUE(array_to_json(Array::from(std::vector<double>(1000, 2)), write).ok());
  ReadContext read;
  read.folder = folder.path().string();
  EXPECT_EQ(array_from_json(json, read).error().message(), "g-1.npy is not the array that the graph was saved with");
}

TEST(ArrayJson, ReadsNothingOutsideItsFolder) {
  EXPECT_EQ(array_in(R"({"array": "../secret.npy"})").error().message(),
            "wants a file beside the graph, found '../secret.npy'");
  EXPECT_EQ(array_in(R"({"array": "none.npy"})").error().code(), Code::kNotFound);
}

// ---- elements

Result<Element> element_through_text(const Element& element) {
  WriteContext write;
  STOKER_TRY(Json json, codec_of<Element>().write(&element, write));
  STOKER_TRY(Json parsed, parse_json(json.text()));
  ReadContext context;
  Element again;
  STOKER_TRY(codec_of<Element>().read(parsed, context, &again));
  return again;
}

TEST(ElementJson, KeepsEveryTypeAndStructureBitByBit) {
  for (const Array& array : one_of_each_type()) {
    EXPECT_EQ(*element_through_text(Element(array)), Element(array)) << array.words();
    EXPECT_EQ(*element_through_text(Element(array.row(1))), Element(array.row(1))) << array.words();
    const Array empty = Array::make({0, 4}, array.type()).value();
    EXPECT_EQ(*element_through_text(Element(empty)), Element(empty));
  }
  EXPECT_EQ(*element_through_text(outer()), outer());
  const uint32_t payload = 0x7fc12345;  // a NaN's own bits stay
  EXPECT_EQ(*element_through_text(Element(Array::of(std::bit_cast<float>(payload)))),
            Element(Array::of(std::bit_cast<float>(payload))));
}

TEST(ElementJson, RefusesWhatDoesNotAddUp) {
  const auto read_element = [](std::string_view text) {
    ReadContext context;
    Element element;
    const Result<void> read = codec_of<Element>().read(parse_json(text).value(), context, &element);
    return read ? "" : read.error().message();
  };
  EXPECT_EQ(read_element(R"({"nest": "x", "leaves": [{"dtype": "int32", "shape": [2], "base64": "AAAA"}]})"),
            "wants the bytes of int32[2], found 3");
  EXPECT_EQ(read_element(R"({"nest": ["x", "x"], "leaves": []})"), "wants 2 components for (x, x), found 0");
  EXPECT_EQ(read_element(R"({"nest": "x", "leaves": [{"dtype": "bool", "shape": [-1], "base64": ""}]})"),
            "wants a shape of counts, found -1");
  EXPECT_EQ(
      read_element(R"({"nest": "x", "leaves": [{"dtype": "float64", "shape": [4611686018427387904], "base64": ""}]})"),
      "wants the bytes of float64[4611686018427387904], found 0");
  EXPECT_EQ(read_element("null"), "wants a number, a bool or a string, found null");
}

TEST(Fields, ReadTwoMembersFromOneParameter) {
  int64_t height = 0, width = 0;
  Fields fields;
  fields.required("size", height, width, "height and width");
  const auto read = [&](const char* text) {
    ReadContext context;
    const Result<void> done = read_fields(fields, parse_json(text).value(), context, "resize");
    return done ? "" : done.error().message();
  };
  EXPECT_EQ(read(R"({"size": [3, 4]})"), "");
  EXPECT_EQ(height, 3);
  EXPECT_EQ(width, 4);
  WriteContext context;
  Json json = Json::dict();
  ASSERT_TRUE(write_fields(fields, json, context).ok());
  EXPECT_EQ(json.text(), parse_json(R"({"size": [3, 4]})").value().text());
  EXPECT_NE(read(R"({"size": [3]})").find("wants two integers, found 1"), std::string::npos);
}

TEST(Documented, TellsTypeDocAndDefault) {
  Batch batch;
  Fields fields;
  batch.describe(fields);
  const std::vector<ParamDoc> params = documented(fields);
  ASSERT_EQ(params.size(), 8u);
  EXPECT_EQ(params[0].name, "batch_size");
  EXPECT_EQ(params[0].type, "int64");
  EXPECT_EQ(params[0].doc, "elements in a batch");
  EXPECT_TRUE(params[0].required && params[0].standard.is_null());
  EXPECT_EQ(params[3].standard, Json(0.5));
  EXPECT_EQ(params[6].type, "int64 or null");
  EXPECT_EQ(params[7].type, "list of string");
}

struct Holds {
  Array array;
  std::vector<Array> several;
  int64_t count = 0;
  void describe(Fields& f) {
    f("array", array);
    f("several", several);
    f("count", count);
  }
};

Result<Holds> read_given(std::string_view text) {
  Holds holds;
  Fields fields;
  holds.describe(fields);
  ReadContext context;
  context.given = {Array::of<int64_t>(7), std::string("no array")};
  STOKER_TRY(read_fields(fields, parse_json(text).value(), context, "holds"));
  return holds;
}

TEST(Fields, TakeGivenObjectsWhereTheyFit) {
  const Holds holds = *read_given(R"({"array": {"given": 0}, "several": [{"given": 0}, {"given": 0}]})");
  EXPECT_EQ(holds.array, Array::of<int64_t>(7));
  EXPECT_EQ(holds.several.size(), 2u);
  EXPECT_FALSE(read_given(R"({"array": {"given": 1}})").ok());
  EXPECT_FALSE(read_given(R"({"array": {"given": 2}})").ok());
  EXPECT_FALSE(read_given(R"({"array": {"given": -1}})").ok());
  EXPECT_FALSE(read_given(R"({"count": {"given": 0}})").ok());
}

struct OneElement {
  Element element;
  void describe(Fields& f) { f("element", element); }
};

Result<Element> written(std::string_view text) {
  OneElement one;
  Fields fields;
  one.describe(fields);
  ReadContext context;
  STOKER_TRY(read_fields(fields, parse_json(text).value(), context, "one"));
  return one.element;
}

TEST(Fields, TakeElementsWrittenByHand) {
  EXPECT_EQ(written(R"({"element": [1, 2]})")->leaves[0], Array::from<int32_t>({1, 2}));
  EXPECT_EQ(written(R"({"element": {"const": [1, 2], "dtype": "uint8"}})")->leaves[0].type(), DType::kUint8);
  const Element nested = *written(R"({"element": {"tuple": [1.5, {"dict": {"b": "x", "a": [true]}}]}})");
  EXPECT_EQ(nested.words(),
            tuple_of({Element(Array::of<float>(1.5f)),
                      dict_of({{"b", Element(Array::of_bytes("x"))}, {"a", Element(Array::from<bool>({true}))}})})
                .words());
  EXPECT_FALSE(written(R"({"element": {"dict": {"a": 1, "a": 2}}})").ok());
  EXPECT_FALSE(written(R"({"element": {"tupel": [1]}})").ok());
}

}  // namespace
}  // namespace stoker
