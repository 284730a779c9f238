#pragma once

#include <functional>
#include <string>

namespace stoker {

// Where messages go: the watchdog's, warnings. Standard error by default.
void set_message_sink(std::function<void(const std::string&)> sink);

// Passes a message to the sink on the calling thread. No lock is held while the
// sink runs; it may block.
void tell(const std::string& message);

// The same from another thread, in order and without waiting: for threads that
// must not be held up by a sink, and callers that hold a lock. When the sink
// does not keep up, the oldest of 1,000 queued messages are dropped.
void post(std::string message);

// Passes on, on the calling thread, what was posted when the system had no thread
// for it.
void tell_unsent();

}  // namespace stoker
