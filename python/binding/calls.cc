#include "python/binding/calls.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace stoker::python {
namespace {

constexpr std::chrono::seconds kPatience{10};

struct Calls {
  std::mutex mutex;
  std::condition_variable ended;
  int in_progress = 0;
  bool over = false;
};
Calls& calls() {
  static auto* all = new Calls;
  return *all;
}

}  // namespace

PythonCall::PythonCall() {
  std::lock_guard lock(calls().mutex);
  may_call_ = !calls().over;
  ++calls().in_progress;
}

PythonCall::~PythonCall() {
  std::lock_guard lock(calls().mutex);
  if (--calls().in_progress == 0) calls().ended.notify_all();
}

void finish_calls() {
  std::unique_lock lock(calls().mutex);
  calls().over = true;
  calls().ended.wait_for(lock, kPatience, [] { return calls().in_progress == 0; });
}

}  // namespace stoker::python
