// Three ways in which training is held up by its data, each in its stalled and
// its good form on the same network, with what the diagnosis says of both.
// docs/guide has a page on each: decode_in_the_loop, new_iterator_each_step,
// steps_beyond_the_data.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <sstream>

#include "examples/fashion_mnist/network.h"
#include "examples/fashion_mnist/pictures.h"
#include "stoker/codecs/png.h"
#include "stoker/stoker.h"
#include "stoker/watch/watch.h"

namespace fashion_mnist {
namespace {

using namespace stoker;
using Clock = std::chrono::steady_clock;
using Next = std::function<Result<std::optional<Element>>()>;

constexpr int64_t kBatch = 64;
constexpr int64_t kStartUp = 3;  // steps that count for nothing
constexpr double kSeconds = 3;   // of each form
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

template <typename T>
T or_throw(Result<T> result) {
  if (!result) throw result.error();
  return *std::move(result);
}

WatchOptions options(std::optional<int64_t> steps = {}) {
  return {.window_seconds = 1, .window_steps = 20, .steps = steps, .tell = [](const std::string&) {}};
}

// What one form of a loop came to.
struct Form {
  int64_t steps = 0;
  double step_seconds = 0;
  std::vector<Verdict> verdicts;

  std::string code() const { return verdicts.empty() ? "none" : verdicts[0].code; }
};

// Trains with what `next` gives until the time, the steps or the data end.
Form train(Network& network, Watch& watch, const Next& next, int64_t steps = kForever) {
  Form form;
  const Clock::time_point begun = Clock::now();
  Clock::time_point counted_from = begun;
  while (form.steps < steps && seconds_since(begun) < kSeconds) {
    const std::optional<Element> batch = or_throw(next());
    if (!batch) break;
    network.train(*batch);
    if (++form.steps == kStartUp) counted_from = Clock::now();
  }
  form.step_seconds = seconds_since(counted_from) / static_cast<double>(std::max<int64_t>(1, form.steps - kStartUp));
  form.verdicts = watch.verdicts();
  return form;
}

Form train(Network& network, const Dataset& dataset, std::optional<int64_t> steps = {}) {
  Loader loader(dataset);
  Watch watch(loader, options(steps));
  return train(network, watch, [&] { return watch.next(); }, steps.value_or(kForever));
}

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", 1e3 * seconds); }

// One line of the table.
struct Row {
  std::string scenario, verdict, before, after, ratio;
};

void print_verdicts(const Form& form) {
  for (const Verdict& verdict : form.verdicts) {
    std::istringstream text(words_of(verdict));
    for (std::string line; std::getline(text, line);) fmt::print("    {}\n", line);
  }
}

Row show(const std::string& scenario, const Form& stalled, const Form& good, Row row) {
  fmt::print("  stalled form: {}\n", row.before);
  print_verdicts(stalled);
  fmt::print("  good form: {}; verdict: {}\n", row.after, good.code());
  print_verdicts(good);  // none, unless the machine is busy with other things
  fmt::print("\n");
  std::fflush(stdout);
  row.scenario = scenario;
  row.verdict = stalled.code();
  return row;
}

Row show_times(const std::string& scenario, const Form& stalled, const Form& good) {
  return show(scenario, stalled, good,
              {.before = milliseconds(stalled.step_seconds) + " a step",
               .after = milliseconds(good.step_seconds) + " a step",
               .ratio = fmt::format("{:.1f}", stalled.step_seconds / good.step_seconds)});
}

// ---- the loop decodes its pictures itself

constexpr int64_t kLargePictures = 256;
// Of the network's time: enough to matter, and not so much that one other core
// cannot keep up with it.
constexpr double kDecodeShare = 0.6;
constexpr int64_t kTrialSide = 128;

// PNGs of side x side: the small pictures enlarged, with their labels.
Dataset large_pictures(const std::string& folder, int64_t side) {
  const Dataset enlarged = decoded(records(folder, "train").take({.count = kLargePictures}))
                               .map({.map_func = [side](Value picture, Value label) {
                                 const Value large = image::resize(reshape(picture, {.shape = {28, 28, 1}}),
                                                                   {.height = side, .width = side});
                                 return tuple(cast(large * 255.0f, kUint8), label);
                               }});
  std::vector<std::string> pngs;
  std::vector<int64_t> labels;
  Loader loader(enlarged);
  for (auto& one : loader) {
    pngs.push_back(or_throw(
        encode_png({.height = side, .width = side, .channels = 1}, static_cast<const std::byte*>(one[0].raw()))));
    labels.push_back(one[1].scalar<int64_t>());
  }
  return Dataset::from_tensor_slices({.tensors = tuple_of({Element(Array::from(pngs)), Element(Array::from(labels))})});
}

Dataset shrunk(const Dataset& large) {
  return large.map({.map_func = [](Value png, Value label) {
    const Value picture = image::resize(io::decode_png(png, {.channels = 1}), {.height = 28, .width = 28});
    return tuple(reshape(picture, {.shape = {1, 28, 28}}) / 255.0f, label);
  }});
}

// A batch made one picture at a time, by whoever asks for it.
Result<Element> batch_by_hand(const Dataset& pictures, int64_t& position) {
  std::vector<Array> images, labels;
  for (int64_t i = 0; i < kBatch; ++i) {
    STOKER_TRY(Element one, pictures.at(position++ % kLargePictures));
    images.push_back(one[0]);
    labels.push_back(one[1]);
  }
  STOKER_TRY(Array all_images, stacked(images));
  STOKER_TRY(Array all_labels, stacked(labels));
  return tuple_of({Element(std::move(all_images)), Element(std::move(all_labels))});
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// On the CPU, so that what else the machine does makes no difference.
template <typename Work>
double cpu_seconds(Work work) {
  constexpr int kTimes = 5;
  work();  // start-up counts for nothing
  const double begun = thread_cpu_seconds();
  for (int i = 0; i < kTimes; ++i) work();
  return (thread_cpu_seconds() - begun) / kTimes;
}

// The side of pictures whose decoding takes its share, on this machine.
int64_t fitting_side(Network& network, const std::string& folder) {
  const Dataset trial = shrunk(large_pictures(folder, kTrialSide));
  int64_t position = 0;
  Element batch;
  const double decode = cpu_seconds([&] { batch = or_throw(batch_by_hand(trial, position)); });
  const double compute = cpu_seconds([&] { network.train(batch); });
  return std::lround(static_cast<double>(kTrialSide) * std::sqrt(kDecodeShare * compute / decode));
}

Row decode_in_the_loop(Network& network, const std::string& folder) {
  const int64_t side = fitting_side(network, folder);
  fmt::print("1. The loop decodes its pictures itself, PNGs of {}x{}, one at a time.\n", side, side);
  const Dataset pictures = shrunk(large_pictures(folder, side));
  int64_t position = 0;
  double decoding = 0;
  const auto make = [&]() -> Result<std::optional<Element>> {
    const Clock::time_point begun = Clock::now();
    STOKER_TRY(Element batch, batch_by_hand(pictures, position));
    decoding += seconds_since(begun);
    return batch;
  };
  Watch watch(make, options());
  const Form stalled = train(network, watch, [&] { return watch.next(); });
  const Form good = train(network, pictures.repeat({}).batch({.batch_size = kBatch}));

  const double decode = decoding / static_cast<double>(stalled.steps);
  const double compute = stalled.step_seconds - decode;
  fmt::print(
      "  Decoding takes {} of each step, the network {}. Side by side on two cores that can be {:.1f} times "
      "as fast.\n",
      milliseconds(decode), milliseconds(compute), stalled.step_seconds / std::max(decode, compute));
  return show_times("decode in the loop", stalled, good);
}

// ---- a new iterator at each step

Dataset training_batches(const std::string& folder) {
  return decoded(records(folder, "train").shuffle({.buffer_size = 10'000, .seed = 1})).batch({.batch_size = kBatch});
}

Row new_iterator_each_step(Network& network, const std::string& folder) {
  fmt::print("2. A new iterator at each step: next(iter(ds)), here *watch.begin().\n");
  Loader loader(training_batches(folder));
  Watch watch(loader, options());
  const Form stalled = train(network, watch, [&] { return std::optional(*watch.begin()); });
  const Form good = train(network, training_batches(folder));
  return show_times("new iterator each step", stalled, good);
}

// ---- steps beyond the data

Row steps_beyond_the_data(Network& network, const std::string& folder) {
  constexpr int64_t kAsked = 15;
  constexpr int64_t kThere = 10;
  fmt::print("3. {} steps are asked of {} batches.\n", kAsked, kThere);
  const Dataset pictures = decoded(records(folder, "train").take({.count = kThere * kBatch}));
  const Form stalled = train(network, pictures.batch({.batch_size = kBatch}), kAsked);
  const Form good = train(network, pictures.repeat({}).batch({.batch_size = kBatch}), kAsked);
  const auto steps = [&](const Form& form) { return fmt::format("{} of {} steps", form.steps, kAsked); };
  return show("steps beyond the data", stalled, good, {.before = steps(stalled), .after = steps(good), .ratio = "–"});
}

void print_table(const std::vector<Row>& rows) {
  const auto line = [](const Row& row) {
    fmt::print("{:<24}{:<16}{:>17}{:>17}{:>8}\n", row.scenario, row.verdict, row.before, row.after, row.ratio);
  };
  line({"scenario", "verdict", "before", "after", "ratio"});
  for (const Row& row : rows) line(row);
}

}  // namespace
}  // namespace fashion_mnist

int main(int count, char** arguments) {
  using namespace fashion_mnist;
  if (count != 2) {
    fmt::print(stderr, "usage: fashion_mnist_scenarios FOLDER, which `stoker pack` has written\n");
    return 2;
  }
  const std::string folder = arguments[1];
  try {
    Network network;
    print_table({decode_in_the_loop(network, folder), new_iterator_each_step(network, folder),
                 steps_beyond_the_data(network, folder)});
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "{}\n", error.words());
    return 1;
  }
}
