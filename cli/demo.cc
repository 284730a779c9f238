// `stoker demo`: a small pipeline to watch, then what happens when an element
// fails and when a run is cut in two.
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

// Numbers become little pictures with a label, in random order, in batches.
Dataset pictures() {
  return Dataset::range({.stop = 50'000})
      .map({.map_func =
                [](Value number) {
                  const Value ridge = absolute(Value(ramp()) - cast(number % 4096, kFloat32));
                  return dict({{"picture", ridge / 4096.0f - 0.5f}, {"label", number % 10}});
                }})
      .shuffle({.seed = 7})
      .batch({.batch_size = 32});
}

constexpr const char* kPicturesCode = R"(  auto ds = Dataset::range({.stop = 50'000})
                .map({.map_func = [](Value number) {           // native: no call for each element
                  Value ridge = absolute(ramp - cast(number % 4096, kFloat32));
                  return dict({{"picture", ridge / 4096.0f - 0.5f}, {"label", number % 10}});
                }})
                .shuffle({.seed = 7})
                .batch({.batch_size = 32});
  for (auto& batch : Loader(ds)) train(batch["picture"], batch["label"]);
)";

Result<void> watch_it_run(double seconds) {
  heading("1. A pipeline");
  print(kPicturesCode);
  print_line(fmt::format("\nIt runs for {:g} seconds, epoch after epoch, ahead of this loop:", seconds));

  const Dataset dataset = pictures();
  Loader loader(dataset);
  LiveLine line(/*on_errors=*/false);
  const double between = line.in_place() ? 0.1 : 1.0;
  const Clock::time_point begun = Clock::now();
  double next_line = between, waited = 0, passed = 0;
  int64_t elements = 0, bytes = 0, epochs = 0;
  while ((passed = seconds_since(begun)) < seconds && !interrupted()) {
    if (passed >= next_line) {
      next_line += between;
      line.show(fmt::format("{} {:.1f} s  {} pictures/s  {}/s  epoch {}", bar(passed / seconds, 20), passed,
                            count_words(static_cast<double>(elements) / passed),
                            bytes_words(static_cast<double>(bytes) / passed), epochs + 1));
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
      fmt::format("\n{} pictures in {}: {} a second, {} a second. This loop does nothing with them, so it waited "
                  "{} of the\ntime; a training step would find them ready.\n",
                  grouped(elements), seconds_words(passed), count_words(static_cast<double>(elements) / passed),
                  bytes_words(static_cast<double>(bytes) / passed), percent_words(waited / passed)));
  STOKER_TRY(Json stats, parse_json(loader.stats()));
  print_line("What each stage did. The one with the largest share is the one to make faster:\n");
  print(stage_table(stats));
  return {};
}

Result<void> show_how_it_runs() {
  heading("2. How it runs");
  print_line(
      "The shuffle was written behind the map and moves before it: it orders numbers, not pictures, so it holds "
      "nothing\n"
      "and the order is perfect. This is `explain`:\n");
  STOKER_TRY(std::string words, pictures().explain());
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
      fmt::format("1,000 readings, of which one cannot be made. With the policy 'skip', {} arrive in {} batches; the "
                  "batch that\nlost one was filled up from the next. Nothing is lost silently:\n",
                  grouped(elements), batches));
  for (const Skipped& one : loader.skipped()) {
    print_line(one.error.words());
    const Result<Element> again = readings.replay(one.origin);
    print_line(
        fmt::format("\nIts origin, {}, is enough to make it again, alone: `stoker replay GRAPH --at {}` says '{}'.",
                    one.origin, one.origin, again ? again->words() : again.error().message()));
  }
  return {};
}

// The rest of an epoch as text, and how much it was.
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
  heading("4. A run cut in two");
  const auto small = [] {
    return Dataset::range({.stop = 2000})
        .shuffle({})
        .map({.map_func = [](Value x) { return x * 3 + 1; }})
        .batch({.batch_size = 16});
  };
  Loader loader(small());
  for (int i = 0; i < 40; ++i) {
    STOKER_TRY(std::optional<Element> batch, loader.next());
    if (!batch) return Error::internal("the demo's data set ended early");
  }
  const Clock::time_point begun = Clock::now();
  STOKER_TRY(std::string state, loader.save());
  const double took = seconds_since(begun);
  STOKER_TRY(auto rest, rest_of(loader));

  Loader other(small());  // as a new process would: its own graph, its own seed until it is restored
  STOKER_TRY(other.restore(state));
  STOKER_TRY(auto again, rest_of(other));
  const bool same = rest == again;
  print_line(
      fmt::format("A shuffled data set was stopped after 40 of its 125 batches. Its state is {} and took {} to save.\n"
                  "A new loader went on from it: {} more batches, {}.",
                  bytes_words(static_cast<double>(state.size())), seconds_words(took), again.second,
                  same ? "the same, bit by bit, as without the stop" : "which DIFFER from those without the stop"));
  return same;
}

void say_what_is_next() {
  heading("What to try next");
  print(R"(  echo '{"stoker": 1, "stages": [{"stage": "range", "stop": 10}, {"stage": "shuffle"},
        {"stage": "batch", "batch_size": 3}]}' > g.json
  stoker run g.json               a pipeline is also a file; this prints its batches
  stoker bench g.json             how fast it is, and which stage binds
  stoker stages                   everything a pipeline can be made of
  stoker help                     the other commands
  examples/graphs, docs/guide     more pipelines, and how to use them from C++
)");
}

}  // namespace

int demo(const DemoOptions& options) {
  print_line(bold("Stoker") +
             " makes training data ahead of the loop that needs it, in an order that only the seed decides.");
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

}  // namespace stoker::cli
