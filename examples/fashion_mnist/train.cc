// Trains the small network on Fashion-MNIST for one epoch, from the TFRecord shards
// of `stoker pack`, and tests it.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "examples/fashion_mnist/images.h"
#include "examples/fashion_mnist/network.h"
#include "stoker/stoker.h"

namespace fashion_mnist {
namespace {

using namespace stoker;
using Clock = std::chrono::steady_clock;

constexpr int64_t kBatch = 64;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

// A progress line: updated ten times a second on a terminal, otherwise a new line
// every five seconds.
class LiveLine {
 public:
  bool due() const { return seconds_since(shown_) >= (in_place_ ? 0.1 : 5.0); }
  void show(const std::string& text) {
    shown_ = Clock::now();
    fmt::print("{}{}{}", in_place_ ? "\r" : "", text, in_place_ ? "\x1b[K" : "\n");
    std::fflush(stdout);
  }
  void end() const {
    if (in_place_) fmt::print("\n");
  }

 private:
  const bool in_place_ = isatty(STDOUT_FILENO) != 0;
  Clock::time_point shown_ = Clock::now();
};

// Totals over the steps so far.
struct Progress {
  int64_t steps = 0, images = 0, right = 0;
  double loss = 0;  // exponential moving average

  void add(const Score& score) {
    loss = steps == 0 ? score.loss : 0.95 * loss + 0.05 * score.loss;
    ++steps;
    images += score.images;
    right += score.right;
  }
  double accuracy() const { return images == 0 ? 0 : static_cast<double>(right) / static_cast<double>(images); }
};

std::string text_of(const Progress& progress, double seconds, double waited) {
  return fmt::format("step {:>4}  loss {:.3f}  accuracy {:.1f} %  {:.0f} images/s  waiting for data {:.1f} %",
                     progress.steps, progress.loss, 100 * progress.accuracy(),
                     static_cast<double>(progress.images) / seconds, 100 * waited / seconds);
}

void train(Network& network, const std::string& folder) {
  Loader loader(
      decoded(records(folder, "train").shuffle({.buffer_size = 10'000, .seed = 1})).batch({.batch_size = kBatch}));
  Watch watch(loader);
  Progress progress;
  LiveLine line;
  const Clock::time_point begun = Clock::now();
  for (auto& batch : watch) {
    progress.add(network.train(batch));
    if (line.due()) line.show(text_of(progress, seconds_since(begun), loader.wait_seconds()));
  }
  line.show(text_of(progress, seconds_since(begun), loader.wait_seconds()));
  line.end();
  fmt::print("{}", watch.report());
}

void test(Network& network, const std::string& folder) {
  Loader loader(decoded(records(folder, "test")).batch({.batch_size = 256}));
  Progress progress;
  for (auto& batch : loader) progress.add(network.test(batch));
  fmt::print("test accuracy: {1:.1f} % ({0} images)\n", progress.images, 100 * progress.accuracy());
}

}  // namespace
}  // namespace fashion_mnist

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: fashion_mnist_train FOLDER\nFOLDER is the output folder of `stoker pack`\n");
    return 2;
  }
  try {
    fashion_mnist::Network network;
    fashion_mnist::train(network, arguments[1]);
    fashion_mnist::test(network, arguments[1]);
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "{}\n", error.describe());
    return 1;
  }
}
