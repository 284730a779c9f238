#pragma once

// Ctrl-C, and being asked to end.
//
// The first signal asks the command to stop between two elements, which leaves
// it the time to save its state. One second later, or at the second signal, the
// process ends as it is.
namespace stoker::cli {

void watch_interrupts();
bool interrupted();
// 130 after Ctrl-C.
int interrupted_status();

// While it lives the process is not ended in the middle: a file is being
// written.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace stoker::cli
