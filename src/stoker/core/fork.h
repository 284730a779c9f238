#pragma once

#include <mutex>

namespace stoker {

// Keeps a lock of the process usable in forked children: fork() waits until it is
// free. Only for locks that live as long as the process, are held for moments, and
// under which no thread waits for another lock.
void hold_across_fork(std::mutex& mutex);

// How many forks lie between this process and the first that loaded this library.
int forks_so_far();

// Ends the process if the code between construction and destruction forked and
// returned in the child: for threads of ours that run user code. Their loops, and
// the locks they take, have no meaning in the child.
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
