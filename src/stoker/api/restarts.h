#pragma once

#include <cstdint>
#include <memory>

#include "stoker/core/mutex.h"

namespace stoker {

struct Node;

// Iterators that were dropped, one after the other, when they had given one
// batch or none: each step of such a loop sees the first batch again.
class Restarts {
 public:
  struct Row {
    int64_t iterators = 0;
    double start_seconds = 0;  // until the first batch, of one of them
  };

  // One that was left. It began well if it gave more, or came to its end.
  void note(int64_t batches, bool ended, double start_seconds);
  Row row() const;
  // True once, when the row has grown to this length.
  bool reaches(int64_t iterators);

  // What all loaders of the process have done to one data set.
  static std::shared_ptr<Restarts> of(const Node& node);

 private:
  mutable Mutex mutex_;
  int64_t iterators_ STOKER_GUARDED_BY(mutex_) = 0;
  double seconds_ STOKER_GUARDED_BY(mutex_) = 0;
  bool reached_ STOKER_GUARDED_BY(mutex_) = false;
};

}  // namespace stoker
