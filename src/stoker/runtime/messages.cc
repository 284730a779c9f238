#include "stoker/runtime/messages.h"

#include <cstdio>
#include <mutex>

namespace stoker {
namespace {

struct MessageSink {
  std::mutex mutex;
  std::function<void(const std::string&)> sink;
};
MessageSink& message_sink() {
  static auto* sink = new MessageSink;
  return *sink;
}

}  // namespace

void set_message_sink(std::function<void(const std::string&)> sink) {
  std::lock_guard lock(message_sink().mutex);
  message_sink().sink = std::move(sink);
}

void tell(const std::string& message) {
  std::lock_guard lock(message_sink().mutex);
  if (message_sink().sink)
    message_sink().sink(message);
  else
    std::fprintf(stderr, "%s\n", message.c_str());
}

}  // namespace stoker
