#pragma once

#include <string>

namespace stoker {

// A timeout for a test case: if an object exists for longer than a minute, the process
// prints its description and aborts, so that a hang is a failure with a name.
class WatchScope {
 public:
  explicit WatchScope(std::string words);
  ~WatchScope();
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
};

}  // namespace stoker
