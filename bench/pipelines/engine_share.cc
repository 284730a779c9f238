// How much overhead does the engine add to elements of 1 ms of work, and do n
// workers do the work of n threads?
//
// The work has a fixed number of instructions. The baseline is a bare loop for one
// worker, and n bare threads that take work from a counter for n workers.
// --workers 2,8,15 sets n. --callgrind also counts instructions: the programs
// "bare" and "engine" run under valgrind with two lengths each, so that the cost of
// starting cancels out.
#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

Dataset work(int64_t n, int64_t turns) {
  return Dataset::range({.stop = n}).map({.map_func = [turns](int64_t i) { return turn(turns, i); }});
}

void run_bare(int64_t n, int64_t turns) {
  for (int64_t i = 0; i < n; ++i) turn(turns, i);
}

void run_engine(int64_t n, int64_t turns) {
  Loader loader(work(n, turns));
  if (drain(loader) != n) fail("elements are missing");
}

// Returns the instructions of one run of this program under callgrind.
double instructions(const Report& report, const std::string& what, int64_t n, int64_t turns) {
  const std::string command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null " + report.program() +
                              " engine_share --only " + what + " --elements " + std::to_string(n) + " --turns " +
                              std::to_string(turns) + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) fail("cannot run valgrind");
  double count = 0;
  char line[512];
  while (std::fgets(line, sizeof(line), pipe))
    if (const char* at = std::strstr(line, "Collected : ")) count = std::atof(at + 12);
  if (pclose(pipe) != 0 || count == 0) fail("valgrind gave no count");
  return count;
}

void count_instructions(Report& report, int64_t turns) {
  const auto each = [&](const std::string& what) {
    return (instructions(report, what, 150, turns) - instructions(report, what, 50, turns)) / 100;
  };
  const double bare = each("bare");
  const double engine = each("engine");
  report.add({.name = "instructions of the work, per element", .value = bare, .unit = ""});
  report.add({.name = "instructions of the engine, per element", .value = engine - bare, .unit = ""});
  report.add(
      {.name = "engine's share in instructions", .value = 100 * (engine - bare) / engine, .unit = "%", .at_most = 2});
}

int run(Report& report) {
  if (report.has("only")) {
    const int64_t n = std::atoll(report.text("elements", "").c_str());
    const int64_t turns = std::atoll(report.text("turns", "").c_str());
    configure({.workers = 1});
    report.text("only", "") == "bare" ? run_bare(n, turns) : run_engine(n, turns);
    return 0;
  }
  const int64_t turns = turns_for(1e-3);
  const int rounds = report.quick() ? 3 : 9;
  const int64_t n = report.quick() ? 200 : 500;

  // Each ratio compares two consecutive runs.
  configure({.workers = 1});
  std::vector<double> wall, cpu;
  for (int round = 0; round < rounds; ++round) {
    const double cpu0 = cpu_now();
    const double bare = seconds_of([&] { run_bare(n, turns); });
    const double cpu1 = cpu_now();
    const double engine = seconds_of([&] { run_engine(n, turns); });
    const double cpu2 = cpu_now();
    wall.push_back(100 * (engine / bare - 1));
    cpu.push_back(100 * ((cpu2 - cpu1) / (cpu1 - cpu0) - 1));
  }
  report.add({.name = "engine over a bare loop, one worker, wall", .value = median(wall), .unit = "%", .at_most = 2});
  report.add({.name = "engine over a bare loop, one worker, CPU of all threads", .value = median(cpu), .unit = "%"});

  for (const int workers : report.numbers("workers", {std::min(2, cores())})) {
    configure({.workers = workers});
    std::vector<double> ratio;
    for (int round = 0; round < rounds; ++round) {
      const double bare = bare_threads(workers, n * workers, [&](int64_t i) { turn(turns, i); });
      const double engine = seconds_of([&] { run_engine(n * workers, turns); });
      ratio.push_back(bare / engine);
    }
    report.add({.name = std::to_string(workers) + " workers, share of what bare threads do",
                .value = median(ratio),
                .unit = "",
                .at_least = 0.95});
  }
  if (report.has("callgrind")) count_instructions(report, turns);
  return report.end();
}

const Benchmark benchmark("engine_share", run);

}  // namespace
}  // namespace stoker::bench
