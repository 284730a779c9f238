// The engine names a call that does not return, and releases everything except the
// element of that call.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "support/gate.h"
#include "support/support.h"
#include "support/watch.h"

namespace stoker {
namespace {

// numbers(20), of which one call does not return until the gate opens.
Dataset stuck_at(int64_t number, const std::shared_ptr<Gate>& gate) {
  return numbers(20)
      .map({.map_func =
                [number, gate](int64_t x) {
                  if (x == number) gate->pass();
                  return x;
                }})
      .named("tokenize");
}

// Reads a loader to its end on a thread of its own.
class Reader {
 public:
  explicit Reader(Loader& loader) : thread_([&] { words_ = text_of_rest(loader); }) {}
  size_t finish() {
    thread_.join();
    return words_.size();
  }

 private:
  std::vector<std::string> words_;
  std::thread thread_;
};

class Watchdog : public testing::TestWithParam<int> {
 protected:
  WatchScope watch_{"a call that does not return"};
  WithResources here_{{.workers = GetParam(), .memory_bytes = int64_t{1} << 24}};
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  Messages messages_;
};
INSTANTIATE_TEST_SUITE_P(Workers, Watchdog, testing::Values(0, 1, 2));

TEST_P(Watchdog, NamesTheStageThatTheConsumerWaitsFor) {
  Loader loader(stuck_at(7, gate_), {.stall_warning_seconds = 0.05});
  Reader reader(loader);
  gate_->wait_for(1);
  const std::string text = messages_.with("s for tokenize");
  EXPECT_NE(text.find("the consumer has waited"), std::string::npos) << text;
  gate_->open();
  EXPECT_EQ(reader.finish(), 20u);
}

TEST_P(Watchdog, NamesASourceThatReturnsNothing) {
  const Dataset ds =
      Dataset::from_generator({.generator =
                                   [gate = gate_] {
                                     return [gate, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
                                       if (i == 3) gate->pass();
                                       if (i == 5) return std::optional<Element>();
                                       return std::optional<Element>(Element(Array::of<int64_t>(i++)));
                                     };
                                   }})
          .named("camera")
          .batch({.batch_size = 2});
  Loader loader(ds, {.stall_warning_seconds = 0.05});
  Reader reader(loader);
  gate_->wait_for(1);
  const std::string text = messages_.with("s for camera");
  EXPECT_NE(text.find("the consumer has waited"), std::string::npos) << text;
  gate_->open();
  EXPECT_EQ(reader.finish(), 3u);
}

TEST_P(Watchdog, NamesTheElementAndWhereTheStageWasWritten) {
  Loader loader(stuck_at(7, gate_), {.stall_warning_seconds = 0.05});
  Reader reader(loader);
  gate_->wait_for(1);
  const std::string text = messages_.with("s for tokenize");
  gate_->open();
  EXPECT_EQ(reader.finish(), 20u);
  EXPECT_NE(text.find("range:7"), std::string::npos) << text;
  EXPECT_NE(text.find("watchdog_test.cc:"), std::string::npos) << text;
}

// Also before a consumer waits for it.
TEST_P(Watchdog, NamesACallThatDoesNotReturn) {
  if (GetParam() == 0)
    GTEST_SKIP() << "without workers, no function is called before the consumer requests its element";
  Loader loader(stuck_at(7, gate_).prefetch({.buffer_size = 20}), {.stall_warning_seconds = 0.05});
  ASSERT_TRUE(loader.next().ok());
  const std::string text = messages_.with("in one call");
  gate_->open();
  EXPECT_NE(text.find("tokenize"), std::string::npos) << text;
  EXPECT_NE(text.find("element 7"), std::string::npos) << text;
  EXPECT_NE(text.find("watchdog_test.cc:"), std::string::npos) << text;
}

TEST_P(Watchdog, AMessageHandlerMayCallTheLoader) {
  Loader loader(stuck_at(7, gate_), {.stall_warning_seconds = 0.05});
  auto asked = std::make_shared<Gate>();
  auto answered = std::make_shared<std::promise<void>>();
  set_message_sink([=, answer = answered->get_future().share()](const std::string&) {
    asked->open();
    EXPECT_EQ(answer.wait_for(std::chrono::seconds(3)), std::future_status::ready) << "told under a lock";
  });
  Reader reader(loader);
  asked->pass();
  EXPECT_FALSE(loader.stats().empty());
  answered->set_value();
  gate_->open();
  EXPECT_EQ(reader.finish(), 20u);
}

// A message handler that waits for a file system or a lock delays no loader.
TEST_P(Watchdog, LoadingContinuesWhileAMessageHandlerBlocks) {
  auto told = std::make_shared<Gate>();
  set_message_sink([told](const std::string&) { told->pass(); });
  Loader loader(stuck_at(7, gate_), {.stall_warning_seconds = 0.05});
  Reader reader(loader);
  told->wait_for(1);
  for (int i = 0; i < 3; ++i) {
    Loader other(numbers(100).then(Jitter{}).batch({.batch_size = 4}), {.stall_warning_seconds = 0});
    EXPECT_EQ(text_of_rest(other).size(), 25u);
  }
  gate_->open();
  EXPECT_EQ(reader.finish(), 20u);
  told->open();
}

// Also when the result exists and the consumer is about to take it.
TEST_P(Watchdog, MayReportAtAnyTime) {
  for (int i = 0; i < 20; ++i) {
    Loader loader(numbers(1000).then(Jitter{.most = 20'000}).batch({.batch_size = 1}), {.stall_warning_seconds = 0});
    EXPECT_EQ(text_of_rest(loader).size(), 1000u);
  }
}

// ---- dropping a loader whose call does not return

constexpr int64_t kBytes = 100'000;

// 100 KB from a number.
struct Large {
  static constexpr std::string_view kName = "large";
  static constexpr std::string_view kDoc = "An array of 100 KB.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context&) const {
    Result<Array> made = Array::make({kBytes}, DType::kUint8);
    if (!made) return made.error();
    std::memset(made->mutable_raw(), 0, kBytes);
    return tuple_of({std::move(element), Element(*std::move(made))});
  }
};

void wait_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::yield();
}

class Dropped : public testing::TestWithParam<int> {
 protected:
  WatchScope watch_{"dropping a loader whose call does not return"};
  WithResources here_{{.workers = GetParam(), .memory_bytes = int64_t{1} << 22}};
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::shared_ptr<int> token_ = std::make_shared<int>(0);  // the callable's
  std::shared_ptr<std::atomic<bool>> returned_ = std::make_shared<std::atomic<bool>>(false);

  // Elements of 100 KB, too large for two in a run; the call of number 5 is
  // stuck.
  Dataset stuck() {
    return numbers(50)
        .then(Large{})
        .map({.map_func =
                  [gate = gate_, token = token_, returned = returned_](Element e) {
                    if (e[0].scalar<int64_t>() != 5) return e;
                    gate->pass();
                    *returned = true;
                    return e;
                  }})
        .prefetch({.buffer_size = 20});
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, Dropped, testing::Values(1, 2, 5));

TEST_P(Dropped, ReturnsPromptlyAndFreesEverythingWhenTheCallReturns) {
  wait_until([] { return memory_use().held == 0; });
  auto loader = std::make_unique<Loader>(stuck());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader->next().ok());
  gate_->wait_for(1);
  const auto begun = std::chrono::steady_clock::now();
  loader.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(500));  // 50 are promised
  EXPECT_GT(token_.use_count(), 1);                                                     // its function is still running
  gate_->open();
  wait_until([&] { return token_.use_count() == 1 && memory_use().held == 0; });
}

TEST_P(Dropped, KeepsOnlyTheElementOfTheCall) {
  wait_until([] { return memory_use().held == 0; });
  auto loader = std::make_unique<Loader>(stuck());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader->next().ok());
  gate_->wait_for(1);
  wait_until([] { return memory_use().held > 5 * kBytes; });  // results after the one that is stuck
  loader.reset();
  wait_until(
      [] { return memory_use().held <= kBytes + 1000; });  // at once, but for calls that had no processor meanwhile
  gate_->open();
  wait_until([&] { return token_.use_count() == 1 && memory_use().held == 0; });
}

TEST_P(Dropped, DoesNotOccupyTheWorkersOfOtherLoaders) {
  {
    Loader loader(stuck());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next().ok());
    gate_->wait_for(1);
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(values(numbers(40).map({.map_func = [](int64_t x) { return x; }}).batch({.batch_size = 8})).size(), 40u);
  gate_->open();
  wait_until([&] { return token_.use_count() == 1; });
}

TEST_P(Dropped, ReturnsPromptlyWithNestedChildrenOpen) {
  const GraphFunction many = [](const Element&) { return numbers(1 << 20); };
  const GraphFunction opens_many = [many](const Element&) { return numbers(9).flat_map({.map_func = many}); };
  {
    Loader loader(Dataset::zip({.datasets = {stuck(), numbers(9).flat_map({.map_func = opens_many})}}));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next().ok());
    gate_->wait_for(1);
  }
  gate_->open();
  wait_until([&] { return token_.use_count() == 1; });
}

TEST_P(Dropped, ReturnsPromptlyInTheNextEpoch) {
  Loader loader(stuck());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next().ok());
  gate_->wait_for(1);
  loader.begin_epoch();
  EXPECT_EQ(text_of_rest(loader, 5).size(), 5u);
  gate_->open();
  EXPECT_EQ(text_of_rest(loader).size(), 45u);
}

TEST_P(Dropped, CloseWaitsForTheCall) {
  Loader loader(stuck());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(loader.next().ok());
  gate_->wait_for(1);
  std::thread opener([&] { gate_->open(); });
  loader.close();
  EXPECT_TRUE(returned_->load());
  opener.join();
}

// As a binding does for Ctrl-C: the waiting thread returns, and no element is lost.
TEST_P(Watchdog, AnInterruptedConsumerContinuesLater) {
  if (GetParam() == 0) GTEST_SKIP() << "without workers the consumer is in the call itself";
  std::atomic<bool> wanted{true};
  Loader loader(stuck_at(0, gate_), {.interrupted = [&] { return wanted.load(); }});
  const Result<std::optional<Element>> cut_short = loader.next();
  ASSERT_FALSE(cut_short.ok());
  EXPECT_EQ(cut_short.error().code(), Code::kCancelled);
  wanted = false;
  gate_->open();
  EXPECT_EQ(text_of_rest(loader).size(), 20u);
}

}  // namespace
}  // namespace stoker
