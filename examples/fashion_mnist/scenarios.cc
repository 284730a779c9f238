// Runs the three stalled loops of stalls.h and their good forms with a network, and
// prints the verdicts and step times.
#include <fmt/format.h>

#include <cstdio>
#include <sstream>

#include "examples/fashion_mnist/network.h"
#include "examples/fashion_mnist/stalls.h"
#include "stoker/core/error.h"

namespace fashion_mnist {
namespace {

using stoker::Verdict;

std::string milliseconds(double seconds) { return fmt::format("{:.1f} ms", 1e3 * seconds); }

// One line of the table.
struct Row {
  std::string scenario, verdict, before, after, ratio;
};

void print_verdicts(const Form& form) {
  for (const Verdict& verdict : form.verdicts) {
    std::istringstream text(describe(verdict));
    for (std::string line; std::getline(text, line);) fmt::print("    {}\n", line);
  }
}

Row show(const std::string& scenario, const Mended& loop, Row row) {
  fmt::print("  stalled form: {}\n", row.before);
  print_verdicts(loop.stalled);
  fmt::print("  good form: {}; verdict: {}\n", row.after, loop.good.code());
  print_verdicts(loop.good);  // none, unless other programs use the machine
  fmt::print("\n");
  std::fflush(stdout);
  row.scenario = scenario;
  row.verdict = loop.stalled.code();
  return row;
}

Row show_times(const std::string& scenario, const Mended& loop) {
  return show(scenario, loop,
              {.before = milliseconds(loop.stalled.step_seconds) + " per step",
               .after = milliseconds(loop.good.step_seconds) + " per step",
               .ratio = fmt::format("{:.1f}", loop.stalled.step_seconds / loop.good.step_seconds)});
}

Row show_decode_in_the_loop(const Train& train, const std::string& folder) {
  fmt::print("1. The loop decodes its own images, one at a time.\n");
  const DecodeInTheLoop loop = decode_in_the_loop(train, folder);
  const double decode = loop.decode_seconds, compute = loop.stalled.step_seconds - decode;
  fmt::print(
      "  Decoding PNGs of {}x{} takes {} of each step, and the network {}. In parallel on two cores, a step can be "
      "{:.1f} times as fast.\n",
      loop.side, loop.side, milliseconds(decode), milliseconds(compute),
      loop.stalled.step_seconds / std::max(decode, compute));
  return show_times("decode in the loop", loop);
}

Row show_new_iterator_each_step(const Train& train, const std::string& folder) {
  fmt::print("2. A new iterator in each step: next(iter(ds)), here *watch.begin().\n");
  return show_times("new iterator each step", new_iterator_each_step(train, folder));
}

Row show_steps_beyond_the_data(const Train& train, const std::string& folder) {
  fmt::print("3. {} steps are requested, and there are {} batches.\n", kStepsAsked, kBatchesThere);
  const Mended loop = steps_beyond_the_data(train, folder);
  const auto steps = [](const Form& form) { return fmt::format("{} of {} steps", form.steps, kStepsAsked); };
  return show("steps beyond the data", loop, {.before = steps(loop.stalled), .after = steps(loop.good), .ratio = "–"});
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
    fmt::print(stderr, "usage: fashion_mnist_scenarios FOLDER\nFOLDER is the output folder of `stoker pack`\n");
    return 2;
  }
  const std::string folder = arguments[1];
  try {
    Network network;
    const Train train = [&](const stoker::Element& batch) { network.train(batch); };
    print_table({show_decode_in_the_loop(train, folder), show_new_iterator_each_step(train, folder),
                 show_steps_beyond_the_data(train, folder)});
  } catch (const stoker::Error& error) {
    fmt::print(stderr, "{}\n", error.describe());
    return 1;
  }
}
