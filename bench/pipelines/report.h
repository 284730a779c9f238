#pragma once

// Shared by the benchmarks of this folder: clocks, work of a fixed number of
// instructions, and a report that is a table for people and JSON for tools.
//
// Every benchmark accepts --json FILE (or --benchmark_out=FILE, which tools/bundle
// passes) and --quick, for a run of a few seconds. It ignores all other
// --benchmark_ flags.

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "stoker/stoker.h"

namespace stoker::bench {

// ---- clocks

inline double clock_seconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
inline double now() { return clock_seconds(CLOCK_MONOTONIC); }
// CPU time of all threads of this process; other programs are not included.
inline double cpu_now() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }
// CPU time of child processes that have ended.
inline double children_cpu_now() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <typename F>
double seconds_of(F&& f) {
  const double begin = now();
  f();
  return now() - begin;
}

inline void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// ---- numbers from several rounds

// Returns the value below which this share of the values is.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }
inline double least(const std::vector<double>& values) { return *std::ranges::min_element(values); }
inline double most(const std::vector<double>& values) { return *std::ranges::max_element(values); }

// ---- work

// Runs a loop of `turns` steps, each of which depends on the one before: the same
// number of instructions on every thread.
[[gnu::noinline]] inline int64_t turn(int64_t turns, int64_t seed) {
  auto x = static_cast<uint64_t>(seed);
  for (int64_t i = 0; i < turns; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
  return static_cast<int64_t>(x);
}

// Returns how many turns take this long on this machine when it is idle.
inline int64_t turns_for(double seconds) {
  constexpr int64_t kTurns = 1'000'000;
  double best = 1;
  for (int i = 0; i < 20; ++i) best = std::min(best, seconds_of([] { turn(kTurns, 1); }));
  return std::max<int64_t>(1, static_cast<int64_t>(seconds / best * kTurns));
}

// The baseline for the engine: threads that take numbers below n from one counter, at
// the priority of the pool's workers. Returns the seconds until all are done.
template <typename F>
double bare_threads(int threads, int64_t n, F&& f) {
  std::atomic<int64_t> next{0};
  return seconds_of([&] {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        const sched_param none{};
        pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
        setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), 5);
        for (int64_t i = next++; i < n; i = next++) f(i);
      });
    for (std::thread& thread : all) thread.join();
  });
}

// ---- datasets

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

// Returns the next element, or nothing at the end. An error ends the benchmark.
inline std::optional<Element> next_of(Loader& loader) {
  Result<std::optional<Element>> next = loader.next();
  if (!next) fail(next.error().message());
  return *std::move(next);
}

// Takes all elements and returns their number.
inline int64_t drain(Loader& loader) {
  int64_t n = 0;
  while (next_of(loader)) ++n;
  return n;
}

// ---- resources of the process

inline int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Returns the core-seconds that the machine has been busy since it started, including
// the time that its host took (steal time).
inline double machine_busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, io = 0, irq = 0, softirq = 0, steal = 0;
  file >> name >> user >> nice >> system >> idle >> io >> irq >> softirq >> steal;
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

inline int cores() { return static_cast<int>(std::thread::hardware_concurrency()); }

inline std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

// ---- the report

struct Figure {
  std::string name;
  double value = 0;
  std::string unit;
  std::optional<double> at_most = {};
  std::optional<double> at_least = {};
  std::string note = {};

  bool wanted() const { return at_most || at_least; }
  bool met() const { return (!at_most || value <= *at_most) && (!at_least || value >= *at_least); }
};

class Report {
 public:
  Report(int argc, char** argv, std::string name) : name_(std::move(name)) {
    for (int i = 0; i < argc; ++i) command_ += (i ? " " : "") + std::string(argv[i]);
    program_ = argv[0];
    for (int i = 2; i < argc; ++i) {
      std::string word = argv[i];
      if (!word.starts_with("--")) fail(name_ + ": expected an option that starts with --, got '" + word + "'");
      word.erase(0, 2);
      const size_t equals = word.find('=');
      if (equals != std::string::npos)
        flags_[word.substr(0, equals)] = word.substr(equals + 1);
      else
        flags_[word] = i + 1 < argc && !std::string(argv[i + 1]).starts_with("--") ? argv[++i] : "";
    }
    std::printf("%s\n", name_.c_str());
    begun_ = now();
    begun_busy_ = machine_busy_seconds() - cpu_now() - children_cpu_now();
  }

  bool has(const std::string& flag) const { return flags_.contains(flag); }
  bool quick() const { return has("quick"); }
  const std::string& program() const { return program_; }
  std::string text(const std::string& flag, const std::string& otherwise) const {
    const auto found = flags_.find(flag);
    return found == flags_.end() ? otherwise : found->second;
  }
  // --workers 2,8,15
  std::vector<int> numbers(const std::string& flag, std::vector<int> otherwise) const {
    if (!has(flag)) return otherwise;
    std::vector<int> all;
    std::istringstream words(flags_.at(flag));
    for (std::string word; std::getline(words, word, ',');) all.push_back(std::atoi(word.c_str()));
    return all;
  }

  void add(Figure figure) {
    std::string wanted;
    if (figure.at_most) wanted = "<= " + short_form(*figure.at_most);
    if (figure.at_least) wanted = ">= " + short_form(*figure.at_least);
    std::printf("  %-58s %10s %-6s %-10s %s%s%s\n", figure.name.c_str(), short_form(figure.value).c_str(),
                figure.unit.c_str(), wanted.c_str(), figure.wanted() ? figure.met() ? "met" : "MISSED" : "",
                figure.note.empty() ? "" : "  ", figure.note.c_str());
    std::fflush(stdout);
    figures_.push_back(std::move(figure));
  }

  // Writes the JSON if it was requested. A missed target is not a failure of the
  // program: other work on the machine can cause it.
  int end() {
    const double others = machine_busy_seconds() - cpu_now() - children_cpu_now() - begun_busy_;
    add({.name = "of the machine, taken by other programs meanwhile",
         .value = 100 * std::max(0.0, others) / (now() - begun_) / cores(),
         .unit = "%"});
    const std::string path = text("json", text("benchmark_out", ""));
    if (path.empty()) return 0;
    nlohmann::ordered_json json;
    json["benchmark"] = name_;
    json["command"] = command_;
    json["machine"] = {{"cpu", cpu_name()}, {"cores", cores()}};
    json["compiler"] = __VERSION__;
    json["figures"] = nlohmann::ordered_json::array();
    for (const Figure& figure : figures_) {
      nlohmann::ordered_json one{{"name", figure.name}, {"value", figure.value}, {"unit", figure.unit}};
      if (figure.at_most) one["at_most"] = *figure.at_most;
      if (figure.at_least) one["at_least"] = *figure.at_least;
      if (figure.wanted()) one["met"] = figure.met();
      if (!figure.note.empty()) one["note"] = figure.note;
      json["figures"].push_back(std::move(one));
    }
    std::ofstream file(path);
    file << json.dump(2) << "\n";
    if (!file.flush()) fail("cannot write " + path);
    return 0;
  }

 private:
  static std::string short_form(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), std::abs(value) >= 1000 ? "%.0f" : "%.4g", value);
    return text;
  }

  std::string name_;
  std::string program_;
  std::string command_;
  std::map<std::string, std::string> flags_;
  std::vector<Figure> figures_;
  double begun_ = 0;
  double begun_busy_ = 0;  // time of other programs
};

// ---- the benchmarks of the program

using RunBenchmark = int (*)(Report& report);
inline std::map<std::string, RunBenchmark>& benchmarks() {
  static std::map<std::string, RunBenchmark> all;
  return all;
}
struct Benchmark {
  Benchmark(const std::string& name, RunBenchmark run) { benchmarks()[name] = run; }
};

}  // namespace stoker::bench
