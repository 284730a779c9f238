#pragma once

#include <functional>
#include <string>

namespace stoker {

// Receives messages of the watchdog, and warnings. Standard error by default.
void set_message_sink(std::function<void(const std::string&)> sink);

// Passes a message to the sink on the calling thread. No lock is held while the sink runs, so it may block.
void report_message(const std::string& message);

// Passes a message to the sink on another thread, in order, without waiting. For threads that a sink must not delay,
// and for callers that hold a lock. If more than 1,000 messages are queued, the oldest are dropped.
void post(std::string message);

// Passes on, on the calling thread, messages that were posted while the system refused to create a thread.
void report_unsent_messages();

}  // namespace stoker
