#include "support/watch.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace stoker {
namespace {

// Long enough for sanitizers on a busy machine.
constexpr auto kMost = std::chrono::seconds(60);

struct Watch {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> cases;  // descriptions, the innermost last
  std::chrono::steady_clock::time_point begun;
  bool running = false;
};
Watch& watch() {
  static auto* one = new Watch;
  return *one;
}

void loop() {
  Watch& w = watch();
  std::unique_lock lock(w.mutex);
  while (true) {
    if (w.cases.empty()) {
      w.changed.wait(lock);
      continue;
    }
    if (w.changed.wait_until(lock, w.begun + kMost) == std::cv_status::no_timeout) continue;
    if (w.cases.empty() || std::chrono::steady_clock::now() < w.begun + kMost) continue;
    std::fprintf(stderr, "this test case has not ended after 60 s:\n%s\n", w.cases.back().c_str());
    std::fflush(stderr);
    std::abort();
  }
}

}  // namespace

WatchScope::WatchScope(std::string words) {
  Watch& w = watch();
  std::lock_guard lock(w.mutex);
  w.cases.push_back(std::move(words));
  w.begun = std::chrono::steady_clock::now();
  if (!w.running) {
    w.running = true;
    std::thread(loop).detach();
  }
  w.changed.notify_all();
}

WatchScope::~WatchScope() {
  Watch& w = watch();
  std::lock_guard lock(w.mutex);
  w.cases.pop_back();
  w.begun = std::chrono::steady_clock::now();
}

}  // namespace stoker
