#include "stoker/runtime/engine.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

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
  ASSERT_TRUE(next.ok()) << next.error().words();
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

}  // namespace
}  // namespace stoker
