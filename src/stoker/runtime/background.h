#pragma once

#include <functional>
#include <future>

#include "stoker/core/result.h"

namespace stoker {

// One function that runs on a thread of its own: for calls that wait for the disk while the caller continues. The
// engine's threads run the stages. Not thread-safe.
class Background {
 public:
  // Runs nothing.
  Background() = default;
  // Starts the function. If the system refuses to create a thread, the constructor runs it.
  explicit Background(std::function<Result<void>()> body);
  Background(Background&&) = default;
  Background& operator=(Background&&) = default;
  ~Background() = default;  // waits for the function

  bool is_running() const;
  // Waits for the function and returns its result. Returns success if there is none, or if its result was returned
  // before.
  Result<void> wait();

 private:
  std::future<Result<void>> result_;
};

}  // namespace stoker
