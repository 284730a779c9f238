#include "stoker/core/record_limit.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace stoker {
namespace {

constexpr int64_t kLeast = int64_t{1} << 20;  // readers have buffers of about this size
std::atomic<int64_t (*)()> process_budget{nullptr};

}  // namespace

int64_t record_limit() {
  const auto budget = process_budget.load(std::memory_order_acquire);
  return budget ? std::max(kLeast, budget()) : std::numeric_limits<int64_t>::max();
}

void set_record_limit(int64_t (*budget)()) { process_budget.store(budget, std::memory_order_release); }

Error record_too_large(std::string_view what, const std::string& path, int64_t offset, int64_t limit) {
  const char* advice = limit == record_limit() ? "if the file is correct, set STOKER_MEMORY to a larger value"
                                               : "check that the file has the expected format";
  Error error = Error::exhausted("the ", what, " at byte ", offset, " of ", path, " is larger than the limit of ",
                                 limit, " bytes; ", advice);
  error.set_path(path, offset);
  return error;
}

}  // namespace stoker
