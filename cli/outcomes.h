#pragma once

#include <map>
#include <mutex>
#include <utility>

namespace stoker::cli {

// What workers have found, by a key of the element they found it in, until the
// loop takes it. The engine may make an element twice: the first outcome counts.
template <typename Key, typename T>
class Outcomes {
 public:
  void put(Key key, T outcome) {
    const std::lock_guard lock(mutex_);
    found_.try_emplace(key, std::move(outcome));
  }
  T take(Key key) {
    const std::lock_guard lock(mutex_);
    return std::move(found_.extract(key).mapped());
  }

 private:
  std::mutex mutex_;
  std::map<Key, T> found_;
};

}  // namespace stoker::cli
