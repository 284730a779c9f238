#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "stoker/core/interrupt.h"
#include "stoker/prepare/progress.h"

namespace stoker::cli {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begun);

// "1 record", "2 records"
std::string plural(int64_t count, const char* one, const char* many);

// Prints the progress of a call into stoker/prepare on standard error: one line that is updated on a terminal, and a
// new line every 5 s otherwise. The line is removed by the destructor.
//
// During the lifetime of the object, a signal cancels such a call on this thread. While files are written, a second
// signal does not exit the process: the call removes partial files first.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : quiet_(quiet) {}
  ~ProgressLine() { line_.clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Passes the updates to the line. The function must not outlive the object.
  prepare::OnProgress updates() {
    return [this](const prepare::Progress& now) { show(now); };
  }
  void clear() { line_.clear(); }

 private:
  void show(const prepare::Progress& now);
  void begin(prepare::Phase phase);
  std::string text(const prepare::Progress& now, double seconds) const;

  const bool quiet_;
  const InterruptScope scope_{&interrupted};
  std::optional<Uninterrupted> until_written_;
  LiveLine line_{/*on_errors=*/true};
  std::optional<prepare::Phase> phase_;
  Clock::time_point begun_ = Clock::now();  // of the phase
  double next_ = 0;                         // when to show the line again, in seconds of the phase
};

}  // namespace stoker::cli
