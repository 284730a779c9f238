#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::cli {

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

std::string plural(int64_t count, const char* one, const char* many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

void Progress::advance(int64_t things, int64_t bytes) {
  things_ += things;
  bytes_ += bytes;
  const double seconds = seconds_since(begun_);
  if (work_.quiet || seconds < next_) return;
  next_ = seconds + (line_.in_place() ? 0.1 : 5);
  line_.show(text(seconds));
}

std::string Progress::text(double seconds) const {
  const bool by_bytes = work_.by == By::kBytes;
  const double done = static_cast<double>(by_bytes ? bytes_ : things_);
  const double share = std::min(1.0, done / static_cast<double>(std::max<int64_t>(1, work_.total)));
  const std::string how_far =
      by_bytes ? fmt::format("{} of {}", bytes_words(done), bytes_words(static_cast<double>(work_.total)))
               : fmt::format("{} of {}", grouped(things_), grouped(work_.total));
  std::string left;
  if (share > 0) {
    const auto rest = static_cast<int64_t>(seconds / share - seconds);
    left = fmt::format("  {}:{:02} left", rest / 60, rest % 60);
  }
  return fmt::format("{}{}  {} {}/s  {}/s{}", line_.in_place() ? bar(share, 20) + " " : "", how_far,
                     count_words(static_cast<double>(things_) / seconds), work_.things,
                     bytes_words(static_cast<double>(bytes_) / seconds), left);
}

}  // namespace stoker::cli
