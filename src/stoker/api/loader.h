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

namespace stoker {

class Engine;

enum class OnError { kRaise, kSkip };

struct LoaderOptions {
  // What a failed element does; nothing: what the data set says, else kRaise.
  std::optional<OnError> on_error;
  double skip_at_most = 1.0;  // share of elements, with kSkip
  double stall_warning_seconds = 30;
  // Whether the next epoch starts to fill when the last pieces of this one run.
  // For programs that release the loader after each epoch it would be in vain.
  bool prefetch_next_epoch = true;
  // All work is done by threads that call next(); no others are started for it.
  bool alone = false;
  // Whether nested graphs, those of flat_map and interleave, may call user functions.
  // Elements that would need it fail otherwise: for a look at what a dataset gives.
  bool calls_user_in_children = true;
  // Asked about ten times a second by a thread that waits in a call, with no short
  // lock held; true makes that call end with Cancelled, nothing being lost.
  std::function<bool()> interrupted;
};

// An element that was left out, and why.
struct Skipped {
  std::string origin;
  Error error;
};

// A dataset and one current iterator over it. Batches come in the order that
// graph, seed and epoch fix, prefetched by the process's workers.
//
// Every member may be called from any thread at any moment, also while another
// thread is inside next(). A function that the loader itself runs may read its
// statistics and save(); calling next(), begin_epoch(), restore() or close() from
// there fails with FailedPrecondition, because each of them would wait for the
// function to return. After fork() without exec, a loader whose process had
// worker threads fails with FailedPrecondition in the child. What returns no
// Result throws these as Error.
class Loader {
 public:
  explicit Loader(Dataset dataset, LoaderOptions options = {}, Location at = Location::current());
  ~Loader();  // returns within 50 ms, whatever a function of the user's does
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  // The next element, the end until the next epoch begins, or an error, after
  // which the next call goes on. Safe from several threads: each element goes
  // to one of them.
  Result<std::optional<Element>> next();
  // Starts the next epoch and drops what is left of the last. A thread inside
  // next() gets the end.
  void begin_epoch(Location at = Location::current());
  // Stops all work and releases everything that is held. The next call to next()
  // starts the next epoch, with the tuning that was found so far.
  void release();

  // for (auto& batch : loader): one epoch, errors thrown as Error.
  using Iterator = EpochIterator<Loader>;
  Iterator begin(Location at = Location::current());
  Iterator end() { return {}; }

  // The place behind the last element given, in kilobytes; and back.
  Result<std::string> save();
  Result<void> restore(std::string_view checkpoint);

  // Per stage and window: counts, times, bytes, shares. JSON.
  std::string stats();
  std::vector<Skipped> skipped();
  // Seconds the consumer waited in next(), this epoch.
  double wait_seconds() const;
  // Ends the loader: next() returns the end from now on. Waits for calls of user
  // functions that are in progress, for `patience` at most.
  void close(std::optional<std::chrono::milliseconds> patience = std::nullopt);

  const Dataset& dataset() const;
  // How this data set's iterators were dropped of late, by any loader of it.
  const std::shared_ptr<Restarts>& restarts() const;
  // Where the epoch was begun: "train.cc:41".
  std::string begun_at() const;
  // Told stats() about ten times a second by a thread that waits in next(), from
  // the next epoch on. It must not ask the loader for anything itself.
  void on_waiting(std::function<void(const Json& stats)> call);

 private:
  struct Running;  // the iterators and the locks on them

  void discard();
  std::shared_ptr<Engine> current() const;

  std::shared_ptr<Running> running_;  // a worker may be beginning the next epoch
};

// The threads and bytes all loaders of the process share. configure() throws the Error for values out of range.
struct Resources {
  std::optional<int> workers;  // 0: the consumer does everything; -1: as many as fit the machine
  std::optional<int64_t> memory_bytes;
};
void configure(const Resources& resources);

// Bytes held now and at most, and the budget.
struct MemoryUse {
  int64_t held = 0;
  int64_t peak = 0;
  int64_t budget = 0;
};
MemoryUse memory_use();

}  // namespace stoker
