// `stoker bench`: measures how fast a graph produces elements, and which stages
// take the time.
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <utility>

#include "cli/commands.h"
#include "cli/element_json.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/statistics.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"

namespace stoker::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// The peak resident memory of the process (VmHWM); 0 if the system does not report it.
int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;
  double wait_seconds = 0;
  double first_seconds = 0;  // until the first element
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t epochs = 0;  // finished
  int64_t failures = 0;
  std::optional<Error> first_failure;
  LoaderStats stats;
};

class Progress {
 public:
  void show(const Measured& so_far, double seconds, double of) {
    if (!line_.in_place() || seconds < next_) return;
    next_ = seconds + 0.1;
    line_.show(fmt::format("{:.1f} of {:g} s  {} elements/s", seconds, of,
                           count_text(static_cast<double>(so_far.elements) / seconds)));
  }
  void clear() { line_.clear(); }

 private:
  LiveLine line_{/*on_errors=*/true};
  double next_ = 0.2;
};

Measured measure(const Dataset& dataset, double seconds) {
  Measured measured;
  Progress progress;
  Loader loader(dataset);
  const double cpu_begun = cpu_seconds();
  const Clock::time_point begun = Clock::now();
  bool gave = false;  // in this epoch
  bool ended = false;
  while (!interrupted()) {
    if (std::exchange(ended, false)) loader.begin_epoch();  // not earlier: between epochs there are no statistics
    Result<std::optional<Element>> next = loader.next();
    measured.seconds = seconds_since(begun);
    if (!next) {
      ++measured.failures;
      if (!measured.first_failure) measured.first_failure = next.error();
    } else if (*next) {
      if (measured.elements++ == 0) measured.first_seconds = measured.seconds;
      measured.bytes += (*next)->byte_size();
      gave = true;
    } else {
      if (!gave) break;  // the graph is empty or cannot run
      ++measured.epochs;
      measured.wait_seconds += loader.wait_seconds();
      gave = false;
      ended = true;
    }
    if (measured.seconds >= seconds) break;
    progress.show(measured, measured.seconds, seconds);
  }
  progress.clear();
  measured.cpu_seconds = cpu_seconds() - cpu_begun;
  if (gave) measured.wait_seconds += loader.wait_seconds();
  measured.stats = loader.stats();
  return measured;
}

double per_second(int64_t count, const Measured& m) { return static_cast<double>(count) / std::max(m.seconds, 1e-9); }
double cpu_each(const Measured& m) { return m.cpu_seconds / static_cast<double>(std::max<int64_t>(m.elements, 1)); }
double wait_share(const Measured& m) { return m.wait_seconds / std::max(m.seconds, 1e-9); }

std::string plain_text(const Measured& m) {
  const MemoryUse memory = memory_use();
  std::string text;
  auto line = [&](std::string_view title, const std::string& words) { text += padded(title, 10) + words + "\n"; };
  line("elements",
       fmt::format("{}/s  ({} in {}, {})", count_text(per_second(m.elements, m)), grouped(m.elements),
                   seconds_text(m.seconds), m.epochs == 1 ? "1 epoch" : grouped(m.epochs) + " complete epochs"));
  line("bytes", bytes_text(per_second(m.bytes, m)) + "/s");
  line("first", "after " + seconds_text(m.first_seconds));
  line("CPU", fmt::format("{} per element, {:.2f} cores busy", seconds_text(cpu_each(m)),
                          m.cpu_seconds / std::max(m.seconds, 1e-9)));
  line("waiting", percent_text(wait_share(m)) + " of the time was spent waiting for elements");
  line("memory",
       fmt::format("process peak {}; prefetched peak {} of a budget of {}",
                   bytes_text(static_cast<double>(peak_memory_bytes())), bytes_text(static_cast<double>(memory.peak)),
                   bytes_text(static_cast<double>(memory.budget))));
  line("workers", std::to_string(m.stats.workers));
  return text + "\n" + stage_table(m.stats);
}

Json json_of(const Measured& m) {
  const MemoryUse memory = memory_use();
  Json json = Json::dict();
  json.set("elements", m.elements);
  json.set("seconds", m.seconds);
  json.set("epochs", m.epochs);
  json.set("elements_per_second", per_second(m.elements, m));
  json.set("bytes_per_second", per_second(m.bytes, m));
  json.set("first_element_seconds", m.first_seconds);
  json.set("cpu_seconds", m.cpu_seconds);
  json.set("cpu_seconds_per_element", cpu_each(m));
  json.set("wait_seconds", m.wait_seconds);
  json.set("wait_share", wait_share(m));
  json.set("peak_memory_bytes", peak_memory_bytes());
  json.set("peak_budget_bytes", memory.peak);
  json.set("budget_bytes", memory.budget);
  json.set("workers", m.stats.workers);
  json.set("failures", m.failures);
  if (m.first_failure) json.set("first_failure", error_to_json(*m.first_failure));
  const double busy = std::max(busy_seconds(m.stats), 1e-12);
  Json stages = Json::list();
  for (const StageStats& counters : m.stats.stages) {
    Json stage = to_json(counters);
    stage.set("share", counters.busy_seconds / busy);
    stages.push(std::move(stage));
  }
  json.set("stages", std::move(stages));
  Json windows = Json::list();
  for (const WindowStats& window : m.stats.windows) windows.push(to_json(window));
  json.set("windows", std::move(windows));
  return json;
}

int bench_on(const Dataset& dataset, const BenchOptions& options) {
  const Measured measured = measure(dataset, options.seconds);
  if (measured.elements > 0 || options.json)
    print(options.json ? json_of(measured).text(2) + "\n" : plain_text(measured));
  if (interrupted()) return interrupted_status();
  if (measured.first_failure) {
    complain(*measured.first_failure);
    if (measured.failures > 1) remark(fmt::format("  and {} more failed", grouped(measured.failures - 1)));
    return kBadData;
  }
  if (measured.elements > 0) return kFine;
  complain("the graph produced no elements, so there is nothing to measure; check its source with `stoker run`");
  return kBadData;
}

}  // namespace

int bench(const BenchOptions& options) {
  return with_graph(options.graph, [&](const Dataset& dataset) { return bench_on(dataset, options); });
}

const char* const kBenchHelp = R"(
Runs the graph epoch after epoch, as fast as it produces elements. Prints elements
and bytes per second, CPU time per element, memory, the share of the time that
the loop waited, and each stage's share of the work. Optimize the stage with the
largest share.

Examples:
  stoker bench g.json
  stoker bench g.json --seconds 20 --workers 8
  stoker bench g.json --json | jq .elements_per_second

Exit codes: 0 success; 1 an element failed, or there were none; 2 the graph is
missing or invalid; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
