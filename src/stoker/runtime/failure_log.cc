#include "stoker/runtime/failure_log.h"

#include <algorithm>

#include "stoker/core/hash.h"

namespace stoker {
namespace {

constexpr size_t kMostSkipped = 1000;  // skipped elements that skipped() lists

// Returns a count from a checkpoint, which may contain any value.
int64_t clamped_count(const Json* json, int64_t missing) {
  const int64_t* count = json ? json->as<int64_t>() : nullptr;
  return count ? std::clamp<int64_t>(*count, 0, int64_t{1} << 60) : missing;
}

bool is_endless(const Node& node) {
  const Result<int64_t> cardinality = cardinality_of(node, Counting::kAsKnown);
  return cardinality && *cardinality == kInfinite;
}

int64_t pass_of(const Origin& origin) {
  if (origin.parent) return pass_of(*origin.parent);
  return origin.members && !origin.members->empty() ? pass_of(origin.members->front()) : origin.pass;
}

// A user function can raise a message of any length.
Error with_short_message(Error error) {
  constexpr size_t kMostBytes = 2000;
  if (error.message().size() <= kMostBytes) return error;
  Error shorter(error.code(), shortened(error.message(), kMostBytes));
  shorter.at() = error.place();
  return shorter;
}

// One thread at a time calls this, so no addition is lost.
void increase(std::atomic<int64_t>& count, int64_t by) {
  count.store(count.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

FailureLog::FailureLog(const Plan& plan, Policy policy, EpochPasses epoch)
    : plan_(plan), policy_(policy), epoch_(std::move(epoch)), is_endless_(policy.skip && is_endless(*plan.node)) {}

void FailureLog::add_delivered(int32_t elements) {
  increase(delivered_, 1);
  increase(elements_, elements);
}

Result<void> FailureLog::add(Failure& failure, const Origin& origin) {
  // on_error does not apply if the function was cancelled or ended the program.
  if (!policy_.skip || failure.error.code() == Code::kCancelled || !failure.error.is_skippable()) {
    Error raised = with_provenance(failure.error, origin, plan_, epoch_);
    failure.error.set_cause(nullptr);  // the returned error owns the cause
    return raised;
  }
  // An exception keeps its stack frames and their variables alive. It is released here, before a lock is acquired,
  // because releasing it may acquire the interpreter's lock.
  failure.error.set_cause(nullptr);
  bool is_listed = false;
  {
    const MutexLock lock(mutex_);
    is_listed = skipped_.size() < kMostSkipped;
  }
  const Error error =
      is_listed ? with_short_message(with_provenance(failure.error, origin, plan_, epoch_)) : failure.error;
  const MutexLock lock(mutex_);
  if (skipped_.empty()) first_failed_pass_ = pass_of(origin);
  // An endless dataset has no end at which failures are judged. Instead, its first pass is judged if an element of
  // another pass fails before any element was delivered.
  const bool pass_ended = delivered() == 0 && pass_of(origin) != first_failed_pass_ && is_endless_;
  if (!pass_ended) {
    ++skipped_count_;
    skipped_elements_ += origin.elements;
  }
  last_error_ = error;
  if (is_listed) skipped_.push_back({error.place().origin.empty() ? origin.describe() : error.place().origin, error});
  return judge(pass_ended);
}

Result<void> FailureLog::judge_end() {
  const MutexLock lock(mutex_);
  return judge(true);
}

double FailureLog::seen() const {
  return static_cast<double>(elements_.load(std::memory_order_relaxed)) + static_cast<double>(skipped_elements_);
}

bool FailureLog::share_is_exceeded(double seen) const {
  return static_cast<double>(skipped_elements_) > policy_.at_most * seen;
}

// Compares the number of skipped elements with the limit of on_error, after at least 100 elements and at the end. A
// pass without any delivered element is always an error: otherwise, a loop over it would wait indefinitely or train on
// no data.
Result<void> FailureLog::judge(bool pass_ended) {
  if (skipped_count_ == 0 || has_given_up()) return {};
  const double all = seen();
  const bool nothing_left = pass_ended && delivered() == 0;
  const bool too_many = (pass_ended || all >= 100) && share_is_exceeded(all);
  if (!nothing_left && !too_many) return {};
  has_given_up_ = true;
  return nothing_left ? nothing_left_error() : too_many_error(all);
}

Error FailureLog::too_many_error(double seen) const {
  if (!last_error_)  // the failures were counted before a restore
    return Error::precondition(skipped_elements_,
                               " elements failed, more than on_error allows; fix them or raise at_most");
  Error error =
      Error::precondition(skipped_elements_, " of ", static_cast<int64_t>(std::min(seen, 1e18)),
                          " elements failed, more than the share of ", policy_.at_most,
                          " that on_error allows; fix them or raise at_most; last error: ", last_error_->message());
  error.at() = last_error_->place();
  return error;
}

Error FailureLog::nothing_left_error() const {
  const size_t listed = std::min<size_t>(3, skipped_.size());
  std::string first_errors = listed > 1 ? "; first errors: " : "; first error: ";
  for (size_t i = 0; i < listed; ++i)
    first_errors += (i > 0 ? "; " : "") + skipped_[i].origin + ": " + skipped_[i].error.message();
  if (listed == 0) first_errors.clear();
  const Code code = skipped_.empty() ? Code::kFailedPrecondition : skipped_.front().error.code();
  Error error = Error::of(code, "all ", skipped_elements_, " elements failed and were skipped", first_errors);
  if (!skipped_.empty()) error.at() = skipped_.front().error.place();
  return error;
}

int64_t FailureLog::skipped_count() const {
  const MutexLock lock(mutex_);
  return skipped_count_;
}

std::vector<SkippedElement> FailureLog::skipped() const {
  const MutexLock lock(mutex_);
  return skipped_;
}

// A value that equals its default is omitted: `elements` defaults to `delivered`, `skipped_elements` to `skipped`.
void FailureLog::save(Json& checkpoint, int32_t withdrawn) const {
  const MutexLock lock(mutex_);
  const int64_t delivered = delivered_.load() - (withdrawn > 0);
  const int64_t elements = elements_.load() - withdrawn;
  checkpoint.set("delivered", delivered);
  if (elements != delivered) checkpoint.set("elements", elements);
  if (skipped_count_ > 0) checkpoint.set("skipped", skipped_count_);
  if (skipped_elements_ != skipped_count_) checkpoint.set("skipped_elements", skipped_elements_);
  if (has_given_up()) checkpoint.set("gave_up", true);
}

// A higher at_most than before the restore continues the iterator.
void FailureLog::restore(const Json& checkpoint) {
  const MutexLock lock(mutex_);
  delivered_ = clamped_count(checkpoint.find("delivered"), 0);
  elements_ = clamped_count(checkpoint.find("elements"), delivered_);
  skipped_count_ = clamped_count(checkpoint.find("skipped"), 0);
  skipped_elements_ = clamped_count(checkpoint.find("skipped_elements"), skipped_count_);
  const Json* gave_up = checkpoint.find("gave_up");
  has_given_up_ = gave_up && *gave_up == Json(true) && policy_.skip && (delivered_ == 0 || share_is_exceeded(seen()));
}

}  // namespace stoker
