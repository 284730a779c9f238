#include "stoker/runtime/background.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace stoker {
namespace {

TEST(Background, RunsTheFunctionOnAnotherThreadAndReturnsItsResult) {
  std::thread::id there;
  Background background([&]() -> Result<void> {
    there = std::this_thread::get_id();
    return Error::corrupt("bad");
  });
  EXPECT_EQ(background.wait().error().message(), "bad");
  EXPECT_NE(there, std::this_thread::get_id());
  EXPECT_TRUE(background.wait().ok());  // the result was returned before
}

TEST(Background, IsRunningUntilTheFunctionReturns) {
  std::promise<void> may_return;
  Background background([&]() -> Result<void> {
    may_return.get_future().wait();
    return {};
  });
  EXPECT_TRUE(background.is_running());
  may_return.set_value();
  EXPECT_TRUE(background.wait().ok());
  EXPECT_FALSE(background.is_running());
}

TEST(Background, WithoutAFunctionThereIsNothingToWaitFor) {
  Background background;
  EXPECT_FALSE(background.is_running());
  EXPECT_TRUE(background.wait().ok());
}

TEST(Background, TheDestructorWaits) {
  bool done = false;
  {
    const Background background([&]() -> Result<void> { return done = true, Result<void>(); });
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace stoker
