#include "stoker/graph/component.h"

#include <gtest/gtest.h>

#include "stoker/core/element.h"
#include "stoker/graph/fields.h"

namespace stoker {
namespace {

struct Params {
  int64_t count = 0;
  double share = 0;
  std::string name;
  std::vector<std::string> files;

  void describe(Fields& f) {
    f("count", count);
    f("share", share);
    f("name", name);
    f("files", files);
  }
};

Result<Params> read(std::string_view text, const Element* element = nullptr) {
  Params params;
  Fields fields;
  params.describe(fields);
  ReadContext context;
  context.element = element;
  STOKER_TRY(read_fields(fields, parse_json(text).value(), context, "stage"));
  return params;
}

const Element& outer() {
  static const Element element(
      Nest::dict({{"count", Nest::leaf()}, {"names", Nest::leaf()}, {"pair", Nest::tuple_of_leaves(2)}}),
      {Array::of<int64_t>(7), Array::from(std::vector<std::string>{"x", "y"}), Array::of(0.25f),
       Array::of_bytes("\xfe")});
  return element;
}

TEST(Component, CanBeTheValueOfAParameter) {
  const Result<Params> params = read(R"({"count": {"element": "count"}, "share": {"element": "pair/0"},
                                       "name": {"element": "pair/1"}, "files": {"element": "names"}})",
                                     &outer());
  ASSERT_TRUE(params.ok()) << params.error().describe();
  EXPECT_EQ(params->count, 7);
  EXPECT_EQ(params->share, 0.25);
  EXPECT_EQ(params->name, "\xfe");
  EXPECT_EQ(params->files, (std::vector<std::string>{"x", "y"}));
}

TEST(Component, CanBeAnItemOfAList) {
  EXPECT_EQ(read(R"({"files": ["a", {"element": "pair/1"}]})", &outer())->files,
            (std::vector<std::string>{"a", "\xfe"}));
}

TEST(Component, IsTheWholeElementWithoutAPath) {
  const Element only(Array::of<int64_t>(5));
  EXPECT_EQ(read(R"({"count": {"element": ""}})", &only)->count, 5);
  const Element pair = tuple_of({Element(Array::of(1)), Element(Array::of(2))});
  EXPECT_EQ(read(R"({"count": {"element": 1}})", &pair)->count, 2);
}

TEST(Component, ReportsAMissingComponentAndTheElement) {
  EXPECT_EQ(read(R"({"count": {"element": "count"}})").error().message(),
            "stage: 'count': the component 'count' of an outer element is used, but the graph is not nested");
  EXPECT_EQ(read(R"({"count": {"element": "cuont"}})", &outer()).error().message(),
            "stage: 'count': the outer element {'count': x, 'names': x, 'pair': (x, x)} has no component 'cuont'");
  EXPECT_EQ(read(R"({"count": {"element": "pair"}})", &outer()).error().message(),
            "stage: 'count': expected one component of the outer element, got (x, x)");
  EXPECT_EQ(read(R"({"count": {"element": "names"}})", &outer()).error().message(),
            "stage: 'count': expected an integer, got a list");
}

}  // namespace
}  // namespace stoker
