#include "stoker/runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <thread>

#include "stoker/graph/stage_of.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/pool.h"
#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

std::shared_ptr<Engine> engine_of(const Dataset& dataset) {
  auto meters = std::make_shared<Meters>();
  const std::shared_ptr<const Plan> plan = lower(dataset.node(), *meters).value();
  return Engine::make(plan, meters, {}, take_passes(*plan));
}

TEST(Engine, ThatBeginsAfterItWasStoppedIsNotKeptByThePool) {
  WithResources here({.workers = 2});
  std::shared_ptr<Engine> engine = engine_of(numbers(1000));
  const std::weak_ptr<Engine> kept = engine;
  engine->stop();
  engine->begin();
  const Result<std::optional<Element>> next = engine->next();
  ASSERT_TRUE(next.ok()) << next.error().describe();
  EXPECT_FALSE(next->has_value());
  engine.reset();
  EXPECT_TRUE(kept.expired());
}

// A worker may hold it for a moment; the watch ends a wait without end.
TEST(Engine, ThatIsStoppedWhileItBeginsIsNotKeptByThePool) {
  WatchScope watch("an engine that is stopped while it begins");
  WithResources here({.workers = 2});
  for (int round = 0; round < 500; ++round) {
    std::shared_ptr<Engine> engine = engine_of(numbers(1000));
    const std::weak_ptr<Engine> kept = engine;
    std::latch both(2);
    std::thread reader([&both, engine] {
      both.arrive_and_wait();
      EXPECT_TRUE(engine->next().ok());
    });
    both.arrive_and_wait();
    engine->stop();
    reader.join();
    engine.reset();
    while (!kept.expired()) std::this_thread::yield();
  }
}

// Throws after the first rows.
struct ThrowingRows {
  static constexpr std::string_view kName = "throwing_rows";
  static constexpr std::string_view kDoc = "Throws from next_rows.";
  using State = int64_t;
  void describe(Fields&) {}
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kInt64); }
  Result<std::optional<Element>> next(State& state, Context&) const {
    return std::optional(Element(Array::of(state++)));
  }
  Column next_rows(State& state, int64_t, Context&) const {
    if (state >= 2) throw std::runtime_error("the rows are gone");
    return {};
  }
};

// Throws for the third position.
struct ThrowingSelection {
  static constexpr std::string_view kName = "throwing_selection";
  static constexpr std::string_view kDoc = "Throws from at().";
  void describe(Fields&) {}
  int64_t length(int64_t n) const { return n; }
  int64_t at(int64_t i) const {
    if (i == 2) throw std::runtime_error("the position is gone");
    return i;
  }
};

// Returns the numbers and the errors of a dataset, read to the end.
std::vector<std::string> read_to_the_end(const Dataset& dataset) {
  const WatchScope watch("a line that throws");
  Loader loader(dataset);
  std::vector<std::string> all;
  while (true) {
    const Result<std::optional<Element>> next = loader.next();
    if (next && !*next) return all;
    all.push_back(next ? std::to_string((*next)->leaves[0].scalar<int64_t>()) : next.error().message());
  }
}

TEST(Engine, ReturnsTheExceptionOfALineAsAnError) {
  for (const int workers : {0, 2}) {
    const WithResources here({.workers = workers});
    const Dataset kept = numbers(9).filter({.predicate = [](int64_t) { return true; }});
    EXPECT_EQ(read_to_the_end(Dataset::from(ThrowingRows{})).back(), "a function failed: the rows are gone");
    EXPECT_EQ(read_to_the_end(kept.then(ThrowingSelection{})).back(), "a function failed: the position is gone");
    EXPECT_THAT(read_to_the_end(numbers(9).then(ThrowingSelection{})),
                testing::Contains("a function failed: the position is gone"));
  }
}

}  // namespace
}  // namespace stoker
