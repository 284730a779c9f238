#include "stoker/runtime/meter.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace stoker {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The file contains "CPU time, time ready to run, number of time slices" of the thread that opened it.
class SchedulerFile {
 public:
  SchedulerFile() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~SchedulerFile() {
    if (file_ >= 0) close(file_);
  }
  SchedulerFile(const SchedulerFile&) = delete;
  SchedulerFile& operator=(const SchedulerFile&) = delete;

  int64_t ready_ns() const {
    char text[96] = {};
    if (file_ < 0 || pread(file_, text, sizeof(text) - 1, 0) <= 0) return 0;
    char* after_cpu = nullptr;
    std::strtoll(text, &after_cpu, 10);
    return std::strtoll(after_cpu, nullptr, 10);
  }

 private:
  const int file_;
};

}  // namespace

int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t cpu_time(clockid_t thread_clock) { return read_clock(thread_clock); }

ThreadTime thread_time() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  thread_local const SchedulerFile scheduler;
  return {read_clock(CLOCK_THREAD_CPUTIME_ID), scheduler.ready_ns(), use.ru_nvcsw};
}

void Meter::add_measured(const ThreadTime& begun, const ThreadTime& ended, int64_t took) {
  const bool slept = ended.voluntary_switches > begun.voluntary_switches;
  const int64_t awake = ended.cpu_ns - begun.cpu_ns + ended.ready_ns - begun.ready_ns;
  const int64_t cpu = slept ? std::min(awake, took) : took;
  for (auto* all : {&measured_ns, &recent_ns}) all->fetch_add(took, std::memory_order_relaxed);
  for (auto* on_cpu : {&measured_cpu_ns, &recent_cpu_ns}) on_cpu->fetch_add(cpu, std::memory_order_relaxed);
  if (!reads.load(std::memory_order_relaxed)) return;
  const int64_t since = slept ? 0 : calls_since_sleep.load(std::memory_order_relaxed) + 1;
  calls_since_sleep.store(since, std::memory_order_relaxed);
  waits = since < kAwake;
}

// A function sleeps if it was off the CPU for a tenth of the time, over at least 1 ms of recent calls. It waits if it
// was off the CPU for half of the time, over at least 10 ms. With these minimum times, a single stall changes nothing.
// A function that loaded data in its first call and has computed since then returns to the workers after 100 ms of
// calls.
void Meter::judge() {
  const int64_t all = recent_ns.load(std::memory_order_relaxed);
  const int64_t on_cpu = recent_cpu_ns.load(std::memory_order_relaxed);
  sleeps = all > 1'000'000 && on_cpu < all / 10 * 9;
  if (!reads && all > 10'000'000 && on_cpu < all / 2) waits = true;
  if (!reads && all > 100'000'000 && on_cpu > all / 10 * 9) waits = false;
  if (all < 200'000'000) return;
  recent_ns = all / 2;
  recent_cpu_ns = on_cpu / 2;
}

StageStats Meter::stats() const {
  const auto seconds = [](const std::atomic<int64_t>& ns) { return static_cast<double>(ns.load()) * 1e-9; };
  const double samples = static_cast<double>(std::max<int64_t>(1, working_samples + starved_samples + blocked_samples));
  const auto share = [&](const std::atomic<int64_t>& of) { return static_cast<double>(of.load()) / samples; };
  return {.stage = path,
          .elements = rows,
          .runs = runs,
          .bytes = bytes,
          .busy_seconds = seconds(busy_ns),
          .mean_ns = mean_ns(),
          .spread_ns = spread_ns(),
          .working = share(working_samples),
          .starved = share(starved_samples),
          .blocked = share(blocked_samples),
          .waits = waits,
          .at_once = at_once,
          .user = user,
          .measured_seconds = seconds(measured_ns),
          .on_cpu_seconds = seconds(measured_cpu_ns)};
}

}  // namespace stoker
