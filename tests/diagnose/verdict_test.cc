#include "stoker/diagnose/verdict.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

// 100 steps of 0.1 s each, with a total wait of `waited` seconds.
RunFacts run(double waited) { return {.steps = 100, .seconds = 10, .wait_seconds = waited}; }

std::vector<std::string> codes(const RunFacts& facts, const Gates& gates = {}) {
  std::vector<std::string> all;
  for (const Verdict& verdict : judge(facts, gates)) all.push_back(verdict.code);
  return all;
}
using Codes = std::vector<std::string>;

TEST(Verdict, NothingIsReportedIfTheLoopDoesNotWait) {
  EXPECT_EQ(codes(run(0)), Codes{});
  EXPECT_EQ(codes(run(0.49)), Codes{});
  EXPECT_EQ(codes({}), Codes{});
}

TEST(Verdict, SpeedIsNotReportedBeforeTheMinimumOfStepsAndSeconds) {
  EXPECT_EQ(codes({.steps = 19, .seconds = 100, .wait_seconds = 90}), Codes{});
  EXPECT_EQ(codes({.steps = 200, .seconds = 9, .wait_seconds = 8}), Codes{});
  EXPECT_EQ(codes({.steps = 20, .seconds = 1, .wait_seconds = 0.8}, {.seconds = 1}), Codes{"INPUT_SLOW"});
}

TEST(Verdict, NamesTheStageThatLimitsTheRate) {
  RunFacts facts = run(6);
  facts.stages = {{.name = "read", .threads = 4, .working = 0.1, .batch_seconds = 0.01},
                  {.name = "decode", .threads = 2, .working = 0.98, .batch_seconds = 0.2},
                  {.name = "batch", .threads = 2, .working = 0.05, .batch_seconds = 0.001}};
  const std::vector<Verdict> found = judge(facts);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "INPUT_STAGE");
  EXPECT_EQ(found[0].severity, Severity::kSevere);
  EXPECT_EQ(found[0].confidence, Confidence::kCertain);
  EXPECT_EQ(found[0].headline, "input-bound: 60 % of each step is spent waiting for data [limit 5 %]");
  EXPECT_EQ(found[0].because,
            (std::vector<std::string>{
                "`decode` is 98 % busy on 2 threads and can produce 10 batches/s; training could consume 25"}));
  EXPECT_NE(describe(found[0]).find("At best: 2.5 times as fast"), std::string::npos);
}

TEST(Verdict, IsOnlyProbableIfTheSlowestStageIsNotBusy) {
  RunFacts facts = run(1);
  facts.stages = {{.name = "decode", .threads = 2, .working = 0.5, .batch_seconds = 0.2}};
  EXPECT_EQ(judge(facts)[0].confidence, Confidence::kProbable);
  EXPECT_EQ(judge(facts)[0].severity, Severity::kModerate);
}

TEST(Verdict, AStageThatIsFastEnoughIsNotTheCause) {
  RunFacts facts = run(1);
  facts.stages = {{.name = "decode", .threads = 2, .working = 0.4, .batch_seconds = 0.08}};
  const Verdict verdict = judge(facts)[0];
  EXPECT_EQ(verdict.code, "INPUT_SLOW");
  EXPECT_EQ(verdict.because[0],
            "the load is uneven: `decode`, the slowest stage, is 40 % busy and could produce 25 batches/s; training "
            "could consume 11");
}

TEST(Verdict, IsCertainIfThePoolOfWorkersIsBusy) {
  RunFacts facts = run(6);
  facts.workers = 2;
  facts.stages = {{.name = "read", .threads = 2, .working = 0.45, .batch_seconds = 0.09},
                  {.name = "decode", .threads = 2, .working = 0.5, .batch_seconds = 0.1}};
  const Verdict verdict = judge(facts)[0];
  EXPECT_EQ(verdict.about, "decode");
  EXPECT_EQ(verdict.confidence, Confidence::kCertain);
  EXPECT_EQ(verdict.because[1], "the pool of 2 workers is 95 % busy [limit 85 %]");
}

TEST(Verdict, ComputesTheRateWithWorkersForALoopThatProducesItsOwnInput) {
  RunFacts facts = run(7.5);
  facts.workers = 0;
  facts.cores = 8;
  const Verdict verdict = judge(facts)[0];
  EXPECT_EQ(verdict.code, "INPUT_STAGE");
  EXPECT_EQ(verdict.because[0], "the input is produced in the training thread: 75 ms of a step of 100 ms");
  EXPECT_EQ(verdict.fix,
            "prefetch the batches in a dataset with workers: 3 workers would produce 40 of the 40 batches/s that "
            "training could consume, instead of 10");
  EXPECT_NE(describe(verdict).find("At best: 4.0 times as fast"), std::string::npos);
  facts.cores = 2;
  EXPECT_NE(judge(facts)[0].fix.find("2 workers would produce 27 of the 40 batches/s"), std::string::npos);
  EXPECT_NE(describe(judge(facts)[0]).find("At best: 2.7 times as fast"), std::string::npos);
}

TEST(Verdict, ReportsTheGilOnlyIfAllFourConditionsHold) {
  RunFacts facts = run(6);
  facts.stages = {
      {.name = "augment", .threads = 1, .working = 0.97, .batch_seconds = 0.2, .python = true, .on_cpu = 0.95}};
  facts.interpreter_probe_seconds = 3e-3;
  EXPECT_EQ(codes(facts), Codes{"GIL"});
  EXPECT_EQ(judge(facts)[0].confidence, Confidence::kProbable);
  EXPECT_EQ(judge(facts)[0].fix.find("process"), std::string::npos) << "worker processes are not implemented";
  RunFacts waits = facts;
  waits.stages[0].on_cpu = 0.4;
  EXPECT_EQ(codes(waits), Codes{"INPUT_STAGE"});
  RunFacts quiet = facts;
  quiet.interpreter_probe_seconds = 0.2e-3;
  EXPECT_EQ(codes(quiet), Codes{"INPUT_STAGE"});
  RunFacts native = facts;
  native.stages[0].python = false;
  EXPECT_EQ(codes(native), Codes{"INPUT_STAGE"});
}

TEST(Verdict, ReportsAnIteratorCreatedInEveryStep) {
  RunFacts facts = run(0);
  facts.iterators = {.made = 5, .batches_each = 1, .start_seconds = 1, .written_at = "train.py:41"};
  EXPECT_EQ(codes(facts), Codes{"ITER_RECREATED"});
  EXPECT_NE(judge(facts)[0].headline.find("train.py:41"), std::string::npos);
  facts.iterators.made = 4;
  EXPECT_EQ(codes(facts), Codes{});
  facts.iterators = {.made = 50, .batches_each = 20};
  EXPECT_EQ(codes(facts), Codes{});
}

TEST(Verdict, DistinguishesAnEmptySourceFromOneThatRanOut) {
  EXPECT_EQ(codes({.ended = true, .source = "list_files '*.jpg'"}), Codes{"SOURCE_EMPTY"});
  const RunFacts short_of = {.steps_asked = 100, .batches_given = 63, .ended = true};
  EXPECT_EQ(codes(short_of), Codes{"DATA_EXHAUSTED"});
  EXPECT_EQ(judge(short_of)[0].headline, "the data ran out: 100 steps were requested, and an epoch has 63 batches");
  EXPECT_EQ(codes({.steps_asked = 63, .batches_given = 63, .ended = true}), Codes{});
  EXPECT_EQ(codes({.batches_given = 63, .ended = true}), Codes{});
}

TEST(Verdict, ReportsMissingDataBeforeTheRunIfTheLengthIsKnown) {
  EXPECT_EQ(codes({.batches_there = 0}), Codes{"SOURCE_EMPTY"});
  const RunFacts short_of = {.steps_asked = 15, .batches_there = 10};
  EXPECT_EQ(codes(short_of), Codes{"DATA_EXHAUSTED"});
  EXPECT_EQ(judge(short_of)[0].headline, "the data will run out: 15 steps are requested, and an epoch has 10 batches");
  EXPECT_EQ(codes({.steps_asked = 10, .batches_there = 10}), Codes{});
}

TEST(Verdict, NamesTheLineOfASourceThatProducesNothing) {
  const RunFacts silent = {.silence = {.seconds = 31, .on_cpu = 0.99, .where = "line 12 of make_batches (train.py)"}};
  const Verdict verdict = judge(silent)[0];
  EXPECT_EQ(verdict.code, "SOURCE_EMPTY");
  EXPECT_EQ(verdict.headline, "the source has produced no batch for 31 s [limit 30 s]");
  EXPECT_EQ(verdict.because, (std::vector<std::string>{"it is executing line 12 of make_batches (train.py)",
                                                       "it is computing: on the CPU for 99 % of this time"}));
  EXPECT_EQ(codes({.silence = {.seconds = 29}}), Codes{});
}

TEST(Verdict, NamesTheFileThatFailed) {
  const RunFacts facts = {
      .failures = {.failed = 1, .elements = 40, .first = "JPEG data ends early", .path = "a/b.jpg"}};
  const Verdict verdict = judge(facts)[0];
  EXPECT_EQ(verdict.code, "ELEMENT_FAILED");
  EXPECT_EQ(verdict.because[0], "a/b.jpg: JPEG data ends early");
  RunFacts skipped = facts;
  skipped.failures.skipped = true;
  EXPECT_EQ(judge(skipped)[0].severity, Severity::kNote);
}

TEST(Verdict, PredictsThatAShuffleOrCacheWillNotFitIntoMemory) {
  RunFacts facts = {.memory_limit = 1'000'000'000};
  facts.held = {{.stage = "shuffle", .elements = 64, .bytes = 64'000'000, .elements_in_all = 801}};
  EXPECT_EQ(codes(facts), Codes{"HELD_EXCEEDS_MEMORY"});
  facts.held[0].elements_in_all = 800;
  EXPECT_EQ(codes(facts), Codes{});
  facts.held[0] = {.stage = "cache", .elements = 63, .bytes = 63'000'000, .elements_in_all = 100'000};
  EXPECT_EQ(codes(facts), Codes{}) << "too few elements for an estimate";
}

TEST(Verdict, NamesTheComponentWithNonFiniteValues) {
  const RunFacts facts = {.non_finite = {{.component = "image", .values = 3, .origin = "npy:412"}}};
  EXPECT_EQ(judge(facts)[0].headline, "`image` contains 3 values that are NaN or infinite");
}

TEST(Verdict, TheMostCostlyFindingIsFirst) {
  RunFacts facts = run(0.8);
  facts.failures = {.failed = 1, .elements = 40, .skipped = true, .first = "no"};
  facts.iterators = {.made = 9, .batches_each = 1, .start_seconds = 0.5};
  EXPECT_EQ(codes(facts), (Codes{"ITER_RECREATED", "INPUT_SLOW", "ELEMENT_FAILED"}));
}

TEST(Verdict, IsAvailableAsJson) {
  const Json json = to_json(judge(run(5))[0]);
  EXPECT_EQ(*json.find("code"), Json("INPUT_SLOW"));
  EXPECT_EQ(*json.find("confidence"), Json("probable"));
  EXPECT_EQ(*json.find("fix")->find("expected_speedup_max"), Json(2.0));
}

}  // namespace
}  // namespace stoker
