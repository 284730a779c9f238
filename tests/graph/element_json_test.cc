#include "stoker/graph/element_json.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

Result<ElementType> type_in(std::string_view text) { return type_from_json(parse_json(text).value()); }

TEST(ElementJson, ReturnsTheTypeThatWasWritten) {
  const Element box = tuple_of({Element(Array::of(1.5f)), Element(Array::of(2.5))});
  const Element image = dict_of({{"image", Element(Array::of<uint8_t>(1))}, {"box", box}});
  for (const Element& element : {image, Element(Array::of_bytes("text"))}) {
    const ElementType type = ElementType::of(element);
    EXPECT_EQ(type_from_json(type_to_json(type)).value(), type);
  }
}

TEST(ElementJson, ReportsWhatWasExpected) {
  EXPECT_EQ(type_in("3").error().message(), "expected an object with nest and dtypes, got an integer");
  EXPECT_EQ(type_in(R"({"nest": "x", "dtypes": []})").error().message(), "expected 1 dtypes for x, got 0");
  EXPECT_EQ(type_in(R"({"nest": 3, "dtypes": []})").error().message(), "expected a structure, got an integer");
  EXPECT_FALSE(type_in(R"({"nest": "x", "dtypes": ["float17"]})").ok());
}

}  // namespace
}  // namespace stoker
