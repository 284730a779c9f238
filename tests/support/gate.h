#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/runtime/messages.h"

namespace stoker {

// Blocks a function of the test until the test opens the gate.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++came_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  // Waits until pass() has been called n times.
  void wait_for(int64_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return came_ >= n; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t came_ = 0;
  bool open_ = false;
};

// Receives the engine's messages during its lifetime. A message that is in transit
// when it is destroyed is lost.
class Messages {
 public:
  Messages() {
    set_message_sink([received = received_](const std::string& text) {
      std::lock_guard lock(received->mutex);
      received->all.push_back(text);
      received->changed.notify_all();
    });
  }
  ~Messages() { set_message_sink({}); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // Waits for a message that contains the text, and returns the message.
  std::string with(const std::string& words) {
    std::unique_lock lock(received_->mutex);
    std::string found;
    received_->changed.wait(lock, [&] {
      for (const std::string& text : received_->all)
        if (text.find(words) != std::string::npos) found = text;
      return !found.empty();
    });
    return found;
  }

 private:
  struct Received {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> all;
  };
  const std::shared_ptr<Received> received_ = std::make_shared<Received>();
};

}  // namespace stoker
