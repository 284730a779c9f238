#include "stoker/transforms/map.h"

#include <gtest/gtest.h>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

STAGE_EXAMPLE(Map{.map_func = [](int64_t x) { return x * 2 + 1; }}, numbers(40));

TEST(Map, RunsATypedFunction) {
  EXPECT_EQ(values(numbers(4).map({.map_func = [](int64_t x) { return x * 2 + 1; }})), (Values{1, 3, 5, 7}));
}

TEST(Map, RunsAFunctionOnElements) {
  EXPECT_EQ(values(numbers(3).map({.map_func = [](Element e) { return e; }})), (Values{0, 1, 2}));
}

TEST(Map, RunsATracedFunction) {
  EXPECT_EQ(values(numbers(4).map({.map_func = [](Value x) { return x * 2 + 1; }})), (Values{1, 3, 5, 7}));
}

TEST(Map, KeepsOrderWhenResultsArriveOutOfOrder) {
  Values wanted(500);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<int64_t>(i);
  EXPECT_EQ(values(numbers(500).then(Jitter{.seed = 42})), wanted);
}

TEST(Map, ReturnsAnExceptionAsTheErrorOfItsElement) {
  const Dataset ds = numbers(4).map({.map_func = [](int64_t x) {
    if (x == 2) throw std::runtime_error("no two");
    return x;
  }});
  EXPECT_EQ(values_and_errors(ds), (Values{0, 1, -1'000'000, 3}));
}

TEST(Map, NamesTheFileWhosePathTheFunctionReceived) {
  const TempDir folder;
  const std::string bad = folder.write("bad", "");
  const Dataset ds = Dataset::from_tensor_slices({.tensors = Element(Array::from(std::vector{bad}))})
                         .map({.map_func = [](Array) -> int64_t { throw std::runtime_error("no"); }});
  EXPECT_EQ(Loader(ds).next().error().place().path, bad);
}

TEST(Map, NamesNoFileIfTheTextIsNotAPath) {
  const Dataset ds =
      Dataset::from_tensor_slices({.tensors = Element(Array::from(std::vector<std::string>{"a secret"}))})
          .map({.map_func = [](Array) -> int64_t { throw std::runtime_error("no"); }});
  EXPECT_EQ(Loader(ds).next().error().describe().find("secret"), std::string::npos);
}

TEST(Map, RejectsAFunctionOfAnotherType) {
  EXPECT_NE(first_error(numbers(4).map({.map_func = [](float x) { return x; }})).find("takes float32"),
            std::string::npos);
}

TEST(Map, RejectsAParallelismBelowOne) {
  EXPECT_EQ(error_of(numbers(4).map({.map_func = [](int64_t x) { return x; }, .num_parallel_calls = 0})),
            "map: num_parallel_calls must be at least 1, or -1 for automatic, got 0");
}

}  // namespace
}  // namespace stoker
