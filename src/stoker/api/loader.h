#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/api/epoch_iterator.h"
#include "stoker/api/restarts.h"
#include "stoker/core/element.h"
#include "stoker/runtime/loader_stats.h"

namespace stoker {

class Engine;

enum class OnError { kRaise, kSkip };

struct LoaderOptions {
  // What happens if an element fails; nullopt: the dataset's policy, or kRaise if it
  // has none.
  std::optional<OnError> on_error;
  double skip_at_most = 1.0;          // share of elements that may be skipped, with kSkip
  double stall_warning_seconds = 30;  // a longer wait in next(), or a longer call of a user function, is reported
  // Whether to prefetch the next epoch while the last pieces of this one run. Set it
  // to false in programs that release the loader after each epoch.
  bool prefetch_next_epoch = true;
  // Whether only the threads that call next() do the work. No others are started.
  bool alone = false;
  // Whether later iterators start after the passes of this one. If not, the loader only inspects the dataset: other
  // iterators deliver the same elements with and without it.
  bool counts_passes = true;
  // Whether the nested graphs of flat_map and interleave may call user functions.
  // If not, elements that would need a call fail. Used to inspect a dataset without
  // running user code.
  bool calls_user_in_children = true;
  // Called about ten times a second by a thread that waits in a call of the loader,
  // with no short lock held. If it returns true, that call returns Cancelled, and no
  // element is lost.
  std::function<bool()> interrupted;
  // For bindings: what user functions get from RunningScope::owner() while they run
  // for this loader.
  std::shared_ptr<void> owner = nullptr;
};

// A skipped element and its error.
struct Skipped {
  std::string origin;
  Error error;
};

// A dataset and one current iterator over it. The workers of the process prefetch
// elements. Only the graph, the seed and the epoch determine their order.
//
// Every member may be called from any thread at any time, also while another
// thread is inside next(). A function that the loader itself runs may read its
// statistics and call save(); next(), begin_epoch(), restore() and close() fail
// with FailedPrecondition there, because each of them would wait for the function
// to return. After fork() without exec, a loader whose process had worker threads
// fails with FailedPrecondition in the child. Members that return no Result throw
// these errors as Error.
class Loader {
 public:
  explicit Loader(Dataset dataset, LoaderOptions options = {}, Location at = Location::current());
  ~Loader();  // returns within 50 ms, also while a user function is running
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  // Returns the next element, nullopt at the end of the epoch, or an error. After an
  // error, the next call continues with the element after it. After the end, it
  // returns nullopt until begin_epoch(). If several threads call next(), each element
  // is returned to one of them. The caller owns the element.
  Result<std::optional<Element>> next();
  // Starts the next epoch and drops the rest of this one. A thread inside next() gets
  // the end.
  void begin_epoch(Location at = Location::current());
  // Stops all work and frees all memory of the iterator. The next call to next()
  // starts the next epoch and reuses the measured speeds.
  void release();

  // for (auto& batch : loader) iterates over one epoch and throws errors as Error. A loader is a std::ranges input
  // range.
  using Iterator = EpochIterator<Loader>;
  Iterator begin(Location at = Location::current());
  Iterator end() { return {}; }

  // Serializes the position after the last delivered element, usually in a few
  // kilobytes.
  Result<std::string> save();
  // For bindings: the thread that received an element, or its error, from next() could not use it, for example because
  // a signal handler has thrown. save() returns the position before this element until the binding calls redeliver(),
  // when it hands the element out after all. Neither waits.
  void withdraw();
  void redeliver();
  // Continues at a saved position. A failed restore changes nothing.
  Result<void> restore(std::string_view checkpoint);

  // Counts, times, bytes and shares per stage and window, at this time. Empty between epochs and after close().
  LoaderStats stats();
  // The first 1,000 skipped elements of this epoch.
  std::vector<Skipped> skipped();
  // Seconds that the consumer waited in next() in this epoch.
  double wait_seconds() const;
  // Closes the loader: from now on, next() returns the end. Waits for calls of user
  // functions in progress, at most `patience`; nullopt: until they return.
  void close(std::optional<std::chrono::milliseconds> patience = std::nullopt);

  const Dataset& dataset() const;
  // Iterators of this dataset that were recently dropped early, by any loader.
  const std::shared_ptr<Restarts>& restarts() const;
  // Where the epoch was started: "train.cc:41".
  std::string begun_at() const;
  // Sets a function that receives stats() about ten times a second from a thread that
  // waits in next(), beginning with the next epoch. It must not call the loader.
  void on_waiting(std::function<void(const LoaderStats& stats)> call);

 private:
  struct Running;  // the iterators and their locks

  static Result<std::optional<Element>> next_of_current(Running& at);
  Result<std::string> save_current();
  void discard();
  std::shared_ptr<Engine> current() const;

  std::shared_ptr<Running> running_;  // shared with a worker that starts the next epoch
};

// The threads and the memory budget that all loaders of the process share. Fields
// that are nullopt do not change. configure() throws Error for values out of range.
struct Resources {
  std::optional<int> workers;  // 0: the consumer does all work; -1: as many as fit the machine
  std::optional<int64_t> memory_bytes;
};
void configure(const Resources& resources);

// Bytes counted in the budget now, their peak, and the budget.
struct MemoryUse {
  int64_t held = 0;
  int64_t peak = 0;
  int64_t budget = 0;
};
MemoryUse memory_use();

}  // namespace stoker
