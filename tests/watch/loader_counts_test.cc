#include "stoker/watch/loader_counts.h"

#include <gtest/gtest.h>

#include "stoker/stoker.h"

namespace stoker {
namespace {

LoaderCounts counts(std::string_view stats) { return LoaderCounts::of(parse_json(stats).value()); }

TEST(LoaderCounts, GiveWhatAStageDidBetweenTwoMoments) {
  const LoaderCounts begun = counts(R"({"workers": 4, "stages": [{"stage": "decode", "busy_seconds": 10}]})");
  const LoaderCounts now = counts(R"({"workers": 4, "stages": [{"stage": "decode", "busy_seconds": 49.2}]})");
  const std::vector<StageFacts> stages = stages_between(begun, now, 10, 200, false);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].threads, 4);
  EXPECT_NEAR(stages[0].working, 0.98, 1e-9);
  EXPECT_NEAR(stages[0].batch_seconds, 0.196, 1e-9);
  EXPECT_FALSE(stages[0].on_cpu);
}

TEST(LoaderCounts, KnowHowManyThreadsAStageMayUse) {
  const LoaderCounts now = counts(R"({"workers": 4, "stages": [
      {"stage": "bounded", "busy_seconds": 1, "at_once": 2},
      {"stage": "line", "busy_seconds": 1, "at_once": 1},
      {"stage": "waits", "busy_seconds": 65, "waits": true},
      {"stage": "waits_bounded", "busy_seconds": 65, "waits": true, "at_once": 5}]})");
  std::vector<int> threads;
  for (const StageFacts& stage : stages_between({}, now, 10, 1, false)) threads.push_back(stage.threads);
  EXPECT_EQ(threads, (std::vector<int>{2, 1, 7, 5}));
}

TEST(LoaderCounts, HaveOneThreadWhereTheLoopDoesTheWork) {
  const LoaderCounts now = counts(R"({"workers": 0, "stages": [{"stage": "map", "busy_seconds": 5, "at_once": 8}]})");
  EXPECT_EQ(stages_between({}, now, 10, 1, false)[0].threads, 1);
}

TEST(LoaderCounts, CallTheUsersFunctionsPythonOnlyWhereTheyAre) {
  const LoaderCounts now = counts(
      R"({"workers": 2, "stages": [{"stage": "f", "busy_seconds": 5, "user": true,
          "measured_seconds": 2, "on_cpu_seconds": 1.9}]})");
  EXPECT_TRUE(stages_between({}, now, 10, 1, true)[0].python);
  EXPECT_FALSE(stages_between({}, now, 10, 1, false)[0].python);
  EXPECT_NEAR(*stages_between({}, now, 10, 1, true)[0].on_cpu, 0.95, 1e-9);
}

TEST(LoaderCounts, TakeAnythingForStats) {
  for (const char* odd : {"{}", "null", "[1]", R"({"stages": 3, "workers": "x", "held": {"a": 1}})",
                          R"({"stages": [1, null, {"stage": 5, "busy_seconds": "y"}]})"}) {
    const LoaderCounts now = counts(odd);
    EXPECT_EQ(now.workers, 0) << odd;
    EXPECT_TRUE(stages_between({}, now, 10, 1, false).empty()) << odd;
  }
  EXPECT_TRUE(stages_between({}, counts(R"({"stages": [{"stage": "a", "busy_seconds": 1}]})"), 0, 0, false).empty());
}

// The two ends of it: what a loader writes is what is read here.
// Without an end: one that is made to its end ahead of the loop holds nothing any more.
TEST(LoaderCounts, AreThoseOfALoader) {
  Loader loader(Dataset::range({.stop = 100})
                    .repeat({})
                    .map({.map_func = [](int64_t x) { return x; }, .num_parallel_calls = 3})
                    .filter({.predicate = [](int64_t) { return true; }})
                    .shuffle({.buffer_size = 20}));
  ASSERT_TRUE(loader.next());
  const LoaderCounts now = LoaderCounts::of(parse_json(loader.stats()).value());
  const auto map = std::ranges::find(now.stages, "map", &LoaderCounts::Stage::name);
  ASSERT_NE(map, now.stages.end());
  EXPECT_EQ(map->at_once, 3);
  EXPECT_TRUE(map->user);
  EXPECT_GT(map->busy_seconds, 0);
  EXPECT_GT(map->measured_seconds, 0);
  ASSERT_EQ(now.held.size(), 1u);
  EXPECT_EQ(now.held[0].stage, "shuffle");
  EXPECT_GT(now.held[0].elements, 0);
  EXPECT_LE(now.held[0].elements, 20);
  EXPECT_EQ(now.held[0].elements_in_all, 20);
}

}  // namespace
}  // namespace stoker
