#include "stoker/watch/stage_facts.h"

#include <gtest/gtest.h>

#include "stoker/stoker.h"

namespace stoker {
namespace {

LoaderStats stats(int64_t workers, std::vector<StageStats> stages) {
  return {.workers = workers, .stages = std::move(stages)};
}

TEST(StageFacts, TheDifferenceIsWhatAStageDidBetweenTwoTimes) {
  const LoaderStats begun = stats(4, {{.stage = "decode", .busy_seconds = 10}});
  const LoaderStats now = stats(4, {{.stage = "decode", .busy_seconds = 49.2}});
  const std::vector<StageFacts> stages = stages_between(begun, now, 10, 200, false);
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].threads, 4);
  EXPECT_NEAR(stages[0].working, 0.98, 1e-9);
  EXPECT_NEAR(stages[0].batch_seconds, 0.196, 1e-9);
  EXPECT_FALSE(stages[0].on_cpu);
}

TEST(StageFacts, AStageHasAsManyThreadsAsItMayUse) {
  const LoaderStats now = stats(4, {{.stage = "bounded", .busy_seconds = 1, .at_once = 2},
                                    {.stage = "line", .busy_seconds = 1, .at_once = 1},
                                    {.stage = "waits", .busy_seconds = 65, .waits = true},
                                    {.stage = "waits_bounded", .busy_seconds = 65, .waits = true, .at_once = 5}});
  std::vector<int> threads;
  for (const StageFacts& stage : stages_between({}, now, 10, 1, false)) threads.push_back(stage.threads);
  EXPECT_EQ(threads, (std::vector<int>{2, 1, 7, 5}));
}

TEST(StageFacts, AStageHasOneThreadIfTheLoopDoesTheWork) {
  const LoaderStats now = stats(0, {{.stage = "map", .busy_seconds = 5, .at_once = 8}});
  EXPECT_EQ(stages_between({}, now, 10, 1, false)[0].threads, 1);
}

TEST(StageFacts, UserFunctionsArePythonOnlyIfTheOptionIsSet) {
  const LoaderStats now =
      stats(2, {{.stage = "f", .busy_seconds = 5, .user = true, .measured_seconds = 2, .on_cpu_seconds = 1.9}});
  EXPECT_TRUE(stages_between({}, now, 10, 1, true)[0].python);
  EXPECT_FALSE(stages_between({}, now, 10, 1, false)[0].python);
  EXPECT_NEAR(*stages_between({}, now, 10, 1, true)[0].on_cpu, 0.95, 1e-9);
}

TEST(StageFacts, NoTimeOrNoBatchesIsNoFacts) {
  EXPECT_TRUE(stages_between({}, {}, 10, 1, false).empty());
  EXPECT_TRUE(stages_between({}, stats(0, {{.stage = "a", .busy_seconds = 1}}), 0, 0, false).empty());
}

// The dataset is infinite, because a shuffle whose input was prefetched to the end holds no elements.
TEST(StageFacts, ComeFromTheStatsOfALoader) {
  Loader loader(Dataset::range({.stop = 100})
                    .repeat({})
                    .map({.map_func = [](int64_t x) { return x; }, .num_parallel_calls = 3})
                    .filter({.predicate = [](int64_t) { return true; }})
                    .shuffle({.buffer_size = 20}));
  ASSERT_TRUE(loader.next());
  const LoaderStats now = loader.stats();
  const auto map = std::ranges::find(now.stages, "map", &StageStats::stage);
  ASSERT_NE(map, now.stages.end());
  EXPECT_EQ(map->at_once, 3);
  EXPECT_TRUE(map->user);
  EXPECT_GT(map->busy_seconds, 0);
  EXPECT_GT(map->measured_seconds, 0);
  const std::vector<HeldFacts> held = held_facts(now);
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].stage, "shuffle");
  EXPECT_GT(held[0].elements, 0);
  EXPECT_LE(held[0].elements, 20);
  EXPECT_EQ(held[0].elements_in_all, 20);
}

}  // namespace
}  // namespace stoker
