#pragma once

#include <cstdint>
#include <memory>

#include "stoker/core/mutex.h"

namespace stoker {

struct Node;

// Counts iterators that were dropped one after the other after at most one batch.
// In a loop that does this, every step gets the first batch. Safe from several
// threads.
class Restarts {
 public:
  struct Row {
    int64_t iterators = 0;
    double start_seconds = 0;  // mean time until the first batch
  };

  // Records a dropped iterator. One that delivered more than one batch, or reached
  // its end, resets the count.
  void note(int64_t batches, bool ended, double start_seconds);
  Row row() const;
  // Returns true once, when this many iterators have been counted.
  bool reaches(int64_t iterators);

  // The counter of a dataset, shared by all loaders of the process.
  static std::shared_ptr<Restarts> of(const Node& node);

 private:
  mutable Mutex mutex_;
  int64_t iterators_ STOKER_GUARDED_BY(mutex_) = 0;
  double seconds_ STOKER_GUARDED_BY(mutex_) = 0;
  bool reached_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
