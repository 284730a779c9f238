#pragma once

#include <nanobind/nanobind.h>

#include "stoker/watch/watch.h"

namespace stoker::python {

namespace nb = nanobind;

// What stands behind stoker.Watch. Nothing under the recorder's lock needs the
// interpreter's: clock and counters are C++, words are said outside of it.
class PyRecorder {
 public:
  PyRecorder(WatchOptions options, Supply supply)
      : recorder_(std::make_shared<Recorder>(std::move(options), std::move(supply))) {}

  Recorder& operator*() const { return *recorder_; }
  Recorder* operator->() const { return recorder_.get(); }
  // The loader's own thread looks while it waits, as long as the recorder lives.
  void look_while_waiting_in(Loader& loader) const;

 private:
  std::shared_ptr<Recorder> recorder_;
};

// Recorder, Clock, send_messages_to.
void bind_watch(nb::module_& m);

}  // namespace stoker::python
