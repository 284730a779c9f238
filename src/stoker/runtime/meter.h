#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/runtime/loader_stats.h"

namespace stoker {

int64_t now_ns();  // monotonic clock
int64_t cpu_time(clockid_t thread_clock);

// Of the calling thread: time on a CPU, time ready to run without a free CPU (0 if the kernel does not report it), and
// the number of voluntary sleeps.
struct ThreadTime {
  int64_t cpu_ns = 0;
  int64_t ready_ns = 0;
  int64_t voluntary_switches = 0;
};
ThreadTime thread_time();

// The counters of one stage, updated once per run. The mean and the spread of the service time are those of runs,
// weighted by their rows.
struct Meter {
  std::string path;  // "flat_map/text_lines", the stage within its graph
  std::string location;
  std::atomic<int64_t> rows{0};
  std::atomic<int64_t> runs{0};
  std::atomic<int64_t> bytes{0};
  std::atomic<int64_t> failures{0};
  std::atomic<int64_t> busy_ns{0};
  std::atomic<double> squares{0};  // of ns per row, for the spread
  std::atomic<int32_t> calls{0};   // in progress
  // Of measured calls of user functions: total time, and time on the CPU or ready to run.
  std::atomic<int64_t> measured_ns{0}, measured_cpu_ns{0};
  // The same for recent calls: older ones lose half of their weight again and again.
  std::atomic<int64_t> recent_ns{0}, recent_cpu_ns{0};
  std::atomic<bool> sleeps{false};  // off the CPU for a tenth of that time
  std::atomic<bool> waits{false};   // off the CPU for half of that time, or declared, or detected by the monitor
  // Declared by a built-in stage that reads files, which may be in the page cache. The stage counts as waiting if one
  // of the last calls slept; this is the number of calls since then.
  std::atomic<bool> reads{false};
  std::atomic<int64_t> calls_since_sleep{0};
  static constexpr int64_t kAwake = 128;
  std::atomic<int64_t> working_samples{0}, starved_samples{0}, blocked_samples{0};
  std::atomic<int64_t> at_once{0};  // maximum of concurrent calls; 0: one per thread
  std::atomic<bool> user{false};    // runs a user function
  // Of a stage with a buffer: the elements in it now, and when it is full. 0 or kEndless: unknown.
  std::atomic<int64_t> held_elements{0}, held_bytes{0}, held_in_all{0};

  // The result of tuning the segment of this line, for later epochs.
  std::atomic<size_t> tuned_capacity{0};
  std::atomic<int64_t> tuned_run_rows{0};
  std::atomic<double> tuned_ns_per_row{0}, tuned_bytes_per_row{0};

  // Whether the next call is measured: every call at first and while calls sleep, then some.
  bool is_measured() const {
    const int64_t n = runs.load(std::memory_order_relaxed);
    return n < 1000 || n % 64 == 0 || sleeps.load(std::memory_order_relaxed) ||
           (reads.load(std::memory_order_relaxed) && waits.load(std::memory_order_relaxed));
  }
  void add(int64_t run_rows, int64_t ns, int64_t run_bytes) {
    rows.fetch_add(run_rows, std::memory_order_relaxed);
    runs.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(run_bytes, std::memory_order_relaxed);
    busy_ns.fetch_add(ns, std::memory_order_relaxed);
    if (run_rows == 0) return;
    const double each = static_cast<double>(ns) / static_cast<double>(run_rows);
    squares.fetch_add(each * each * static_cast<double>(run_rows), std::memory_order_relaxed);
  }
  // Adds a measured call. Time in which the thread was ready to run without a free CPU is not waiting.
  void add_measured(const ThreadTime& begun, const ThreadTime& ended, int64_t took);
  // Classifies a user function after a measured call.
  void judge();
  StageStats stats() const;
  double mean_ns() const {
    const int64_t n = rows.load(std::memory_order_relaxed);
    return n > 0 ? static_cast<double>(busy_ns.load(std::memory_order_relaxed)) / static_cast<double>(n) : 0;
  }
  double spread_ns() const {
    const auto n = static_cast<double>(rows.load(std::memory_order_relaxed));
    if (n == 0) return 0;
    const double mean = mean_ns();
    return std::sqrt(std::max(0.0, squares.load(std::memory_order_relaxed) / n - mean * mean));
  }
};

// The meters of a dataset's iterators, by path.
class Meters {
 public:
  Meter* find(const std::string& path, const std::string& location = {}) {
    const MutexLock lock(mutex_);
    auto& meter = by_path_[path];
    if (!meter) {
      meter = std::make_unique<Meter>();
      meter->path = path;
      meter->location = location;
      order_.push_back(meter.get());
    }
    return meter.get();
  }
  std::vector<const Meter*> all() const {
    const MutexLock lock(mutex_);
    return order_;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Meter>> by_path_ STOKER_GUARDED_BY(mutex_);
  std::vector<const Meter*> order_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
