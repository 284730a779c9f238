#include "stoker/watch/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

constexpr int64_t kMs = 1'000'000;

// A clock that the test sets, and the messages of the watch.
struct Scene {
  int64_t now = 0;
  std::vector<std::string> messages;

  WatchOptions options(std::optional<int64_t> steps = {}) {
    return {.window_seconds = 1,
            .window_steps = 20,
            .steps = steps,
            .on_message = [this](const std::string& text) { messages.push_back(text); },
            .clock = [this] { return now; }};
  }
};

std::vector<std::string> codes(const std::vector<Verdict>& verdicts) {
  std::vector<std::string> all;
  for (const Verdict& verdict : verdicts) all.push_back(verdict.code);
  return all;
}
using Codes = std::vector<std::string>;

Element number(int64_t x) { return Element(Array::of(x)); }

// A loop that trains for `training` ms per step.
void run(Scene& scene, Watch& watch, int64_t training, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    ASSERT_TRUE(watch.next());
    scene.now += training * kMs;
  }
}
// Produces a batch in `ms` ms.
Watch::Make making(Scene& scene, int64_t ms) {
  return [&scene, ms]() -> Result<std::optional<Element>> {
    scene.now += ms * kMs;
    return std::optional(number(1));
  };
}

// ---- speed

TEST(Watch, ReportsInputThatIsProducedInTheTrainingThread) {
  Scene scene;
  Watch watch(making(scene, 60), scene.options());
  run(scene, watch, 40, 60);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"INPUT_STAGE"});
  const Verdict verdict = watch.verdicts()[0];
  EXPECT_EQ(verdict.headline, "input-bound: 60 % of each step is spent waiting for data [limit 5 %]");
  EXPECT_EQ(verdict.because[0], "the input is produced in the training thread: 60 ms of a step of 100 ms");
  EXPECT_NE(verdict.fix.find("of the 25 batches/s that training could consume, instead of 10"), std::string::npos)
      << verdict.fix;
  ASSERT_EQ(scene.messages.size(), 1u) << "once in ten minutes";
  EXPECT_NE(scene.messages[0].find("INPUT_STAGE (severe)"), std::string::npos);
}

TEST(Watch, PrintsNothingIfTheInputIsFastEnough) {
  Scene scene;
  Watch watch(making(scene, 1), scene.options());
  run(scene, watch, 99, 200);
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
  EXPECT_EQ(scene.messages, std::vector<std::string>{});
  EXPECT_NE(watch.report().find("197 steps of 100 ms: 1 ms waiting for data, 99 ms training\nNo problems found"),
            std::string::npos)
      << watch.report();
}

TEST(Watch, ReportsSpeedOnlyIfTwoConsecutiveIntervalsAgree) {
  Scene scene;
  int64_t ms = 60;
  Watch watch(
      [&]() -> Result<std::optional<Element>> {
        scene.now += ms * kMs;
        return std::optional(number(1));
      },
      scene.options());
  run(scene, watch, 40, 3 + 20);
  EXPECT_EQ(scene.messages.size(), 0u) << "one interval";
  ms = 0;
  run(scene, watch, 100, 20);
  ms = 60;
  run(scene, watch, 40, 20);
  EXPECT_EQ(scene.messages.size(), 0u) << "never two in a row";
  run(scene, watch, 40, 20);
  EXPECT_EQ(scene.messages.size(), 1u);
}

TEST(Watch, RepeatsAFindingAfterTenMinutes) {
  Scene scene;
  Watch watch(making(scene, 60), scene.options());
  run(scene, watch, 40, 5000);
  EXPECT_EQ(scene.messages.size(), 1u);
  run(scene, watch, 40, 5000);
  EXPECT_EQ(scene.messages.size(), 2u);
}

TEST(Watch, DoesNotCountStartUpAndTheFirstStepOfAnEpoch) {
  Scene scene;
  int64_t given = 0;
  Watch watch(
      [&]() -> Result<std::optional<Element>> {
        if (given % 10 == 0) scene.now += 5000 * kMs;  // the first of each epoch
        if (given == 10) return given = 0, std::optional<Element>();
        ++given;
        return std::optional(number(given));
      },
      scene.options());
  for (int epoch = 0; epoch < 20; ++epoch)
    for (auto& batch : watch) {
      EXPECT_FALSE(batch.leaves.empty());
      scene.now += 100 * kMs;
    }
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
}

TEST(Watch, NamesTheStageOfALoaderWithoutWorkers) {
  const WithResources here({.workers = 0, .memory_bytes = int64_t{1} << 26});
  Loader loader(numbers(400).map({.map_func = [](int64_t x) {
    volatile int64_t turns = 0;
    while (turns < 50'000) turns = turns + 1;
    return x;
  }}));
  std::vector<std::string> messages;
  Watch watch(loader, {.window_seconds = 0, .window_steps = 20, .on_message = [&](const std::string& text) {
                         messages.push_back(text);
                       }});
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);  // no training: the loop only waits
  ASSERT_EQ(codes(watch.verdicts()), Codes{"INPUT_STAGE"});
  EXPECT_EQ(watch.verdicts()[0].about, "map");
  EXPECT_FALSE(messages.empty());
  EXPECT_NE(watch.report().find("map"), std::string::npos);
  EXPECT_EQ(*watch.to_json().find("verdicts")->as<Json::List>()->at(0).find("about"), Json("map"));
}

// ---- the end

TEST(Watch, ReportsBeforeTheRunThatTheDataWillRunOut) {
  Scene scene;
  Loader loader(numbers(100).batch({.batch_size = 10}));
  Watch watch(loader, scene.options(15));
  ASSERT_EQ(scene.messages.size(), 1u);
  EXPECT_NE(
      scene.messages[0].find("DATA_EXHAUSTED (severe): the data will run out: 15 steps are requested, and an epoch "
                             "has 10 batches"),
      std::string::npos)
      << scene.messages[0];
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(watch.next());
  ASSERT_EQ(codes(watch.verdicts()), Codes{"DATA_EXHAUSTED"});
  EXPECT_EQ(watch.verdicts()[0].headline, "the data ran out: 15 steps were requested, and an epoch has 10 batches");
  EXPECT_EQ(scene.messages.size(), 1u);
}

TEST(Watch, ReportsAtTheEndThatTheDataRanOutIfTheLengthWasUnknown) {
  Scene scene;
  Loader loader(numbers(10).filter({.predicate = [](int64_t) { return true; }}));
  Watch watch(loader, scene.options(15));
  EXPECT_EQ(scene.messages.size(), 0u);
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  ASSERT_EQ(scene.messages.size(), 1u);
  EXPECT_NE(scene.messages[0].find("DATA_EXHAUSTED"), std::string::npos);
}

TEST(Watch, PrintsNothingIfThereAreAsManyBatchesAsSteps) {
  Scene scene;
  Loader loader(numbers(150).batch({.batch_size = 10}));
  Watch watch(loader, scene.options(15));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  EXPECT_EQ(scene.messages, std::vector<std::string>{});
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
}

TEST(Watch, ReportsAnEmptySource) {
  Scene known;
  Loader none(numbers(7).batch({.batch_size = 10, .drop_remainder = true}));
  const Watch watch(none, known.options());
  ASSERT_EQ(known.messages.size(), 1u);
  EXPECT_NE(known.messages[0].find("SOURCE_EMPTY (severe): the dataset is empty"), std::string::npos)
      << known.messages[0];

  Scene found;
  Loader filtered(numbers(100).filter({.predicate = [](int64_t) { return false; }}));
  Watch later(filtered, found.options());
  for (auto& batch : later) FAIL() << batch.describe();
  ASSERT_EQ(found.messages.size(), 1u);
  EXPECT_NE(found.messages[0].find("the source produced no elements"), std::string::npos) << found.messages[0];
  EXPECT_NE(found.messages[0].find("the source is range"), std::string::npos) << found.messages[0];
}

// ---- iterators

TEST(Watch, ReportsAnEpochStartedInEveryStep) {
  Scene scene;
  Loader loader(numbers(100));
  Watch watch(loader, scene.options());
  for (int step = 0; step < 8; ++step) {
    watch.begin_epoch({"train.cc", 41});
    ASSERT_TRUE(watch.next());
  }
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ITER_RECREATED"});
  EXPECT_EQ(watch.verdicts()[0].headline,
            "a new iterator is created in every step (train.cc:41): every step gets the first batch");
  EXPECT_EQ(scene.messages.size(), 1u);
}

TEST(Watch, ReportsALoaderCreatedInEveryStep) {
  Scene scene;
  const Dataset ds = numbers(100);
  for (int step = 0; step < 30; ++step) {
    Loader loader(ds, {}, {"train.cc", 17});
    Watch watch(loader, scene.options());
    ASSERT_TRUE(watch.next());
  }
  ASSERT_EQ(scene.messages.size(), 1u);
  EXPECT_NE(scene.messages[0].find("ITER_RECREATED (severe)"), std::string::npos);
  EXPECT_NE(scene.messages[0].find("train.cc:17"), std::string::npos);
}

TEST(Watch, DoesNotReportCompleteEpochsOfOneBatch) {
  Scene scene;
  Loader loader(numbers(10).batch({.batch_size = 10}));
  Watch watch(loader, scene.options());
  for (int epoch = 0; epoch < 30; ++epoch)
    for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  EXPECT_EQ(scene.messages, std::vector<std::string>{});
}

// ---- elements

TEST(Watch, NamesTheFileThatFailed) {
  const TempDir dir;
  const std::string good = dir.write("a.txt", "a"), bad = dir.at("missing.txt");
  Scene scene;
  Loader loader(Dataset::from_tensor_slices({.tensors = Element(Array::from<std::string>({good, bad}))})
                    .map({.map_func = [](Value path) { return io::read_file(path); }}));
  Watch watch(loader, scene.options());
  ASSERT_TRUE(watch.next());
  const Result<std::optional<Element>> failed = watch.next();
  ASSERT_FALSE(failed);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ELEMENT_FAILED"});
  EXPECT_EQ(watch.verdicts()[0].headline, "1 element failed");
  EXPECT_NE(watch.verdicts()[0].because[0].find("missing.txt"), std::string::npos);
  EXPECT_EQ(scene.messages.size(), 1u);
}

TEST(Watch, ReportsSkippedElementsAsANote) {
  Scene scene;
  Loader loader(numbers(20).then(FailSome{}), {.on_error = OnError::kSkip});
  Watch watch(loader, scene.options());
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ELEMENT_FAILED"});
  EXPECT_EQ(watch.verdicts()[0].severity, Severity::kNote);
  EXPECT_EQ(watch.verdicts()[0].headline, "3 elements failed and were skipped");
}

TEST(Watch, CountsAllSkippedElementsAlthoughTheLoaderListsOnlySome) {
  Scene scene;
  Loader loader(numbers(6000).then(FailSome{.every = 4}), {.on_error = OnError::kSkip});
  Watch watch(loader, scene.options());
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  ASSERT_LT(loader.skipped().size(), 1500u);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ELEMENT_FAILED"});
  EXPECT_EQ(watch.verdicts()[0].headline, "1500 elements failed and were skipped");
}

TEST(Watch, DoesNotReportAnInterruption) {
  Scene scene;
  Watch watch([]() -> Result<std::optional<Element>> { return Error::cancelled(); }, scene.options());
  const Result<std::optional<Element>> interrupted = watch.next();
  ASSERT_FALSE(interrupted);
  EXPECT_EQ(interrupted.error().code(), Code::kCancelled);
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
  EXPECT_EQ(scene.messages, std::vector<std::string>{});
}

TEST(Watch, PassesOnAndReportsAnErrorOfTheUsersFunction) {
  Scene scene;
  Watch watch([]() -> Result<std::optional<Element>> { return Error::corrupt("a bad record").set_path("a/b.rec"); },
              scene.options());
  EXPECT_THROW(watch.begin(), Error);
  ASSERT_EQ(scene.messages.size(), 1u);
  EXPECT_NE(scene.messages[0].find("a/b.rec: a bad record"), std::string::npos);
}

// ---- values

TEST(Watch, NamesTheComponentWithNonFiniteValues) {
  Scene scene;
  int64_t given = 0;
  Watch watch(
      [&]() -> Result<std::optional<Element>> {
        const double value = given++ == 17 ? NAN : 0.5;
        return std::optional(dict_of({{"x", Element(Array::from<double>({1.0, value}))}, {"y", number(1)}}));
      },
      scene.options());
  run(scene, watch, 10, 30);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"NON_FINITE"});
  EXPECT_EQ(watch.verdicts()[0].headline, "`x` contains a value that is NaN or infinite");
  EXPECT_EQ(watch.verdicts()[0].because[0], "the first is in batch 17 of the epoch, row 1, counted from 0");
  EXPECT_EQ(scene.messages.size(), 1u);
}

// ---- the interpreter lock

// A Python stage that is busy for 97 % of the time, and on the CPU for a share of it.
LoaderStats of_a_python_stage(const Scene& scene, double on_cpu) {
  const double busy = 0.97 * static_cast<double>(scene.now) * 1e-9;
  return {.workers = 2,
          .stages = {{.stage = "augment",
                      .busy_seconds = busy,
                      .at_once = 1,
                      .user = true,
                      .measured_seconds = busy,
                      .on_cpu_seconds = on_cpu * busy}}};
}

struct Probed {
  std::vector<Verdict> verdicts;
  Codes reported;
  int probes = 0;
};

// Waits 50 ms for each batch and trains for 50 ms. A probe of the lock takes `probe` seconds.
Probed run_with_probes(double on_cpu, double probe, int intervals = 3) {
  Scene scene;
  WatchOptions options = scene.options();
  options.python = true;
  Recorder recorder(options, {});
  Probed run;
  for (int i = 0; i < 3 + 20 * intervals; ++i) {
    const int64_t asked = recorder.ask();
    scene.now += 50 * kMs;
    recorder.give(asked);
    if (recorder.is_due()) recorder.look(of_a_python_stage(scene, on_cpu));
    if (recorder.wants_probe()) {
      ++run.probes;
      recorder.note_probe(probe);
    }
    scene.now += 50 * kMs;
  }
  run.verdicts = recorder.verdicts(of_a_python_stage(scene, on_cpu));
  for (const std::string& text : scene.messages) run.reported.push_back(text.substr(0, text.find(' ')));
  return run;
}

TEST(Watch, NamesAPythonStageThatHoldsTheInterpreterLock) {
  const Probed run = run_with_probes(0.98, 0.005);
  ASSERT_EQ(codes(run.verdicts), Codes{"GIL"});
  EXPECT_EQ(run.verdicts[0].about, "augment");
  EXPECT_EQ(run.verdicts[0].confidence, Confidence::kProbable);
  EXPECT_THAT(run.verdicts[0].because,
              testing::Contains(testing::HasSubstr("on the CPU for 98 % of its time, and a probe waits 5.0 ms")));
  EXPECT_THAT(run.verdicts[0].fix, testing::HasSubstr("Stoker's operations, which run natively"));
  EXPECT_EQ(run.reported, Codes{"GIL"});
  EXPECT_EQ(run.probes, 1);
}

TEST(Watch, DoesNotNameTheInterpreterLockIfItIsFreeOrTheStageSleeps) {
  EXPECT_EQ(run_with_probes(0.98, 0.0002).reported, Codes{"INPUT_STAGE"});
  EXPECT_EQ(run_with_probes(0.3, 0.005).reported, Codes{"INPUT_STAGE"});
}

TEST(Watch, ProbesTheInterpreterLockEveryTenIntervalsAtMost) { EXPECT_EQ(run_with_probes(0.98, 0.005, 21).probes, 3); }

// ---- memory

// Images of 100 kB after a filter, upstream of which the planner cannot move a
// shuffle. Every 50th image calls `look`, as a waiting thread does ten times a
// second.
Dataset images(int64_t n, const std::function<void()>& look) {
  return numbers(n)
      .map({.map_func =
                [look](int64_t i) {
                  if (i % 50 == 49) look();
                  return Element(Array::make({100'000}, DType::kUint8).value());
                }})
      .filter({.predicate = [](const Element&) { return true; }});
}

// Requests the first batch, and the others if it succeeds. Returns the messages,
// and whether it succeeded.
std::pair<std::vector<std::string>, bool> first_batch_of(const std::function<Dataset(Dataset)>& held, int64_t n) {
  const WithResources here({.workers = 0, .memory_bytes = 100'000'000});
  Scene scene;
  Recorder recorder(scene.options(), {});
  Loader* running = nullptr;
  Loader loader(held(images(n, [&] { recorder.look_while_waiting(running->stats()); })));
  running = &loader;
  const bool came = bool(loader.next());
  for (int64_t i = 1; came && i < n; ++i) EXPECT_TRUE(loader.next());
  return {scene.messages, came};
}

TEST(Watch, PredictsThatAShuffleWillNotFit) {
  const auto [messages, came] =
      first_batch_of([](const Dataset& ds) { return ds.shuffle({.buffer_size = 50'000}); }, 100'000);
  EXPECT_FALSE(came);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].find("`shuffle` will need 5.0 GB, and the memory budget is 100.0 MB"), std::string::npos)
      << messages[0];
}

TEST(Watch, PredictsThatACacheWillNotFit) {
  const auto batches = [](const Dataset& ds) {
    return ds.batch({.batch_size = 1}).assert_cardinality({.expected_cardinality = 5000}).cache({});
  };
  const auto [messages, came] = first_batch_of(batches, 5000);
  EXPECT_TRUE(came);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_THAT(messages[0], testing::ContainsRegex("`cache` will need 50[0-9]\\.[0-9] MB"));  // 500 MB, and its tables
  EXPECT_NE(messages[0].find("recomputed in each epoch"), std::string::npos) << messages[0];
}

TEST(Watch, DoesNotReportAShuffleThatFits) {
  const auto small = [](const Dataset& ds) { return ds.shuffle({.buffer_size = 300}); };
  const auto [messages, came] = first_batch_of(small, 2000);
  EXPECT_TRUE(came);
  EXPECT_EQ(messages, std::vector<std::string>{});
}

TEST(Watch, AFillingShuffleIsNotASourceWithoutBatches) {
  Scene scene;
  Recorder recorder(scene.options(), {});
  recorder.ask();
  scene.now += 100'000 * kMs;
  LoaderStats stats{.stages = {{.stage = "shuffle"}},
                    .held = {{.stage = "shuffle", .elements = 5, .elements_in_all = 9}}};
  recorder.look_while_waiting(stats);
  EXPECT_EQ(scene.messages, std::vector<std::string>{});
  stats.held.clear();
  recorder.look_while_waiting(stats);
  EXPECT_EQ(scene.messages.size(), 1u);
}

// The thread that waits in next() calls the watch.
TEST(Watch, EvaluatesWhileTheLoopWaits) {
  Scene scene;
  std::atomic<bool> looked = false;
  Loader loader(numbers(2).map({.map_func = [&](int64_t x) {
    while (x == 0 && !looked) std::this_thread::yield();
    return x;
  }}));
  WatchOptions options = scene.options();
  options.silence_seconds = 0;  // the first evaluation reports the missing batch
  options.on_message = [&](const std::string& text) {
    scene.messages.push_back(text);
    looked = true;
  };
  Watch watch(loader, options);
  ASSERT_TRUE(watch.next());
  ASSERT_FALSE(scene.messages.empty());
  EXPECT_NE(scene.messages[0].find("SOURCE_EMPTY (severe): the source has produced no batch for 0 s"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
