#include "stoker/runtime/meter.h"

#include <sys/resource.h>

#include <ctime>

namespace stoker {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t cpu_time(clockid_t thread_clock) { return read_clock(thread_clock); }

ThreadTime thread_time() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return {read_clock(CLOCK_THREAD_CPUTIME_ID), use.ru_nvcsw};
}

}  // namespace stoker
