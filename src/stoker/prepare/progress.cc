#include "stoker/prepare/progress.h"

#include <chrono>

namespace stoker::prepare {
namespace {

constexpr std::chrono::milliseconds kInterval{50};

int64_t steady_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

}  // namespace

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kFind: return "find";
    case Phase::kDecompress: return "decompress";
    case Phase::kRead: return "read";
    case Phase::kWrite: return "write";
  }
  return "";
}

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::kFiles: return "files";
    case Unit::kImages: return "images";
    case Unit::kRecords: return "records";
    case Unit::kBytes: return "bytes";
  }
  return "";
}

Reporter::Reporter(const OnProgress& on_progress, const Progress& start) : on_progress_(on_progress), now_(start) {
  send();
}

void Reporter::advance(int64_t items, int64_t bytes) {
  now_.items += items;
  now_.bytes += bytes;
  now_.done = now_.unit == Unit::kBytes ? now_.bytes : now_.items;
  if (!on_progress_) return;
  const int64_t now_ns = steady_ns();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + std::chrono::nanoseconds(kInterval).count();
  send();
}

void Reporter::finish() const { send(); }

void Reporter::send() const {
  if (on_progress_) on_progress_(now_);
}

}  // namespace stoker::prepare
