#include "stoker/runtime/cache_store.h"

#include <algorithm>
#include <vector>

namespace stoker {
namespace {

// All caches of the process, for reclaim().
struct Stores {
  Mutex mutex;
  std::vector<std::weak_ptr<CacheStore>> stores STOKER_GUARDED_BY(mutex);
  size_t purge_at STOKER_GUARDED_BY(mutex) = 0;  // the size at which expired stores are removed
};
Stores& all_stores() {
  static auto* stores = new Stores;
  return *stores;
}

}  // namespace

std::shared_ptr<CacheStore> CacheStore::make(uint64_t seeds) {
  auto store = std::make_shared<CacheStore>();
  store->seeds_ = seeds;
  Stores& all = all_stores();
  const MutexLock lock(all.mutex);
  if (all.stores.size() >= all.purge_at) {  // when the list has doubled, so that many caches take linear time
    std::erase_if(all.stores, [](const auto& old) { return old.expired(); });
    all.purge_at = std::max<size_t>(16, 2 * all.stores.size());
  }
  all.stores.push_back(store);
  return store;
}

std::optional<Run> CacheStore::find(std::span<const int64_t> positions) {
  const MutexLock lock(mutex_);
  Run all;
  for (size_t i = 0; i < positions.size(); i = static_cast<size_t>(all.size)) {
    size_t end = i + 1;  // of consecutive positions
    while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
    std::optional<Run> rows = by_position_.find(positions[i], static_cast<int64_t>(end - i));
    if (!rows || (all.size > 0 && rows->nest != all.nest)) break;
    all.append(*std::move(rows));
  }
  return all.size > 0 ? std::optional(std::move(all)) : std::nullopt;
}

size_t CacheStore::missing(std::span<const int64_t> positions) {
  const MutexLock lock(mutex_);
  const auto kept = std::ranges::find_if(
      positions, [&](int64_t position) STOKER_REQUIRES(mutex_) { return by_position_.has(position); });
  return static_cast<size_t>(kept - positions.begin());
}

void CacheStore::put(std::span<const int64_t> positions, const Run& run) {
  std::vector<int32_t> large;
  {
    const MutexLock lock(mutex_);
    bool may_grow = true;  // requesting space again for each row would delay other work
    for (int32_t row = 0; row < run.size; ++row) {
      if (run.failure_of(row)) continue;
      if (!CachedRows::is_small(run, row))
        large.push_back(row);
      else if (by_position_.put(positions[static_cast<size_t>(row)], run, row, may_grow) == CachedRows::Put::kNoSpace)
        may_grow = false;
    }
  }
  for (const int32_t row : large) {
    Result<CachedRows::Own> copy = CachedRows::copy_of(run, row, account_);
    if (!copy) continue;
    const MutexLock lock(mutex_);
    by_position_.put(positions[static_cast<size_t>(row)], *std::move(copy));
  }
}

int32_t CacheStore::append_small(int64_t first, const Run& run, int32_t row) {
  const MutexLock lock(mutex_);
  for (; row < run.size; ++row) {
    if (first + row < in_order_.size()) continue;
    if (!expects(first + row)) return run.size;
    if (!CachedRows::is_small(run, row)) return row;
    const CachedRows::Put done = in_order_.put(first + row, run, row);
    full_ = done == CachedRows::Put::kNoSpace;
    if (done != CachedRows::Put::kDone) return run.size;
  }
  return run.size;
}

void CacheStore::append(int64_t first, const Run& run) {
  for (int32_t row = append_small(first, run, 0); row < run.size; row = append_small(first, run, row + 1)) {
    Result<CachedRows::Own> copy = CachedRows::copy_of(run, row, account_);
    const MutexLock lock(mutex_);
    if (!copy) full_ = copy.error().code() == Code::kResourceExhausted;
    if (!copy || !expects(first + row)) return;
    in_order_.put(first + row, *std::move(copy));
  }
}

std::optional<Run> CacheStore::read(int64_t first, int64_t most) {
  const MutexLock lock(mutex_);
  return in_order_.find(first, most);
}

void CacheStore::finish(int64_t length) {
  const MutexLock lock(mutex_);
  if (full_ || length != in_order_.size()) return;
  length_ = length;
  expected = length;
}

std::optional<int64_t> CacheStore::length() {
  const MutexLock lock(mutex_);
  return length_;
}

int64_t CacheStore::elements() {
  const MutexLock lock(mutex_);
  return by_position_.size() + in_order_.size();
}

int64_t CacheStore::reclaim(int64_t bytes) {
  std::vector<std::shared_ptr<CacheStore>> stores;
  {
    Stores& all = all_stores();
    const MutexLock lock(all.mutex);
    for (const auto& weak : all.stores)
      if (auto store = weak.lock()) stores.push_back(std::move(store));
  }
  int64_t freed = 0;
  for (const auto& store : stores) {
    if (freed >= bytes) break;
    const MutexLock lock(store->mutex_);
    freed += store->by_position_.drop(bytes - freed);
  }
  return freed;
}

namespace {

using Parent = std::shared_ptr<const Origin>;

int depth_of(const Parent& parent) {
  int depth = 0;
  for (const Origin* at = parent.get(); at; at = at->parent.get()) ++depth;
  return depth;
}

// Renames the part of an origin that refers to the graph of the cache. Parts that refer to its children are unchanged.
Origin renamed(Origin origin, int32_t by, const Parent& parent, int depth) {
  if (depth_of(origin.parent) > depth) {
    origin.parent = std::make_shared<const Origin>(renamed(*origin.parent, by, parent, depth));
  } else if (origin.members) {
    std::vector<Origin> members;
    for (const Origin& member : *origin.members) members.push_back(renamed(member, by, parent, depth));
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(members));
  } else {
    origin.source += by;
    origin.parent = parent;
  }
  return origin;
}

}  // namespace

Origins renamed(const Origins& origins, int32_t by, const Parent& from, const Parent& to) {
  if (by == 0 && from == to) return origins;
  const int depth = depth_of(from);
  Origins all;
  for (int64_t i = 0; i < origins.size(); ++i) all.append(renamed(origins.at(i), by, to, depth));
  return all;
}

namespace {

template <typename Change>
Origin with_pass(Origin origin, bool own, const Change& change) {
  if (!own && origin.parent) {
    origin.parent = std::make_shared<const Origin>(with_pass(*origin.parent, own, change));
  } else if (!own && origin.members) {
    std::vector<Origin> members;
    for (const Origin& member : *origin.members) members.push_back(with_pass(member, own, change));
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(members));
  } else {
    origin.pass = change(origin.pass);
  }
  return origin;
}

}  // namespace

Origins in_running_pass(const Origins& origins, int64_t running, int64_t stride, bool own) {
  Origins all;
  if (stride == 1) {  // every origin has pass 0
    all = origins;
    all.set_passes({&running, 1}, own);
    return all;
  }
  for (int64_t i = 0; i < origins.size(); ++i)
    all.append(
        with_pass(origins.at(i), own, [&](int64_t pass) { return pass_number(running, stride, pass % stride); }));
  return all;
}

Origin in_first_pass(const Origin& origin, int64_t stride) {
  return with_pass(origin, false, [&](int64_t pass) { return pass % stride; });
}

}  // namespace stoker
