#pragma once

#include <mutex>

namespace stoker {

// Keeps a process-wide lock usable in forked children: fork() waits until the lock is free. Only
// for locks that live as long as the process, are held briefly, and under which no thread waits for
// another lock.
void hold_across_fork(std::mutex& mutex);

// The number of forks between this process and the process that first loaded this library.
int forks_so_far();

// Ends the process if the code between construction and destruction forked and returned in the
// child. For threads of the engine that run user code: their loops and locks are not valid in the
// child.
class NoReturnInChild {
 public:
  NoReturnInChild();
  ~NoReturnInChild();
  NoReturnInChild(const NoReturnInChild&) = delete;
  NoReturnInChild& operator=(const NoReturnInChild&) = delete;

 private:
  const int forks_;
};

}  // namespace stoker
