#pragma once

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

enum class OnError { kRaise, kSkip };

struct LoaderOptions {
  // What a failed element does; nothing: what the data set says, else kRaise.
  std::optional<OnError> on_error;
  double skip_at_most = 1.0;  // share of elements, with kSkip
  double stall_warning_seconds = 30;
  // Asked about ten times a second by a thread that waits in next(), with no
  // lock held; true makes that call end with Cancelled, nothing being lost.
  std::function<bool()> interrupted;
};

// An element that was left out, and why.
struct Skipped {
  std::string origin;
  Error error;
};

// A data set and one current iterator over it. Batches come in the order that
// graph, seed and epoch fix, made ahead by the process's workers.
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
  // Starts the next epoch, dropping what is left of the last.
  void begin_epoch(Location at = Location::current());

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
  // Waits for calls in progress; next() then answers the end.
  void close();

  const Dataset& dataset() const;
  // How this data set's iterators were dropped of late, by any loader of it.
  const std::shared_ptr<Restarts>& restarts() const;
  // Where the epoch was begun: "train.cc:41".
  std::string begun_at() const;
  // Told stats() about ten times a second by a thread that waits in next(), from
  // the next epoch on. It must not ask the loader for anything itself.
  void on_waiting(std::function<void(const Json& stats)> call);

 private:
  struct Running;  // the iterators and the lock on them

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
