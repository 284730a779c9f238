// Elements as parameters: stoker/graph/element_json.cc.
#include <gtest/gtest.h>

#include <bit>

#include "stoker/core/element.h"
#include "stoker/graph/fields.h"
#include "support/typed_arrays.h"

namespace stoker {
namespace {

Result<Element> element_through_text(const Element& element) {
  WriteContext write;
  STOKER_TRY(Json json, codec_of<Element>().write(&element, write));
  STOKER_TRY(Json parsed, parse_json(json.text()));
  ReadContext context;
  Element again;
  STOKER_TRY(codec_of<Element>().read(parsed, context, &again));
  return again;
}

TEST(ElementJson, PreservesTheBitsOfEveryTypeAndTheStructure) {
  for (const Array& array : one_of_each_type()) {
    EXPECT_EQ(*element_through_text(Element(array)), Element(array)) << array.describe();
    EXPECT_EQ(*element_through_text(Element(array.row(1))), Element(array.row(1))) << array.describe();
    const Array empty = Array::make({0, 4}, array.type()).value();
    EXPECT_EQ(*element_through_text(Element(empty)), Element(empty));
  }
  const Element nested = dict_of({{"count", Element(Array::of<int64_t>(7))},
                                  {"pair", tuple_of({Element(Array::of(0.25f)), Element(Array::of_bytes("\xfe"))})}});
  EXPECT_EQ(*element_through_text(nested), nested);
  const uint32_t payload = 0x7fc12345;  // a NaN with a payload
  EXPECT_EQ(*element_through_text(Element(Array::of(std::bit_cast<float>(payload)))),
            Element(Array::of(std::bit_cast<float>(payload))));
}

TEST(ElementJson, ReportsWhatWasExpected) {
  const auto read_element = [](std::string_view text) {
    ReadContext context;
    Element element;
    const Result<void> read = codec_of<Element>().read(parse_json(text).value(), context, &element);
    return read ? "" : read.error().message();
  };
  EXPECT_EQ(read_element(R"({"nest": "x", "leaves": [{"dtype": "int32", "shape": [2], "base64": "AAAA"}]})"),
            "expected the bytes of int32[2], got 3 bytes");
  EXPECT_EQ(read_element(R"({"nest": ["x", "x"], "leaves": []})"), "expected 2 components for (x, x), got 0");
  EXPECT_EQ(read_element(R"({"nest": "x", "leaves": [{"dtype": "bool", "shape": [-1], "base64": ""}]})"),
            "expected a shape of integers of at least 0, got -1");
  EXPECT_EQ(
      read_element(R"({"nest": "x", "leaves": [{"dtype": "float64", "shape": [4611686018427387904], "base64": ""}]})"),
      "expected the bytes of float64[4611686018427387904], got 0 bytes");
  EXPECT_EQ(read_element("null"), "expected a number, a bool or a string, got null");
}

struct OneElement {
  Element element;
  void describe(Fields& f) { f("element", element); }
};

Result<Element> handwritten(std::string_view text) {
  OneElement one;
  Fields fields;
  one.describe(fields);
  ReadContext context;
  STOKER_TRY(read_fields(fields, parse_json(text).value(), context, "one"));
  return one.element;
}

TEST(ElementJson, CanBeWrittenByHand) {
  EXPECT_EQ(handwritten(R"({"element": [1, 2]})")->leaves[0], Array::from<int32_t>({1, 2}));
  EXPECT_EQ(handwritten(R"({"element": {"const": [1, 2], "dtype": "uint8"}})")->leaves[0].type(), DType::kUint8);
  const Element nested = *handwritten(R"({"element": {"tuple": [1.5, {"dict": {"b": "x", "a": [true]}}]}})");
  EXPECT_EQ(nested.describe(),
            tuple_of({Element(Array::of<float>(1.5f)),
                      dict_of({{"b", Element(Array::of_bytes("x"))}, {"a", Element(Array::from<bool>({true}))}})})
                .describe());
  EXPECT_FALSE(handwritten(R"({"element": {"dict": {"a": 1, "a": 2}}})").ok());
  EXPECT_FALSE(handwritten(R"({"element": {"tupel": [1]}})").ok());
}

}  // namespace
}  // namespace stoker
