#include "stoker/core/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <vector>

namespace stoker {
namespace {

struct Held {
  std::mutex mutex;
  std::vector<std::mutex*> all;
};

std::atomic<int> forks{0};  // between this process and the one that loaded the library

// Never destroyed: a process may fork while it exits.
Held& held() {
  static auto* all = new Held;
  return *all;
}

void lock_all() {
  held().mutex.lock();
  for (std::mutex* mutex : held().all) mutex->lock();
}

void unlock_all() {
  for (std::mutex* mutex : held().all) mutex->unlock();
  held().mutex.unlock();
}

void begin_child() {
  ++forks;
  unlock_all();
}

const int registered = pthread_atfork(&lock_all, &unlock_all, &begin_child);

}  // namespace

void hold_across_fork(std::mutex& mutex) {
  std::lock_guard lock(held().mutex);
  held().all.push_back(&mutex);
}

int forks_so_far() {
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

NoReturnInChild::NoReturnInChild() : forks_(forks.load(std::memory_order_relaxed)) { static_cast<void>(registered); }

NoReturnInChild::~NoReturnInChild() {
  if (forks.load(std::memory_order_relaxed) == forks_) return;
  std::fputs(
      "stoker: a function that a dataset calls has forked and returned in the child process; end the child with "
      "os._exit(), or use the subprocess module\n",
      stderr);
  _exit(1);
}

}  // namespace stoker
