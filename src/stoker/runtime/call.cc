#include "stoker/runtime/call.h"

#include <utility>

namespace stoker {

ThreadSlot*& ThreadSlot::mine() {
  thread_local ThreadSlot* slot = nullptr;
  return slot;
}

CallScope::CallScope(const Call& call) : slot_(ThreadSlot::mine()) {
  if (!slot_) return;
  const MutexLock lock(slot_->mutex);
  outer_ = std::exchange(slot_->call, call);
}

CallScope::~CallScope() {
  if (!slot_) return;
  const MutexLock lock(slot_->mutex);
  slot_->call = outer_;
}

}  // namespace stoker
