#pragma once

#include <string>

namespace stoker {

// While it lives, somebody watches: a case that takes longer than a minute ends
// the process with its words, so that a hang is a failure with a name.
class WatchScope {
 public:
  explicit WatchScope(std::string words);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
};

}  // namespace stoker
