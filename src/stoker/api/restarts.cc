#include "stoker/api/restarts.h"

#include <map>

#include "stoker/graph/graph.h"

namespace stoker {
namespace {

struct Known {
  std::weak_ptr<NodeState> node;
  std::shared_ptr<Restarts> restarts;
};
struct All {
  Mutex mutex;
  std::map<const NodeState*, Known> known STOKER_GUARDED_BY(mutex);
};
All& all() {
  static auto* one = new All;
  return *one;
}

}  // namespace

void Restarts::note(int64_t batches, bool ended, double start_seconds) {
  const MutexLock lock(mutex_);
  if (batches > 1 || ended) {
    iterators_ = 0;
    seconds_ = 0;
    reached_ = false;
    return;
  }
  ++iterators_;
  seconds_ += start_seconds;
}

Restarts::Row Restarts::row() const {
  const MutexLock lock(mutex_);
  return {iterators_, iterators_ > 0 ? seconds_ / static_cast<double>(iterators_) : 0};
}

bool Restarts::reaches(int64_t iterators) {
  const MutexLock lock(mutex_);
  if (reached_ || iterators_ < iterators) return false;
  return reached_ = true;
}

std::shared_ptr<Restarts> Restarts::of(const Node& node) {
  All& restarts = all();
  const MutexLock lock(restarts.mutex);
  auto& known = restarts.known;
  const auto found = known.find(node.state.get());
  if (found != known.end() && !found->second.node.expired()) return found->second.restarts;
  std::erase_if(known, [](const auto& one) { return one.second.node.expired(); });
  return (known[node.state.get()] = {node.state, std::make_shared<Restarts>()}).restarts;
}

}  // namespace stoker
