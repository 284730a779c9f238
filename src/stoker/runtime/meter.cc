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

// "CPU time, time ready to run, slices": of the thread that opened it, as long
// as that lives.
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
    char* behind_cpu = nullptr;
    std::strtoll(text, &behind_cpu, 10);
    return std::strtoll(behind_cpu, nullptr, 10);
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
  const bool slept = ended.gave_way > begun.gave_way;
  const int64_t awake = ended.cpu_ns - begun.cpu_ns + ended.ready_ns - begun.ready_ns;
  const int64_t cpu = slept ? std::min(awake, took) : took;
  for (auto* all : {&measured_ns, &lately_ns}) all->fetch_add(took, std::memory_order_relaxed);
  for (auto* on_cpu : {&measured_cpu_ns, &lately_cpu_ns}) on_cpu->fetch_add(cpu, std::memory_order_relaxed);
  if (!reads.load(std::memory_order_relaxed)) return;
  const int64_t since = slept ? 0 : calls_since_sleep.load(std::memory_order_relaxed) + 1;
  calls_since_sleep.store(since, std::memory_order_relaxed);
  waits = since < kAwake;
}

// A stall now and then is no habit: over 1 ms of calls a tenth must be sleep,
// over 10 ms half of it makes a function that waits. One that has loaded
// something in its first call and has computed ever since does not wait any more.
void Meter::judge() {
  const int64_t all = lately_ns.load(std::memory_order_relaxed);
  const int64_t on_cpu = lately_cpu_ns.load(std::memory_order_relaxed);
  sleeps = all > 1'000'000 && on_cpu < all / 10 * 9;
  if (!reads && all > 10'000'000 && on_cpu < all / 2) waits = true;
  if (!reads && all > 100'000'000 && on_cpu > all / 10 * 9) waits = false;
  if (all < 200'000'000) return;
  lately_ns = all / 2;
  lately_cpu_ns = on_cpu / 2;
}

}  // namespace stoker
