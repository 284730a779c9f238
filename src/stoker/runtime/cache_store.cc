#include "stoker/runtime/cache_store.h"

#include <algorithm>

namespace stoker {
namespace {

struct Known {
  std::mutex mutex;
  std::vector<std::weak_ptr<CacheStore>> stores;
};
Known& known() {
  static auto* all = new Known;
  return *all;
}

// The same values in memory of their own; nothing when there is no room.
std::optional<Array> copy_of(const Array& array) {
  if (array.rank() == 0 && array.type() != DType::kBytes) return array;
  std::optional<Array> copy;
  if (array.type() == DType::kBytes) {
    std::vector<Bytes> texts;
    for (int64_t i = 0, n = array.count(); i < n; ++i) texts.push_back(array.bytes_at(i));
    Result<Array> made = Array::of_strings(texts, array.dims());
    if (made) copy = *std::move(made);
  } else {
    Result<Array> made = Array::make(array.dims(), array.type());
    if (made) {
      std::memcpy(made->raw(), array.raw(), static_cast<size_t>(array.byte_size()));
      copy = *std::move(made);
    }
  }
  if (copy && copy->owner()) copy->owner()->keep_charged();
  return copy;
}

std::optional<Run> copy_of(const Run& run, int32_t row) {
  Element element;
  element.nest = run.nest;
  for (const Column& column : run.columns) {
    std::optional<Array> copy = copy_of(column.row(row));
    if (!copy) return std::nullopt;
    element.leaves.push_back(*std::move(copy));
  }
  return Run::of(std::move(element), run.origins.at(row));
}

// What an entry costs beside its arrays.
constexpr int64_t kEntryBytes = 256;

}  // namespace

std::shared_ptr<CacheStore> CacheStore::make() {
  auto store = std::make_shared<CacheStore>();
  std::lock_guard lock(known().mutex);
  std::erase_if(known().stores, [](const auto& old) { return old.expired(); });
  known().stores.push_back(store);
  return store;
}

std::optional<Run> CacheStore::find(int64_t position) {
  std::lock_guard lock(mutex_);
  auto found = by_position_.find(position);
  if (found == by_position_.end()) return std::nullopt;
  return found->second;
}

void CacheStore::put(int64_t position, const Run& one) {
  PoliteScope polite;
  std::optional<Run> copy = copy_of(one, 0);
  if (!copy) return;
  std::lock_guard lock(mutex_);
  bytes_ += copy->byte_size() + kEntryBytes;
  by_position_.insert_or_assign(position, *std::move(copy));
}

void CacheStore::append(int64_t first, const Run& run) {
  PoliteScope polite;
  for (int32_t row = 0; row < run.size; ++row) {
    {
      std::lock_guard lock(mutex_);
      if (full_ || first + row > static_cast<int64_t>(in_order_.size())) return;
      if (first + row < static_cast<int64_t>(in_order_.size())) continue;
    }
    std::optional<Run> copy = copy_of(run, row);  // outside the lock: making room may want it
    std::lock_guard lock(mutex_);
    if (!copy) full_ = true;
    if (full_ || first + row != static_cast<int64_t>(in_order_.size())) return;
    bytes_ += copy->byte_size() + kEntryBytes;
    in_order_.push_back(*std::move(copy));
  }
}

std::optional<Run> CacheStore::read(int64_t first, int64_t most) {
  std::lock_guard lock(mutex_);
  const auto kept = static_cast<int64_t>(in_order_.size());
  if (first >= kept) return std::nullopt;
  Run run;
  for (int64_t i = first; i < std::min(kept, first + most); ++i) run.append(in_order_[static_cast<size_t>(i)]);
  return run;
}

void CacheStore::finish(int64_t length) {
  std::lock_guard lock(mutex_);
  if (!full_ && length == static_cast<int64_t>(in_order_.size())) length_ = length;
}

std::optional<int64_t> CacheStore::length() {
  std::lock_guard lock(mutex_);
  return length_;
}

int64_t CacheStore::bytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

int64_t CacheStore::elements() {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(by_position_.size() + in_order_.size());
}

int64_t CacheStore::reclaim(int64_t bytes) {
  std::vector<std::shared_ptr<CacheStore>> stores;
  {
    std::lock_guard lock(known().mutex);
    for (const auto& weak : known().stores)
      if (auto store = weak.lock()) stores.push_back(std::move(store));
  }
  int64_t freed = 0;
  for (const auto& store : stores) {
    std::lock_guard lock(store->mutex_);
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

// What the graph of the cache names is renamed; what its children name is theirs.
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

Origins renamed(const Origins& origins, int32_t by, const std::shared_ptr<const Origin>& parent) {
  if (by == 0 && !parent) return origins;
  const int depth = depth_of(parent);
  Origins all;
  for (int64_t i = 0; i < origins.size(); ++i) all.append(renamed(origins.at(i), by, parent, depth));
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
  if (stride == 1) {  // all are in pass 0
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
