#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/loader.h"
#include "stoker/watch/recorder.h"

namespace stoker {

// Measures a training loop and its input, and reports in a few lines why the loop
// waits. A Watch passes on the batches of a loader:
//
//   Watch watch(loader);
//   for (auto& batch : watch) train(batch);
//   std::cout << watch.report();
//
// Members may be called from any thread. With `make`, next() runs it on the calling
// thread, without a lock.
class Watch {
 public:
  using Make = std::function<Result<std::optional<Element>>()>;

  // The loader must outlive the watch and must not be moved.
  explicit Watch(Loader& loader, WatchOptions options = {});
  // For a loop that produces its own batches: `make` returns the next batch, or
  // nullopt at the end of an epoch.
  explicit Watch(Make make, WatchOptions options = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // As in Loader.
  Result<std::optional<Element>> next();
  void begin_epoch(Location at = Location::current());

  // for (auto& batch : watch) iterates over one epoch and throws errors as Error.
  using Iterator = EpochIterator<Watch>;
  Iterator begin(Location at = Location::current());
  Iterator end() { return {}; }

  // The findings over the run so far, the most costly first; empty while the input
  // keeps up.
  std::vector<Verdict> verdicts() const;
  // The time per step, the stages and the findings, as text and as JSON.
  std::string report() const;
  Json to_json() const;

 private:
  LoaderStats stats() const;
  void note_skipped();

  Loader* loader_ = nullptr;
  Make make_;
  std::shared_ptr<Recorder> recorder_;  // also used by the thread that waits in the loader
};

}  // namespace stoker
