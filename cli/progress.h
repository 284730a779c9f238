#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/terminal.h"

namespace stoker::cli {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begun);

// "1 record", "2 records"
std::string plural(int64_t count, const char* one, const char* many);

// How far the work has come: in place on a terminal, else a line now and then.
class Progress {
 public:
  enum class By : uint8_t { kThings, kBytes };  // what the total is of
  struct Work {
    const char* things;  // "pictures"
    int64_t total;
    By by = By::kThings;
    bool quiet = false;
  };
  explicit Progress(Work work) : work_(work) {}
  ~Progress() { line_.clear(); }

  void advance(int64_t things, int64_t bytes);

 private:
  std::string text(double seconds) const;

  const Work work_;
  const Clock::time_point begun_ = Clock::now();
  LiveLine line_{/*on_errors=*/true};
  double next_ = line_.in_place() ? 0.2 : 5;
  int64_t things_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace stoker::cli
