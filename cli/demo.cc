// `stoker demo`: runs a small pipeline, then shows what happens when an element
// fails and when a run is stopped and restored.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "cli/commands.h"
#include "cli/element_json.h"
#include "cli/interrupt.h"
#include "cli/statistics.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/ops/arithmetic.h"
#include "stoker/ops/cast.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/batch.h"
#include "stoker/transforms/map.h"
#include "stoker/transforms/shuffle.h"

namespace stoker::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

void heading(std::string_view words) { print_line("\n" + bold(words) + "\n"); }

constexpr int64_t kSide = 64;

Array ramp() {
  std::vector<float> values(static_cast<size_t>(kSide * kSide));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const int64_t dims[] = {kSide, kSide};
  return Array::from(values).reshaped(dims);
}

// Maps numbers to small images with labels, shuffled and batched.
Dataset images() {
  return Dataset::range({.stop = 50'000})
      .map({.map_func =
                [](Value number) {
                  const Value ridge = absolute(Value(ramp()) - cast(number % 4096, kFloat32));
                  return dict({{"image", ridge / 4096.0f - 0.5f}, {"label", number % 10}});
                }})
      .shuffle({.seed = 7})
      .batch({.batch_size = 32});
}

constexpr const char* kImagesCode = R"(  auto ds = Dataset::range({.stop = 50'000})
                .map({.map_func = [](Value number) {           // called once; runs natively for each element
                  Value ridge = absolute(ramp - cast(number % 4096, kFloat32));
                  return dict({{"image", ridge / 4096.0f - 0.5f}, {"label", number % 10}});
                }})
                .shuffle({.seed = 7})
                .batch({.batch_size = 32});
  for (auto& batch : Loader(ds)) train(batch["image"], batch["label"]);
)";

Result<void> watch_it_run(double seconds) {
  heading("1. A pipeline");
  print(kImagesCode);
  print_line(fmt::format("\nIt runs for {:g} {}, epoch after epoch, and prefetches batches for this loop:", seconds,
                         seconds == 1 ? "second" : "seconds"));

  const Dataset dataset = images();
  Loader loader(dataset);
  LiveLine line(/*on_errors=*/false);
  const double between = line.in_place() ? 0.1 : 1.0;
  const Clock::time_point begun = Clock::now();
  double next_line = between, waited = 0, passed = 0;
  int64_t elements = 0, bytes = 0, epochs = 0;
  while ((passed = seconds_since(begun)) < seconds && !interrupted()) {
    if (passed >= next_line) {
      next_line += between;
      line.show(fmt::format("{} {:.1f} s  {} images/s  {}/s  epoch {}", bar(passed / seconds, 20), passed,
                            count_text(static_cast<double>(elements) / passed),
                            bytes_text(static_cast<double>(bytes) / passed), epochs + 1));
    }
    STOKER_TRY(std::optional<Element> batch, loader.next());
    if (!batch) {
      ++epochs;
      waited += loader.wait_seconds();
      loader.begin_epoch();
      continue;
    }
    elements += (*batch)["label"].count();
    bytes += batch->byte_size();
  }
  waited += loader.wait_seconds();
  line.clear();
  print_line(
      fmt::format("\n{} images in {}: {} per second, {} per second. This loop does nothing with them, so it waited "
                  "{} of the\ntime. While a training step runs, the next batches are prefetched.\n",
                  grouped(elements), seconds_text(passed), count_text(static_cast<double>(elements) / passed),
                  bytes_text(static_cast<double>(bytes) / passed), percent_text(waited / passed)));
  print_line("The stages. Optimize the one with the largest share:\n");
  print(stage_table(loader.stats()));
  return {};
}

Result<void> show_how_it_runs() {
  heading("2. How it runs");
  print_line(
      "The code shuffles after the map. The engine shuffles before it: it permutes numbers instead of images, so the\n"
      "shuffle needs no buffer and is uniform over the whole dataset. `explain` prints:\n");
  STOKER_TRY(std::string words, images().explain());
  print(words);
  return {};
}

Result<void> show_a_failure() {
  heading("3. A bad element");
  const Dataset readings = Dataset::range({.stop = 1000})
                               .map({.map_func = [](int64_t number) -> Result<double> {
                                 if (number == 421)
                                   return Error::corrupt("reading ", number, " is cut short after 3 of 8 bytes");
                                 return std::sqrt(static_cast<double>(number));
                               }})
                               .batch({.batch_size = 100});
  Loader loader(readings, {.on_error = OnError::kSkip});
  int64_t elements = 0, batches = 0;
  while (true) {
    STOKER_TRY(std::optional<Element> batch, loader.next());
    if (!batch) break;
    ++batches;
    elements += batch->leaves[0].count();
  }
  print_line(
      fmt::format("One of 1,000 readings fails. With the policy 'skip', {} arrive in {} batches: the next reading "
                  "takes the place\nof the failed one. The loader lists every skipped element:\n",
                  grouped(elements), batches));
  for (const Skipped& one : loader.skipped()) {
    Error error = one.error;
    error.at().written_at.clear();  // a line of this file
    print_line(error.describe());
    const Result<Element> again = readings.replay(one.origin);
    print_line(
        fmt::format("\nIts origin, {}, is enough to recompute it alone: `stoker replay GRAPH --at {}` prints '{}'.",
                    one.origin, one.origin, again ? again->describe() : again.error().message()));
  }
  return {};
}

// The remaining batches of an epoch as JSON, and their number.
Result<std::pair<std::string, int64_t>> rest_of(Loader& loader) {
  std::string text;
  int64_t batches = 0;
  while (true) {
    STOKER_TRY(std::optional<Element> batch, loader.next());
    if (!batch) return std::pair{std::move(text), batches};
    append_json(text, *batch);
    ++batches;
  }
}

Result<bool> show_a_checkpoint() {
  heading("4. A checkpoint");
  const auto small = [] {
    return Dataset::range({.stop = 2000})
        .shuffle({})
        .map({.map_func = [](Value x) { return x * 3 + 1; }})
        .batch({.batch_size = 16});
  };
  Loader loader(small());
  for (int i = 0; i < 40; ++i) {
    STOKER_TRY(std::optional<Element> batch, loader.next());
    if (!batch) return Error::internal("the dataset of the demo ended early");
  }
  const Clock::time_point begun = Clock::now();
  STOKER_TRY(std::string state, loader.save());
  const double took = seconds_since(begun);
  STOKER_TRY(auto rest, rest_of(loader));

  Loader other(small());  // as in a new process: another graph, with another drawn seed until restore()
  STOKER_TRY(other.restore(state));
  STOKER_TRY(auto again, rest_of(other));
  const bool same = rest == again;
  print_line(
      fmt::format("A shuffled dataset was stopped after 40 of its 125 batches. Its state is {} and took {} to save.\n"
                  "A new loader continued from it: {} more batches, {}.",
                  bytes_text(static_cast<double>(state.size())), seconds_text(took), again.second,
                  same ? "identical to those of the first loader" : "which DIFFER from those of the first loader"));
  return same;
}

void say_what_is_next() {
  heading("What to try next");
  print(R"(  echo '{"stoker": 1, "stages": [{"stage": "range", "stop": 10}, {"stage": "shuffle"},
        {"stage": "batch", "batch_size": 3}]}' > g.json
  stoker run g.json               run a pipeline from a file, and print its batches
  stoker bench g.json             measure its speed, and find the slowest stage
  stoker stages                   list all stages and operations
  stoker help                     list the other commands
Stoker's repository has guides (docs/guide) and more pipelines (examples/graphs).
)");
}

}  // namespace

int demo(const DemoOptions& options) {
  print_line(bold("Stoker") +
             " prefetches training data for a training loop. Only the seed determines the order of the elements.");
  bool same = true;
  const Result<void> shown = [&]() -> Result<void> {
    STOKER_TRY(watch_it_run(options.seconds));
    if (interrupted()) return {};
    STOKER_TRY(show_how_it_runs());
    STOKER_TRY(show_a_failure());
    STOKER_TRY(same, show_a_checkpoint());
    say_what_is_next();
    return {};
  }();
  if (interrupted()) return interrupted_status();
  if (!shown) complain(shown.error());
  return shown && same ? kFine : kBadData;
}

const char* const kDemoHelp = R"(
Runs a small pipeline and prints its speed, how it is divided into segments, what
happens when an element fails, and how a run continues from a checkpoint. It
takes a few seconds and writes no files.

Example:
  stoker demo

Exit codes: 0 success; 1 a step of the demo failed; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
