#include "stoker/runtime/cache_store.h"

#include <algorithm>

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

// Copies the values into new memory. Fails with ResourceExhausted if the budget has no space, and with DataLoss if the
// file that contains the values was truncated.
Result<Array> copy_of(const Array& array) {
  if (array.rank() == 0 && array.type() != DType::kBytes) return array;
  STOKER_TRY(Array copy, array.clone());
  if (Buffer* owner = copy.owner()) {
    owner->keep_charged();
    owner->freeze();
  }
  return copy;
}

Result<Run> copy_of(const Run& run, int32_t row) {
  Element element;
  element.nest = run.nest;
  for (const Column& column : run.columns) {
    STOKER_TRY(Array copy, copy_of(column.row(row)));
    element.leaves.push_back(std::move(copy));
  }
  return Run::of(std::move(element), run.origins.at(row));
}

// Estimated memory of an entry in addition to its arrays.
constexpr int64_t kEntryBytes = 256;

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

std::optional<Run> CacheStore::find(int64_t position) {
  const MutexLock lock(mutex_);
  auto found = by_position_.find(position);
  if (found == by_position_.end()) return std::nullopt;
  return found->second;
}

void CacheStore::put(int64_t position, const Run& one) {
  PoliteScope polite;
  Result<Run> copy = copy_of(one, 0);
  if (!copy) return;
  const MutexLock lock(mutex_);
  const int64_t bytes = copy->byte_size() + kEntryBytes;
  if (by_position_.emplace(position, *std::move(copy)).second) bytes_ += bytes;
}

void CacheStore::append(int64_t first, const Run& run) {
  PoliteScope polite;
  for (int32_t row = 0; row < run.size; ++row) {
    {
      const MutexLock lock(mutex_);
      if (full_ || first + row > static_cast<int64_t>(in_order_.size())) return;
      if (first + row < static_cast<int64_t>(in_order_.size())) continue;
    }
    Result<Run> copy = copy_of(run, row);  // outside the lock: reclaiming memory may acquire it
    const MutexLock lock(mutex_);
    if (!copy) full_ = copy.error().code() == Code::kResourceExhausted;
    if (!copy || first + row != static_cast<int64_t>(in_order_.size())) return;
    bytes_ += copy->byte_size() + kEntryBytes;
    in_order_.push_back(*std::move(copy));
  }
}

std::optional<Run> CacheStore::read(int64_t first, int64_t most) {
  const MutexLock lock(mutex_);
  const auto kept = static_cast<int64_t>(in_order_.size());
  if (first >= kept) return std::nullopt;
  Run run;
  for (int64_t i = first; i < std::min(kept, first + most); ++i) run.append(in_order_[static_cast<size_t>(i)]);
  return run;
}

void CacheStore::finish(int64_t length) {
  const MutexLock lock(mutex_);
  if (!full_ && length == static_cast<int64_t>(in_order_.size())) length_ = length;
}

std::optional<int64_t> CacheStore::length() {
  const MutexLock lock(mutex_);
  return length_;
}

int64_t CacheStore::bytes() {
  const MutexLock lock(mutex_);
  return bytes_;
}

int64_t CacheStore::elements() {
  const MutexLock lock(mutex_);
  return static_cast<int64_t>(by_position_.size() + in_order_.size());
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
    const MutexLock lock(store->mutex_);
    auto& kept = store->by_position_;
    while (freed < bytes && !kept.empty()) {
      const int64_t entry = kept.begin()->second.byte_size();
      store->bytes_ -= entry + kEntryBytes;
      freed += entry;
      kept.erase(kept.begin());
    }
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
    all.append(with_pass(origins.at(i), own, [&](int64_t pass) { return running * stride + pass % stride; }));
  return all;
}

Origin in_first_pass(const Origin& origin, int64_t stride) {
  return with_pass(origin, false, [&](int64_t pass) { return pass % stride; });
}

}  // namespace stoker
