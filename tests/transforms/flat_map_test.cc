#include "stoker/transforms/flat_map.h"

#include <gtest/gtest.h>

#include <future>

#include "support/support.h"

namespace stoker {
namespace {

Dataset triangle(int64_t n) {
  return numbers(n).flat_map({.map_func = [](const Element& e) { return numbers(e.leaves[0].scalar<int64_t>()); }});
}

DATASET_EXAMPLE(triangle(8));
DATASET_EXAMPLE(triangle(6).flat_map({.map_func = [](const Element& e) {
  return numbers(e.leaves[0].scalar<int64_t>() + 1);
}}));

TEST(FlatMap, GivesOneDataSetAfterTheOther) { EXPECT_EQ(values(triangle(4)), (Values{0, 0, 1, 0, 1, 2})); }

TEST(FlatMap, OpensAGraphThatIsWrittenOut) {
  const auto ds = Dataset::from_json(R"({"stoker": 1, "stages": [
    {"stage": "range", "stop": 4},
    {"stage": "flat_map", "map_func": [{"stage": "range", "stop": {"element": ""}}]}]})");
  ASSERT_TRUE(ds.ok()) << ds.error().message();
  EXPECT_EQ(values(*ds), (Values{0, 0, 1, 0, 1, 2}));
}

// Tells when it first saw a number.
struct Announce {
  static constexpr std::string_view kName = "announce";
  static constexpr std::string_view kDoc = "Tells when it sees a number.";
  int64_t number = 0;
  std::shared_ptr<std::promise<void>> seen;
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const {
    if (element.leaves[0].scalar<int64_t>() == number) seen->set_value();
    return element;
  }
};

// The first data set never ends, so the second one's turn never comes.
TEST(FlatMap, HasTheNextDataSetBegunBeforeItsTurn) {
  const WithResources two({.workers = 2});
  const auto seen = std::make_shared<std::promise<void>>();
  Loader loader(numbers(2).flat_map({.map_func = [seen](const Element& e) {
    const int64_t start = e.leaves[0].scalar<int64_t>() * 1'000'000'000;
    return Dataset::range({.start = start, .stop = start + 1'000'000'000}).then(Announce{1'000'000'000, seen});
  }}));
  const std::future<void> future = seen->get_future();
  const auto begun = [&] { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  for (int64_t i = 0; i < 20'000'000 && !begun(); ++i) ASSERT_TRUE(loader.next().ok());
  EXPECT_TRUE(begun());
}

}  // namespace
}  // namespace stoker
