#include "stoker/runtime/budget.h"

#include <algorithm>

#include "stoker/core/record_limit.h"
#include "stoker/runtime/machine.h"
#include "stoker/runtime/settings.h"

namespace stoker {
namespace {

int64_t default_limit() {
  const Result<Settings>& settings = process_settings();
  if (settings && settings->memory_bytes) return *settings->memory_bytes;
  return std::max<int64_t>(read_machine().memory_bytes / 4, int64_t{16} << 20);
}

// Readers in lower modules get the limit on record sizes from here.
[[maybe_unused]] const bool limits_records = (set_record_limit([] { return Budget::process().limit(); }), true);

}  // namespace

Budget& Budget::process() {
  static auto* budget = new Budget(default_limit());
  return *budget;
}

void Budget::set_limit(int64_t bytes) {
  limit_.store(bytes, std::memory_order_relaxed);
  Buffer::set_most_idle(std::min<int64_t>(bytes / 4, int64_t{256} << 20));
}

void Budget::note_peak(int64_t used) {
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

bool Budget::try_take(int64_t bytes) {
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + bytes + reserved_.load(std::memory_order_relaxed) > limit()) {
      note_refusal();
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  note_peak(used + bytes);
  return true;
}

void Budget::take(int64_t bytes) { note_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes); }

void Budget::give_back(int64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  if (refused_.load(std::memory_order_relaxed) && refused_.exchange(false) && on_room_) on_room_();
}

}  // namespace stoker
