#include "cli/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace stoker::cli {

double seconds_since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

std::string plural(int64_t count, const char* one, const char* many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

void ProgressLine::begin(prepare::Phase phase) {
  using prepare::Phase;
  line_.clear();
  phase_ = phase;
  begun_ = Clock::now();
  next_ = line_.in_place() ? 0.2 : 5;
  const bool writes = phase == Phase::kDecompress || phase == Phase::kWrite;
  if (!writes)
    until_written_.reset();
  else if (!until_written_)
    until_written_.emplace();
}

void ProgressLine::show(const prepare::Progress& now) {
  if (phase_ != now.phase) begin(now.phase);
  const double seconds = seconds_since(begun_);
  if (quiet_ || now.total == 0 || seconds < next_) return;
  next_ = seconds + (line_.in_place() ? 0.1 : 5);
  line_.show(text(now, seconds));
}

std::string ProgressLine::text(const prepare::Progress& now, double seconds) const {
  const double share = std::min(1.0, static_cast<double>(now.done) / static_cast<double>(now.total));
  const std::string how_far = now.unit == prepare::Unit::kBytes
                                  ? fmt::format("{} of {}", bytes_text(static_cast<double>(now.done)),
                                                bytes_text(static_cast<double>(now.total)))
                                  : fmt::format("{} of {}", grouped(now.done), grouped(now.total));
  std::string left;
  if (share > 0) {
    const auto rest = static_cast<int64_t>(seconds / share - seconds);
    left = fmt::format("  {}:{:02} left", rest / 60, rest % 60);
  }
  return fmt::format("{}{}  {} {}/s  {}/s{}", line_.in_place() ? bar(share, 20) + " " : "", how_far,
                     count_text(static_cast<double>(now.items) / seconds), prepare::name_of(now.item_unit),
                     bytes_text(static_cast<double>(now.bytes) / seconds), left);
}

}  // namespace stoker::cli
