#include "stoker/watch/watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

constexpr int64_t kMs = 1'000'000;

// A clock that the test sets, and what the watch said.
struct Scene {
  int64_t now = 0;
  std::vector<std::string> said;

  WatchOptions options(std::optional<int64_t> steps = {}) {
    return {.window_seconds = 1,
            .window_steps = 20,
            .steps = steps,
            .tell = [this](const std::string& text) { said.push_back(text); },
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

// A loop that makes each batch itself in `making` ms and trains on it for `training` ms.
void run(Scene& scene, Watch& watch, int64_t training, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    ASSERT_TRUE(watch.next());
    scene.now += training * kMs;
  }
}
Watch::Make making(Scene& scene, int64_t ms) {
  return [&scene, ms]() -> Result<std::optional<Element>> {
    scene.now += ms * kMs;
    return std::optional(number(1));
  };
}

// ---- speed

TEST(Watch, SaysThatTheInputIsMadeInTheTrainingThread) {
  Scene scene;
  Watch watch(making(scene, 60), scene.options());
  run(scene, watch, 40, 60);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"INPUT_STAGE"});
  const Verdict verdict = watch.verdicts()[0];
  EXPECT_EQ(verdict.headline, "input-bound: 60 % of each step waits for data [limit 5 %]");
  EXPECT_EQ(verdict.because[0], "the input is made in the training thread, on one thread: 60 ms of a step of 100 ms");
  EXPECT_NE(verdict.fix.find("batches/s of the 25 needed, 10 now"), std::string::npos) << verdict.fix;
  ASSERT_EQ(scene.said.size(), 1u) << "once in ten minutes";
  EXPECT_NE(scene.said[0].find("INPUT_STAGE (severe)"), std::string::npos);
}

TEST(Watch, IsSilentWhereTheInputIsFastEnough) {
  Scene scene;
  Watch watch(making(scene, 1), scene.options());
  run(scene, watch, 99, 200);
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
  EXPECT_EQ(scene.said, std::vector<std::string>{});
  EXPECT_NE(watch.report().find("197 steps of 100 ms: 1 ms wait for data, 99 ms train\nNothing is wrong"),
            std::string::npos)
      << watch.report();
}

TEST(Watch, SaysNothingAboutSpeedBeforeTwoWindowsAgree) {
  Scene scene;
  int64_t ms = 60;
  Watch watch(
      [&]() -> Result<std::optional<Element>> {
        scene.now += ms * kMs;
        return std::optional(number(1));
      },
      scene.options());
  run(scene, watch, 40, 3 + 20);
  EXPECT_EQ(scene.said.size(), 0u) << "one window";
  ms = 0;
  run(scene, watch, 100, 20);
  ms = 60;
  run(scene, watch, 40, 20);
  EXPECT_EQ(scene.said.size(), 0u) << "never two in a row";
  run(scene, watch, 40, 20);
  EXPECT_EQ(scene.said.size(), 1u);
}

TEST(Watch, SaysTheSameAgainAfterTenMinutes) {
  Scene scene;
  Watch watch(making(scene, 60), scene.options());
  run(scene, watch, 40, 5000);
  EXPECT_EQ(scene.said.size(), 1u);
  run(scene, watch, 40, 5000);
  EXPECT_EQ(scene.said.size(), 2u);
}

TEST(Watch, KeepsStartUpAndTheBeginOfEpochsApart) {
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
  std::vector<std::string> said;
  Watch watch(loader, {.window_seconds = 0, .window_steps = 20, .tell = [&](const std::string& text) {
                         said.push_back(text);
                       }});
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);  // trains on nothing: all is waiting
  ASSERT_EQ(codes(watch.verdicts()), Codes{"INPUT_STAGE"});
  EXPECT_EQ(watch.verdicts()[0].about, "map");
  EXPECT_FALSE(said.empty());
  EXPECT_NE(watch.report().find("map"), std::string::npos);
  EXPECT_EQ(*watch.to_json().find("verdicts")->as<Json::List>()->at(0).find("about"), Json("map"));
}

// ---- the end

TEST(Watch, KnowsBeforeTheRunThatTheDataWillRunOut) {
  Scene scene;
  Loader loader(numbers(100).batch({.batch_size = 10}));
  Watch watch(loader, scene.options(15));
  ASSERT_EQ(scene.said.size(), 1u);
  EXPECT_NE(
      scene.said[0].find("DATA_EXHAUSTED (severe): the data will run out: 15 steps are asked, there are 10 batches"),
      std::string::npos)
      << scene.said[0];
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(watch.next());
  ASSERT_EQ(codes(watch.verdicts()), Codes{"DATA_EXHAUSTED"});
  EXPECT_EQ(watch.verdicts()[0].headline, "the data ran out: 15 steps were asked, there are 10 batches");
  EXPECT_EQ(scene.said.size(), 1u);
}

TEST(Watch, SaysAtTheEndThatTheDataRanOutWhereNobodyKnewBefore) {
  Scene scene;
  Loader loader(numbers(10).filter({.predicate = [](int64_t) { return true; }}));
  Watch watch(loader, scene.options(15));
  EXPECT_EQ(scene.said.size(), 0u);
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  ASSERT_EQ(scene.said.size(), 1u);
  EXPECT_NE(scene.said[0].find("DATA_EXHAUSTED"), std::string::npos);
}

TEST(Watch, IsSilentWhereThereIsAsMuchAsWasAsked) {
  Scene scene;
  Loader loader(numbers(150).batch({.batch_size = 10}));
  Watch watch(loader, scene.options(15));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  EXPECT_EQ(scene.said, std::vector<std::string>{});
  EXPECT_EQ(codes(watch.verdicts()), Codes{});
}

TEST(Watch, SaysThatTheSourceIsEmpty) {
  Scene known;
  Loader none(numbers(7).batch({.batch_size = 10, .drop_remainder = true}));
  const Watch watch(none, known.options());
  ASSERT_EQ(known.said.size(), 1u);
  EXPECT_NE(known.said[0].find("SOURCE_EMPTY (severe): the data set is empty"), std::string::npos) << known.said[0];

  Scene found;
  Loader filtered(numbers(100).filter({.predicate = [](int64_t) { return false; }}));
  Watch later(filtered, found.options());
  for (auto& batch : later) FAIL() << batch.words();
  ASSERT_EQ(found.said.size(), 1u);
  EXPECT_NE(found.said[0].find("the source produced nothing"), std::string::npos) << found.said[0];
  EXPECT_NE(found.said[0].find("it is range"), std::string::npos) << found.said[0];
}

// ---- iterators

TEST(Watch, SeesAnEpochBegunAtEveryStep) {
  Scene scene;
  Loader loader(numbers(100));
  Watch watch(loader, scene.options());
  for (int step = 0; step < 8; ++step) {
    watch.begin_epoch({"train.cc", 41});
    ASSERT_TRUE(watch.next());
  }
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ITER_RECREATED"});
  EXPECT_EQ(watch.verdicts()[0].headline,
            "a new iterator is made at every step (train.cc:41): you always get the first batch");
  EXPECT_EQ(scene.said.size(), 1u);
}

TEST(Watch, SeesALoaderMadeAtEveryStep) {
  Scene scene;
  const Dataset ds = numbers(100);
  for (int step = 0; step < 30; ++step) {
    Loader loader(ds, {}, {"train.cc", 17});
    Watch watch(loader, scene.options());
    ASSERT_TRUE(watch.next());
  }
  ASSERT_EQ(scene.said.size(), 1u);
  EXPECT_NE(scene.said[0].find("ITER_RECREATED (severe)"), std::string::npos);
  EXPECT_NE(scene.said[0].find("train.cc:17"), std::string::npos);
}

TEST(Watch, IsSilentAboutEpochsOfOneBatch) {
  Scene scene;
  Loader loader(numbers(10).batch({.batch_size = 10}));
  Watch watch(loader, scene.options());
  for (int epoch = 0; epoch < 30; ++epoch)
    for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  EXPECT_EQ(scene.said, std::vector<std::string>{});
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
  EXPECT_EQ(scene.said.size(), 1u);
}

TEST(Watch, NotesWhatWasSkipped) {
  Scene scene;
  Loader loader(numbers(20).then(FailSome{}), {.on_error = OnError::kSkip});
  Watch watch(loader, scene.options());
  for (auto& batch : watch) EXPECT_EQ(batch.leaves.size(), 1u);
  ASSERT_EQ(codes(watch.verdicts()), Codes{"ELEMENT_FAILED"});
  EXPECT_EQ(watch.verdicts()[0].severity, Severity::kNote);
  EXPECT_EQ(watch.verdicts()[0].headline, "3 elements failed and were skipped");
}

TEST(Watch, PassesOnWhatALoopOfTheUsersThrows) {
  Scene scene;
  Watch watch([]() -> Result<std::optional<Element>> { return Error::corrupt("a bad record").set_path("a/b.rec"); },
              scene.options());
  EXPECT_THROW(watch.begin(), Error);
  ASSERT_EQ(scene.said.size(), 1u);
  EXPECT_NE(scene.said[0].find("a/b.rec: a bad record"), std::string::npos);
}

// ---- values

TEST(Watch, NamesTheComponentThatIsNotFinite) {
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
  EXPECT_EQ(watch.verdicts()[0].headline, "`x` holds a value that is NaN or infinite");
  EXPECT_EQ(watch.verdicts()[0].because[0], "the first is in batch 17 of the epoch, row 1, counted from 0");
  EXPECT_EQ(scene.said.size(), 1u);
}

// ---- memory

// Pictures of 100 kB behind a filter, which no shuffle can move across. Every
// 50th has the watch look, as a thread that waits does ten times a second.
Dataset pictures(int64_t n, const std::function<void()>& look) {
  return numbers(n)
      .map({.map_func =
                [look](int64_t i) {
                  if (i % 50 == 49) look();
                  return Element(Array::make({100'000}, DType::kUint8).value());
                }})
      .filter({.predicate = [](const Element&) { return true; }});
}

// Runs it to its first batch; what was said, and whether there was one.
std::pair<std::vector<std::string>, bool> first_batch_of(const std::function<Dataset(Dataset)>& held, int64_t n) {
  const WithResources here({.workers = 0, .memory_bytes = 100'000'000});
  Scene scene;
  Recorder recorder(scene.options(), {});
  Loader* running = nullptr;
  Loader loader(held(pictures(n, [&] { recorder.look_while_waiting(parse_json(running->stats()).value()); })));
  running = &loader;
  const bool came = bool(loader.next());
  for (int64_t i = 1; came && i < n; ++i) EXPECT_TRUE(loader.next());
  return {scene.said, came};
}

TEST(Watch, PredictsThatAShuffleWillNotFit) {
  const auto [said, came] =
      first_batch_of([](const Dataset& ds) { return ds.shuffle({.buffer_size = 50'000}); }, 100'000);
  EXPECT_FALSE(came);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("`shuffle` will need 5.0 GB; 100.0 MB are there"), std::string::npos) << said[0];
}

TEST(Watch, PredictsThatACacheWillNotFit) {
  const auto batches = [](const Dataset& ds) {
    return ds.batch({.batch_size = 1}).assert_cardinality({.expected_cardinality = 5000}).cache({});
  };
  const auto [said, came] = first_batch_of(batches, 5000);
  EXPECT_TRUE(came);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("`cache` will need 501.3 MB"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("made again in each epoch"), std::string::npos) << said[0];
}

TEST(Watch, IsSilentAboutWhatFits) {
  const auto small = [](const Dataset& ds) { return ds.shuffle({.buffer_size = 300}); };
  const auto [said, came] = first_batch_of(small, 2000);
  EXPECT_TRUE(came);
  EXPECT_EQ(said, std::vector<std::string>{});
}

TEST(Watch, DoesNotTakeAShuffleThatFillsForSilence) {
  Scene scene;
  Recorder recorder(scene.options(), {});
  recorder.ask();
  scene.now += 100'000 * kMs;
  const char* stats = R"({"stages": [], "held": [{"stage": "shuffle", "elements": 5, "elements_in_all": 9}]})";
  recorder.look_while_waiting(parse_json(stats).value());
  EXPECT_EQ(scene.said, std::vector<std::string>{});
  recorder.look_while_waiting(parse_json(R"({"stages": []})").value());
  EXPECT_EQ(scene.said.size(), 1u);
}

// A thread that waits in next() looks by itself.
TEST(Watch, LooksWhileTheLoopWaits) {
  Scene scene;
  std::atomic<bool> looked = false;
  Loader loader(numbers(2).map({.map_func = [&](int64_t x) {
    while (x == 0 && !looked) std::this_thread::yield();
    return x;
  }}));
  WatchOptions options = scene.options();
  options.silence_seconds = 0;  // whoever looks finds that there is nothing yet
  options.tell = [&](const std::string& text) {
    scene.said.push_back(text);
    looked = true;
  };
  Watch watch(loader, options);
  ASSERT_TRUE(watch.next());
  ASSERT_FALSE(scene.said.empty());
  EXPECT_NE(scene.said[0].find("SOURCE_EMPTY (severe): the source has given no batch for 0 s"), std::string::npos);
}

}  // namespace
}  // namespace stoker
