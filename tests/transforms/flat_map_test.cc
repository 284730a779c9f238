#include "stoker/transforms/flat_map.h"

#include <gtest/gtest.h>

#include <future>

#include "stoker/graph/npy.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

Dataset triangle(int64_t n) {
  return numbers(n).flat_map({.map_func = [](const Element& e) { return numbers(e.leaves[0].scalar<int64_t>()); }});
}

DATASET_EXAMPLE(triangle(8));
DATASET_EXAMPLE(triangle(6).flat_map({.map_func = [](const Element& e) {
  return numbers(e.leaves[0].scalar<int64_t>() + 1);
}}));

TEST(FlatMap, YieldsOneDatasetAfterTheOther) { EXPECT_EQ(values(triangle(4)), (Values{0, 0, 1, 0, 1, 2})); }

TEST(FlatMap, OpensAGraphFromJson) {
  const auto ds = Dataset::from_json(R"({"stoker": 1, "stages": [
    {"stage": "range", "stop": 4},
    {"stage": "flat_map", "map_func": [{"stage": "range", "stop": {"element": ""}}]}]})");
  ASSERT_TRUE(ds.ok()) << ds.error().message();
  EXPECT_EQ(values(*ds), (Values{0, 0, 1, 0, 1, 2}));
}

// A second call could succeed, and the result would depend on timing.
TEST(FlatMap, CallsAFunctionThatFailsOnce) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto fail_odd = [calls](const Element& e) -> Result<Dataset> {
    ++*calls;
    const int64_t number = e.leaves[0].scalar<int64_t>();
    if (number % 2 == 1) return Error::invalid("odd");
    return numbers(number);
  };
  Loader loader(numbers(20).flat_map({.map_func = fail_odd}), {.on_error = OnError::kSkip});
  EXPECT_EQ(text_of_rest(loader).size(), 90u);
  EXPECT_EQ(loader.skipped().size(), 10u);
  EXPECT_EQ(*calls, 20);
}

TEST(FlatMap, RejectsADatasetThatOpensItself) {
  const auto self = std::make_shared<std::optional<Dataset>>();
  const Dataset dataset = numbers(3).flat_map({.map_func = [self](const Element&) { return **self; }});
  *self = dataset;
  EXPECT_NE(first_error(dataset).find("would open itself without end"), std::string::npos) << first_error(dataset);
  self->reset();
}

TEST(FlatMap, RejectsAFunctionThatOpensNewDatasetsWithoutEnd) {
  std::function<Dataset()> endless = [&] {
    return numbers(3).flat_map({.map_func = [&](const Element&) { return endless(); }});
  };
  EXPECT_NE(first_error(endless()).find("inside 100 other datasets"), std::string::npos) << first_error(endless());
}

TEST(FlatMap, ReadsArraysNextToTheGraphFile) {
  const TempDir dir;
  ASSERT_TRUE(write_npy((dir.path() / "x.npy").string(), Array::from(std::vector<int64_t>{7, 8})).ok());
  const std::string graph = dir.write("g.json", R"({"stoker": 1, "stages": [
    {"stage": "range", "stop": 2},
    {"stage": "flat_map", "map_func": [{"stage": "from_tensor_slices", "tensors": {"array": "x.npy"}}]}]})");
  const Result<Dataset> loaded = Dataset::load_graph(graph);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message();
  EXPECT_EQ(values(*loaded), (Values{7, 8, 7, 8}));
}

// Law: the spec is that of the elements. A reader has the same one for every path, so it is known before a file is
// read.
TEST(FlatMap, KnowsTheSpecOfWrittenReaders) {
  const auto spec_of = [](const std::string& stages) {
    const auto ds = Dataset::from_json(R"({"stoker": 1, "stages": [)" + stages + "]}");
    return ds ? ds->element_spec().describe() : ds.error().message();
  };
  const TempDir dir;
  const std::string paths = R"({"stage": "list_files", "file_pattern": [")" + dir.write("a", "1,2\n") + R"("]}, )";
  for (const std::string stage : {"flat_map", "interleave"}) {
    const std::string open = R"({"stage": ")" + stage + R"(", "map_func": [{"stage": )";
    EXPECT_EQ(spec_of(paths + open + R"("text_lines", "filenames": [{"element": ""}]}]})"), "string[]");
    EXPECT_EQ(spec_of(paths + open + R"("csv", "filenames": [{"element": ""}], "record_defaults": [
                      {"const": 1, "dtype": "int32"}, {"const": 2.5, "dtype": "float32"}]},
                      {"stage": "batch", "batch_size": 2}]})"),
              "(0: int32[?], 1: float32[?])");
    EXPECT_EQ(spec_of(paths + open + R"("npy", "filenames": [{"element": ""}]}]})"), Spec::unknown().describe());
    EXPECT_EQ(spec_of(R"({"stage": "range", "stop": 4}, )" + open + R"("range", "stop": {"element": ""}}]})"),
              Spec::unknown().describe());
  }
}

// Signals when it first receives a given number.
struct Announce {
  static constexpr std::string_view kName = "announce";
  static constexpr std::string_view kDoc = "Signal when a number arrives.";
  int64_t number = 0;
  std::shared_ptr<std::promise<void>> seen;
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const {
    if (element.leaves[0].scalar<int64_t>() == number) seen->set_value();
    return element;
  }
};

// The first dataset never ends, so the turn of the second one never comes.
TEST(FlatMap, StartsTheNextDatasetBeforeItsTurn) {
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
