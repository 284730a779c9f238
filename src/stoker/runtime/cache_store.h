#pragma once

#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/core/mutex.h"

namespace stoker {

// The elements a `cache` node keeps, shared by every data set built on it.
//
// Origins in it number the sources below the node from 0; places that use the
// node move them to the numbers of their own graph, and back.
//
// Over a list it keeps any element that there is room for, by position, and
// may drop them again; over anything else the first ones, in order.
class CacheStore {
 public:
  static std::shared_ptr<CacheStore> make();

  // A copy of the row's memory is kept: the run's own block may be a batch's.
  std::optional<Run> find(int64_t position);
  void put(int64_t position, const Run& one);

  // In order. `first` is the first row of `run`; nothing happens when the rows
  // before it are not kept.
  void append(int64_t first, const Run& run);
  std::optional<Run> read(int64_t first, int64_t most);
  void finish(int64_t length);
  std::optional<int64_t> length();

  // Gives dropped bytes back; at least so many if it can.
  static int64_t reclaim(int64_t bytes);
  int64_t bytes();
  int64_t elements();
  std::atomic<int64_t> expected{0};  // elements in all; 0 or kEndless: not known

 private:
  Mutex mutex_;
  std::unordered_map<int64_t, Run> by_position_ STOKER_GUARDED_BY(mutex_);
  std::vector<Run> in_order_ STOKER_GUARDED_BY(mutex_);
  std::optional<int64_t> length_ STOKER_GUARDED_BY(mutex_);
  bool full_ STOKER_GUARDED_BY(mutex_) = false;  // there was no room: what is kept is a prefix
  int64_t bytes_ STOKER_GUARDED_BY(mutex_) = 0;
};

// The origins of a cache's rows for another place of its node: sources numbered
// further by `by`, in the child that `parent` opened, if any.
Origins renamed(const Origins& origins, int32_t by, const std::shared_ptr<const Origin>& parent);

// Below a cache sources are in the passes 0 to `stride` - 1 of its pass 0;
// downstream of it in those of the running one. In a child (`own`) that is the
// row's own pass, else that of the outermost sources.
Origins in_running_pass(const Origins& origins, int64_t running, int64_t stride, bool own);
// The origin that it has below the cache, of one that it has downstream.
Origin in_first_pass(const Origin& origin, int64_t stride);

}  // namespace stoker
