#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "stoker/core/element.h"
#include "stoker/core/mutex.h"
#include "stoker/runtime/cached_rows.h"

namespace stoker {

// The elements that a `cache` node keeps. Every dataset that is built on the node shares them.
//
// Origins in the store number the sources upstream of the node from 0. Each place that uses the node converts them to
// the numbers of its own graph, and back.
//
// Over a list, the store keeps elements by position while the budget allows it, and may drop them again. Otherwise it
// keeps the first elements, in order.
class CacheStore {
 public:
  // `seeds` identifies the seeds with which the elements are computed. Other seeds need another store.
  static std::shared_ptr<CacheStore> make(uint64_t seeds);
  uint64_t seeds() const { return seeds_; }

  // Returns the rows of the first of these positions, up to one that is not kept; nullopt if the first is not.
  std::optional<Run> find(std::span<const int64_t> positions);
  // Returns the number of positions before the first one that is kept.
  size_t missing(std::span<const int64_t> positions);
  // Copies the rows that did not fail: their blocks may belong to a batch. A row for which the budget has no space is
  // not kept.
  void put(std::span<const int64_t> positions, const Run& run);

  // Appends rows in order. `first` is the ordinal of the first row. Has no effect if the rows before it are not kept.
  void append(int64_t first, const Run& run);
  std::optional<Run> read(int64_t first, int64_t most);
  void finish(int64_t length);
  std::optional<int64_t> length();

  // Drops elements, at least this many bytes if possible. Returns the number of bytes.
  static int64_t reclaim(int64_t bytes);
  // The bytes that are charged to the budget for the cache.
  int64_t bytes() const { return account_->held(); }
  int64_t elements();
  std::atomic<int64_t> expected{0};  // the number of all elements; 0 or kEndless: unknown

 private:
  // Appends rows from `row` on, up to the first that is not small. Returns the number of this row; the size of the run
  // if no more rows are to be appended.
  int32_t append_small(int64_t first, const Run& run, int32_t row);
  bool expects(int64_t ordinal) STOKER_REQUIRES(mutex_) { return !full_ && ordinal == in_order_.size(); }

  uint64_t seeds_ = 0;  // constant after make()
  const std::shared_ptr<CacheAccount> account_ = std::make_shared<CacheAccount>();
  Mutex mutex_;
  CachedRows by_position_ STOKER_GUARDED_BY(mutex_){account_};
  CachedRows in_order_ STOKER_GUARDED_BY(mutex_){account_};
  std::optional<int64_t> length_ STOKER_GUARDED_BY(mutex_);
  bool full_ STOKER_GUARDED_BY(mutex_) = false;  // the budget was exceeded: only the first elements are kept
};

// Converts the origins of cached rows to another place of the node: adds `by` to the numbers of sources, and replaces
// the parent `from` by `to`. A null parent is the outermost graph.
Origins renamed(const Origins& origins, int32_t by, const std::shared_ptr<const Origin>& from,
                const std::shared_ptr<const Origin>& to);

// Upstream of a cache, sources are in the passes 0 to `stride` - 1 of its pass 0. Downstream, they are in those of the
// current pass. In an opened dataset (`own`), that is the pass of the row, otherwise that of the outermost sources.
Origins in_running_pass(const Origins& origins, int64_t running, int64_t stride, bool own);
// Returns the origin upstream of the cache for an origin downstream of it.
Origin in_first_pass(const Origin& origin, int64_t stride);

}  // namespace stoker
