#pragma once

#include <nanobind/nanobind.h>

#include "stoker/watch/watch.h"

namespace stoker::python {

namespace nb = nanobind;

// The C++ part of stoker.Watch. Code that runs under the recorder's lock never needs the
// GIL: clock and counters are C++, and messages are sent after the lock is released.
class PyRecorder {
 public:
  PyRecorder(WatchOptions options, Supply supply)
      : recorder_(std::make_shared<Recorder>(std::move(options), std::move(supply))) {}

  Recorder& operator*() const { return *recorder_; }
  Recorder* operator->() const { return recorder_.get(); }
  // Lets the loader's waiting thread update the recorder, as long as the recorder lives.
  void look_while_waiting_in(Loader& loader) const;

 private:
  std::shared_ptr<Recorder> recorder_;
};

// Defines Recorder, Clock and send_messages_to.
void define_watch(nb::module_& m);

}  // namespace stoker::python
