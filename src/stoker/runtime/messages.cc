#include "stoker/runtime/messages.h"

#include <cstdio>
#include <deque>
#include <system_error>
#include <thread>

#include "stoker/core/mutex.h"

namespace stoker {
namespace {

constexpr size_t kMostQueued = 1000;

struct Messages {
  Mutex mutex;
  Condition posted;
  std::function<void(const std::string&)> sink STOKER_GUARDED_BY(mutex);
  std::deque<std::string> queue STOKER_GUARDED_BY(mutex);
  bool has_thread STOKER_GUARDED_BY(mutex) = false;
};

// Never destroyed, because threads may post messages until the process ends.
Messages& messages() {
  static auto* all = new Messages;
  return *all;
}

std::string next_posted(Messages& all) {
  const MutexLock lock(all.mutex);
  while (all.queue.empty()) all.posted.wait(all.mutex);
  std::string message = std::move(all.queue.front());
  all.queue.pop_front();
  return message;
}

void deliver_posted() {
  while (true) report_message(next_posted(messages()));
}

bool start_thread() {
  try {
    std::thread(deliver_posted).detach();
    return true;
  } catch (const std::system_error&) {
    return false;  // the next message tries again
  }
}

}  // namespace

void set_message_sink(std::function<void(const std::string&)> sink) {
  Messages& all = messages();
  const MutexLock lock(all.mutex);
  std::swap(all.sink, sink);
}

void report_message(const std::string& message) {
  std::function<void(const std::string&)> sink;
  {
    Messages& all = messages();
    const MutexLock lock(all.mutex);
    sink = all.sink;
  }
  if (sink)
    sink(message);
  else
    std::fprintf(stderr, "%s\n", message.c_str());
}

void post(std::string message) {
  Messages& all = messages();
  const MutexLock lock(all.mutex);
  if (!all.has_thread) all.has_thread = start_thread();
  all.queue.push_back(std::move(message));
  if (all.queue.size() > kMostQueued) all.queue.pop_front();
  all.posted.notify_one();
}

void report_unsent_messages() {
  Messages& all = messages();
  while (true) {
    std::string message;
    {
      const MutexLock lock(all.mutex);
      if (all.has_thread || all.queue.empty()) return;
      message = std::move(all.queue.front());
      all.queue.pop_front();
    }
    report_message(message);
  }
}

}  // namespace stoker
