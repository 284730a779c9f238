#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/core/mutex.h"
#include "stoker/runtime/origin_text.h"
#include "stoker/runtime/plan.h"

namespace stoker {

// An element that on_error skipped.
struct SkippedElement {
  std::string origin;
  Error error;
};

// Counts the delivered and the failed elements of one iterator, lists those that on_error skips, and decides when too
// many have failed. A batch counts as the elements in it (Origin::elements).
//
// The consumer calls the functions that add and judge. Any thread may call the others.
class FailureLog {
 public:
  struct Policy {
    bool skip = false;     // otherwise, add() returns every error
    double at_most = 1.0;  // share of the elements that may be skipped
  };

  // The plan must outlive the log. Origins in errors name the passes of the epoch, so that replay finds it.
  FailureLog(const Plan& plan, Policy policy, EpochPasses epoch = {});

  // Records that an item with this many elements was delivered.
  void add_delivered(int32_t elements);
  // Records a failure. Returns the error to deliver, if it is not skipped or if too many elements have failed now.
  Result<void> add(Failure& failure, const Origin& origin);
  // Returns an error if too many elements of the pass that has ended failed.
  Result<void> judge_end();

  // Whether the error that too many elements failed was returned. The iterator has then ended.
  bool has_given_up() const { return has_given_up_.load(std::memory_order_relaxed); }
  int64_t delivered() const { return delivered_.load(std::memory_order_relaxed); }
  int64_t skipped_count() const;
  std::vector<SkippedElement> skipped() const;  // the first 1,000

  // `withdrawn`: the number of elements in an item that counts as delivered and is not; 0: there is none.
  void save(Json& checkpoint, int32_t withdrawn = 0) const;
  // Must be called before the first element is added. Values that are out of range are replaced.
  void restore(const Json& checkpoint);

 private:
  bool share_is_exceeded(double seen) const STOKER_REQUIRES(mutex_);
  double seen() const STOKER_REQUIRES(mutex_);
  Result<void> judge(bool pass_ended) STOKER_REQUIRES(mutex_);
  Error too_many_error(double seen) const STOKER_REQUIRES(mutex_);
  Error nothing_left_error() const STOKER_REQUIRES(mutex_);

  const Plan& plan_;
  const Policy policy_;
  const EpochPasses epoch_;
  const bool is_endless_;  // the dataset

  std::atomic<int64_t> delivered_{0};  // items of the last stage; save() reads it while next() waits
  std::atomic<int64_t> elements_{0};   // in these
  std::atomic<bool> has_given_up_{false};

  mutable Mutex mutex_;
  std::vector<SkippedElement> skipped_ STOKER_GUARDED_BY(mutex_);
  std::optional<Error> last_error_ STOKER_GUARDED_BY(mutex_);  // that was skipped
  int64_t skipped_count_ STOKER_GUARDED_BY(mutex_) = 0;        // items of any stage
  int64_t skipped_elements_ STOKER_GUARDED_BY(mutex_) = 0;     // in these
  int64_t first_failed_pass_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
