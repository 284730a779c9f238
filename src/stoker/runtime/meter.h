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

namespace stoker {

int64_t now_ns();  // a clock that only goes forward
int64_t cpu_time(clockid_t thread_clock);

// Of the calling thread: time on a CPU, time ready to run when there was none
// free (0 where the kernel does not say), and how often it went to sleep by itself.
struct ThreadTime {
  int64_t cpu_ns = 0;
  int64_t ready_ns = 0;
  int64_t gave_way = 0;
};
ThreadTime thread_time();

// Plain counters of one stage, added to once a run. Mean and spread of the
// service time are of runs, weighted by their rows.
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
  // Calls of the user's, as far as they were measured: all time, and that on
  // the CPU or at least not off it by their own will.
  std::atomic<int64_t> measured_ns{0}, measured_cpu_ns{0};
  // The same of late: what is further back counts for half again and again.
  std::atomic<int64_t> lately_ns{0}, lately_cpu_ns{0};
  std::atomic<bool> sleeps{false};  // off the CPU for a tenth of that
  std::atomic<bool> waits{false};   // for half of it, or declared, or found so by the monitor
  // Declared by a stage of ours that reads, whose files may lie in memory: waits
  // while a measured call slept that is no further back than these.
  std::atomic<bool> reads{false};
  std::atomic<int64_t> calls_since_sleep{0};
  static constexpr int64_t kAwake = 128;
  std::atomic<int64_t> working_samples{0}, starved_samples{0}, blocked_samples{0};
  std::atomic<int64_t> at_once{0};  // calls at once at most; 0: as many as there are threads
  std::atomic<bool> user{false};    // runs a function of the user's
  // Of a stage that holds elements until it is full: what it holds, and will
  // hold; 0 or kEndless: not known.
  std::atomic<int64_t> held_elements{0}, held_bytes{0}, held_in_all{0};

  // What the tuner found for the segment whose line this is, for the epochs
  // after this one.
  std::atomic<size_t> tuned_capacity{0};
  std::atomic<int64_t> tuned_run_rows{0};
  std::atomic<double> tuned_ns_per_row{0}, tuned_bytes_per_row{0};

  // Whether the next call is measured: all at first and while they seem to
  // sleep, then some.
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
  // A call that was measured from its beginning to its end. One that was ready to
  // run and merely had no CPU did not wait.
  void add_measured(const ThreadTime& begun, const ThreadTime& ended, int64_t took);
  // After that, of a user's function: what kind it is.
  void judge();
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

// The meters of one iterator and the ones after it, by path.
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
