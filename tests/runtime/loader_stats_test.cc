#include "stoker/runtime/loader_stats.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(LoaderStats, WithoutStagesAreEmptyAndAnEmptyDict) {
  EXPECT_TRUE(LoaderStats{.elements = 3}.empty());
  EXPECT_EQ(to_json(LoaderStats{.elements = 3}), Json::dict());
}

TEST(LoaderStats, AreWrittenWithAllParts) {
  const LoaderStats stats{.elements = 7,
                          .workers = 2,
                          .stages = {{.stage = "map", .runs = 3, .busy_seconds = 0.5, .user = true}},
                          .windows = {{.stages = "range → map", .capacity = 4}},
                          .held = {{.stage = "cache", .elements = 5, .drops = true}}};
  EXPECT_FALSE(stats.empty());
  const Json json = to_json(stats);
  EXPECT_EQ(*json.find("elements"), Json(int64_t{7}));
  EXPECT_EQ(*json.find("workers"), Json(int64_t{2}));
  EXPECT_EQ(json.find("stages")->as<Json::List>()->at(0), to_json(stats.stages[0]));
  EXPECT_EQ(*to_json(stats.stages[0]).find("busy_seconds"), Json(0.5));
  EXPECT_EQ(*to_json(stats.stages[0]).find("user"), Json(true));
  EXPECT_EQ(*to_json(stats.windows[0]).find("stages"), Json("range → map"));
  EXPECT_EQ(*json.find("held")->as<Json::List>()->at(0).find("drops_what_does_not_fit"), Json(true));
}

}  // namespace
}  // namespace stoker
