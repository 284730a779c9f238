#pragma once

// Handles Ctrl-C (SIGINT), SIGTERM and SIGHUP.
//
// After the first signal, a command stops between two elements and can save its
// state. One second later, or at the second signal, the process exits at once.
namespace stoker::cli {

// Installs the signal handlers. Called once, at the start of main().
void watch_interrupts();
// True after the first signal.
bool interrupted();
// The exit code after a signal: 128 plus its number, 130 for Ctrl-C.
int interrupted_status();

// While an object of this class exists, a signal does not exit the process, for
// example while a file is being written. The last destructor exits if a signal
// required it.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};

}  // namespace stoker::cli
