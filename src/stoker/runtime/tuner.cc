#include "stoker/runtime/tuner.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr int64_t kTuneIntervalNs = 50'000'000;
constexpr int64_t kShrinkAfterNs = 10'000'000'000;
constexpr size_t kMostSampled = 128;  // segments per call

void sample(Segment& segment) STOKER_REQUIRES(engine_lock) {
  Meter& meter = segment.plan.steps.empty() ? *segment.plan.meter : *segment.plan.steps.back().meter;
  if (segment.running > 0 || segment.line_busy)
    ++meter.working_samples;
  else if (segment.window.size() >= segment.tuning.capacity)
    ++meter.blocked_samples;
  else
    ++meter.starved_samples;
  size_t done = 0;
  for (const auto& ticket : segment.window.tickets()) done += ticket->state == Ticket::State::kDone;
  segment.tuning.least_done = std::min(segment.tuning.least_done, done);
  segment.tuning.undeliverable = segment.head_ready() ? 0 : static_cast<int64_t>(done);
}

// A window that was full and then ran empty grows: with more capacity, more elements could have been prefetched. A
// window that is never full is limited by the work. A window shrinks if more than half of it was never needed, 10 s
// after it last ran empty, because the event that empties it may be rare.
void tune(Tuning& tuning, size_t least, int64_t now) {
  size_t& capacity = tuning.capacity;
  if (tuning.drained) {
    capacity = std::max(capacity, std::min(kMostTickets, capacity * 2));
    tuning.was_full = tuning.drained = false;
    tuning.drained_ns = now;
  } else if (now - tuning.drained_ns > kShrinkAfterNs && tuning.least_done != SIZE_MAX &&
             tuning.least_done > capacity / 2) {
    capacity = std::max(least, capacity - std::max<size_t>(1, capacity / 16));
  }
  tuning.least_done = SIZE_MAX;
}

}  // namespace

void Tuner::sample_and_tune(Schedule& schedule, int64_t now) {
  const Schedule::Segments& all = schedule.segments();
  auto at = all.upper_bound(last_);
  for (size_t left = std::min(all.size(), kMostSampled); left > 0; --left, ++at) {
    if (at == all.end()) at = all.begin();
    Segment& segment = **at;
    last_ = Schedule::place_of(segment);
    sample(segment);
    Tuning& tuning = segment.tuning;
    if (now - tuning.tuned_ns < kTuneIntervalNs) continue;
    tuning.tuned_ns = now;
    const size_t before = tuning.capacity;
    tune(tuning, segment.least_capacity(), now);
    if (tuning.capacity > before) schedule.note_work(segment);
  }
}

}  // namespace stoker
