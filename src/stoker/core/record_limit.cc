#include "stoker/core/record_limit.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace stoker {
namespace {

constexpr int64_t kLeast = int64_t{1} << 20;  // the buffers of readers are of this order
std::atomic<int64_t (*)()> process_budget{nullptr};

}  // namespace

int64_t record_limit() {
  const auto budget = process_budget.load(std::memory_order_acquire);
  return budget ? std::max(kLeast, budget()) : std::numeric_limits<int64_t>::max();
}

void set_record_limit(int64_t (*budget)()) { process_budget.store(budget, std::memory_order_release); }

Error record_too_large(std::string_view what, const std::string& path, int64_t offset, int64_t limit) {
  const char* advice = limit == record_limit() ? "if the file is right, allow more memory (STOKER_MEMORY)"
                                               : "check that the file has the format that is read";
  Error error = Error::exhausted("the ", what, " at byte ", offset, " of ", path, " has more than the ", limit,
                                 " bytes allowed; ", advice);
  error.set_path(path, offset);
  return error;
}

}  // namespace stoker
