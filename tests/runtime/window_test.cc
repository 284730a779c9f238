#include "stoker/runtime/window.h"

#include <gtest/gtest.h>

#include "stoker/core/element.h"

namespace stoker {
namespace {

// The rows first, first + 1, …
Run rows_from(int64_t first, int32_t n) {
  RunBuilder rows;
  for (int64_t i = first; i < first + n; ++i) rows.add(Run::of(Element(Array::of<int64_t>(i)), Origin{.position = i}));
  return rows.take();
}

std::vector<int64_t> values_of(const Run& run) {
  std::vector<int64_t> values;
  for (int32_t row = 0; row < run.size; ++row) values.push_back(run.element(row)[0].scalar<int64_t>());
  return values;
}

using Values = std::vector<int64_t>;

// A window of one step. The test calls the functions as the engine does, under its lock.
class WindowTest : public testing::Test {
 protected:
  WindowTest() { plan_.steps.push_back({.kind = StepPlan::Kind::kMap}); }

  // Issues tickets of two rows each and starts them.
  std::vector<Ticket*> started(Window& window, int64_t tickets) STOKER_REQUIRES(engine_lock) {
    std::vector<Ticket*> all;
    for (int64_t i = 0; i < tickets; ++i) {
      all.push_back(window.issue(rows_from(2 * i, 2)));
      window.start(*all.back());
    }
    return all;
  }
  // Finishes a ticket with its input, or what a filter keeps of it, as the result.
  void finish(Window& window, Ticket& ticket, int32_t rows = 2) STOKER_REQUIRES(engine_lock) {
    ticket.run = ticket.input.slice(0, rows);
    window.finish(ticket, dropped_);
  }
  Values take(Window& window, int64_t most) STOKER_REQUIRES(engine_lock) {
    Window::Leftovers left;
    return values_of(window.take(most, left));
  }

  SegmentPlan plan_;
  EngineMutex mutex_;
  Runs dropped_;
};

TEST_F(WindowTest, DeliversInTheOrderOfTheLine) {
  Window window(plan_);
  const EngineLock lock(mutex_);
  const std::vector<Ticket*> tickets = started(window, 2);
  finish(window, *tickets[1]);
  EXPECT_EQ(take(window, 9), Values{});
  finish(window, *tickets[0]);
  EXPECT_EQ(take(window, 9), (Values{0, 1}));
  EXPECT_EQ(take(window, 9), (Values{2, 3}));
  EXPECT_TRUE(window.empty());
}

TEST_F(WindowTest, DividesTheHead) {
  Window window(plan_);
  const EngineLock lock(mutex_);
  finish(window, *started(window, 1)[0]);
  EXPECT_EQ(take(window, 1), Values{0});
  EXPECT_EQ(window.size(), 1u);
  EXPECT_EQ(take(window, 1), Values{1});
  EXPECT_TRUE(window.empty());
}

TEST_F(WindowTest, WithoutStepsIsReadyAtOnce) {
  plan_.steps.clear();
  Window window(plan_);
  const EngineLock lock(mutex_);
  EXPECT_EQ(window.issue(rows_from(5, 2)), nullptr);
  EXPECT_TRUE(window.queued().empty());
  EXPECT_EQ(take(window, 9), (Values{5, 6}));
}

TEST_F(WindowTest, QueuesATicketThatNeedsAnotherThread) {
  Window window(plan_);
  const EngineLock lock(mutex_);
  Ticket& ticket = *started(window, 1)[0];
  EXPECT_TRUE(window.queued().empty());
  window.requeue(ticket);
  EXPECT_EQ(window.queued().size(), 1u);
  EXPECT_EQ(ticket.state, Ticket::State::kQueued);
}

TEST_F(WindowTest, ReclaimsTheLastResultsAndKeepsTheHead) {
  plan_.yields_positions = true;
  Window window(plan_);
  const EngineLock lock(mutex_);
  for (Ticket* ticket : started(window, 3)) finish(window, *ticket);
  EXPECT_EQ(window.reclaim(1, dropped_), 2 * 8);
  ASSERT_EQ(window.queued().size(), 1u);
  EXPECT_EQ(window.queued().begin()->first, 4);
  EXPECT_EQ(window.reclaim(1000, dropped_), 2 * 8);
  EXPECT_TRUE(window.head_ready());
}

TEST_F(WindowTest, ReclaimsNothingThatCannotBeComputedAgain) {
  plan_.yields_positions = false;
  Window window(plan_);
  const EngineLock lock(mutex_);
  for (Ticket* ticket : started(window, 3)) finish(window, *ticket);
  EXPECT_EQ(window.reclaim(1000, dropped_), 0);
}

// The first delivered result is an integer. A float that was computed before it is computed again.
TEST_F(WindowTest, ComputesResultsOfAnotherTypeAgain) {
  Window window(plan_);
  const EngineLock lock(mutex_);
  const std::vector<Ticket*> tickets = started(window, 2);
  tickets[1]->result_types[0] = {Nest::leaf(), {DType::kFloat32}};
  finish(window, *tickets[1]);
  tickets[0]->result_types[0] = {Nest::leaf(), {DType::kInt64}};
  finish(window, *tickets[0]);
  EXPECT_EQ(take(window, 9), (Values{0, 1}));
  EXPECT_EQ(tickets[1]->state, Ticket::State::kQueued);
  EXPECT_EQ(window.queued().size(), 1u);
}

TEST_F(WindowTest, MarksTheRowsOfTheLineThatAFilterLeft) {
  plan_.filters = true;
  Window window(plan_);
  const EngineLock lock(mutex_);
  for (Ticket* ticket : started(window, 3)) finish(window, *ticket, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(window, 9), Values{2 * i});
  EXPECT_EQ(window.mark_at(1).line, 2);
  EXPECT_EQ(window.mark_at(2).line, 4);
  EXPECT_EQ(window.prune(2).line, 4);
}

TEST_F(WindowTest, SkipsTheFirstRowsAfterARestore) {
  plan_.filters = true;
  Window window(plan_);
  const EngineLock lock(mutex_);
  window.skip_first(3, false);
  for (Ticket* ticket : started(window, 2)) finish(window, *ticket);
  EXPECT_EQ(take(window, 9), Values{3});
  const Window::Mark mark = window.mark_at(0);
  EXPECT_EQ(mark.line, 2);
  EXPECT_EQ(window.elements_to_skip(mark, 0), 1);
  EXPECT_EQ(window.elements_to_skip(mark, 1), 2);
}

TEST_F(WindowTest, ContinuesBatchesAfterLostRows) {
  plan_.rows = 4;
  Window window(plan_);
  const EngineLock lock(mutex_);
  (void)started(window, 3);
  EXPECT_EQ(window.rows_in_batch(), 2);
  window.note_lost(1);
  EXPECT_EQ(window.rows_in_batch(), 1);
}

}  // namespace
}  // namespace stoker
