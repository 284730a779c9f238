#include "stoker/runtime/background.h"

#include <chrono>
#include <system_error>
#include <utility>

namespace stoker {

Background::Background(std::function<Result<void>()> body) {
  try {
    result_ = std::async(std::launch::async, body);
  } catch (const std::system_error&) {
    result_ = std::async(std::launch::deferred, std::move(body));
    result_.wait();
  }
}

bool Background::is_running() const {
  return result_.valid() && result_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Result<void> Background::wait() { return result_.valid() ? result_.get() : Result<void>(); }

}  // namespace stoker
