#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>

namespace stoker::cli {
namespace {

// A signal handler may access only lock-free atomics.
std::atomic<int> signal_seen{0};
std::atomic<int> held{0};  // number of Uninterrupted objects
std::atomic<bool> end_wanted{false};

extern "C" void on_signal(int number) {
  int none = 0;
  const bool first = number != SIGALRM && signal_seen.compare_exchange_strong(none, number);
  if (first) {
    alarm(1);
    return;
  }
  end_wanted = true;
  if (held == 0) _exit(128 + signal_seen);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_signal;  // without SA_RESTART, so that a blocked write returns
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // keep the effect of nohup
  }
  sigaction(SIGALRM, &action, nullptr);
  // write() returns EPIPE, or EFBIG at the limit of `ulimit -f`, instead.
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
}

bool interrupted() { return signal_seen != 0; }
int interrupted_status() { return 128 + signal_seen; }

Uninterrupted::Uninterrupted() { ++held; }
Uninterrupted::~Uninterrupted() {
  if (--held == 0 && end_wanted) _exit(interrupted_status());
}

}  // namespace stoker::cli
