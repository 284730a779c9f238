#include "examples/fashion_mnist/stalls.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/codecs/png.h"
#include "stoker/codecs/tfrecord.h"
#include "support/temp_dir.h"

namespace fashion_mnist {
namespace {

using stoker::TempDir;

// A record in the form that `stoker pack` writes.
std::string record_of(int64_t number) {
  std::vector<uint8_t> pixels(28 * 28);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * static_cast<size_t>(number + 1));
  const std::string png =
      stoker::encode_png({.height = 28, .width = 28, .channels = 1}, reinterpret_cast<const std::byte*>(pixels.data()))
          .value();
  stoker::ExampleWriter example;
  example.set("image", std::vector<stoker::Bytes>{png});
  example.set("label", std::vector<int64_t>{number % 10});
  return example.serialized();
}

// Runs the loops of the demo over a few images, for a few steps.
class Stalls : public testing::Test {
 protected:
  static constexpr Effort kSmall{.batch = 8, .large_images = 16, .seconds = 60, .steps = 30, .window_seconds = 1e-3};

  Stalls() {
    std::string file;
    for (int64_t i = 0; i < 400; ++i) stoker::append_record(file, record_of(i));
    folder_.write("train-00000-of-00001.tfrecord", file);
  }

  std::string folder() const { return folder_.path().string(); }

  // Stands in for a network: a constant amount of work per batch.
  Train train() {
    return [this](const stoker::Element& batch) {
      float sum = 0;
      for (int pass = 0; pass < 30; ++pass)
        for (const float value : batch.leaves[0].values<float>()) sum += value * static_cast<float>(pass);
      sum_ = sum;
    };
  }

 private:
  TempDir folder_;
  volatile float sum_ = 0;
};

bool has(const Form& form, std::string_view code) {
  return std::ranges::any_of(form.verdicts, [&](const stoker::Verdict& verdict) { return verdict.code == code; });
}

bool blames_the_training_thread(const Form& form) {
  return std::ranges::any_of(form.verdicts, [](const stoker::Verdict& verdict) {
    return describe(verdict).find("produced in the training thread") != std::string::npos;
  });
}

// The good form may wait if other programs use the machine. The tests check only
// that the cause of the stalled form is gone.

TEST_F(Stalls, DecodingInTheLoopIsReportedOnlyForTheStalledForm) {
  const DecodeInTheLoop loop = decode_in_the_loop(train(), folder(), kSmall);
  EXPECT_EQ(loop.stalled.steps, 30);
  EXPECT_EQ(loop.good.steps, 30);
  EXPECT_GT(loop.side, 0);
  EXPECT_EQ(loop.stalled.code(), "INPUT_STAGE");
  EXPECT_TRUE(blames_the_training_thread(loop.stalled));
  EXPECT_FALSE(blames_the_training_thread(loop.good));
}

TEST_F(Stalls, ANewIteratorInEachStepIsReportedOnlyForTheStalledForm) {
  const Mended loop = new_iterator_each_step(train(), folder(), kSmall);
  EXPECT_EQ(loop.stalled.steps, 30);
  EXPECT_EQ(loop.good.steps, 30);
  EXPECT_EQ(loop.stalled.code(), "ITER_RECREATED");
  EXPECT_FALSE(has(loop.good, "ITER_RECREATED"));
}

TEST_F(Stalls, StepsBeyondTheDataAreReportedOnlyForTheStalledForm) {
  const Mended loop = steps_beyond_the_data(train(), folder(), kSmall);
  EXPECT_EQ(loop.stalled.steps, kBatchesThere);
  EXPECT_EQ(loop.good.steps, kStepsAsked);
  EXPECT_EQ(loop.stalled.code(), "DATA_EXHAUSTED");
  EXPECT_FALSE(has(loop.good, "DATA_EXHAUSTED"));
}

}  // namespace
}  // namespace fashion_mnist
