#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/loader.h"
#include "stoker/watch/recorder.h"

namespace stoker {

// Stands between a training loop and its input, measures both, and says in a
// few lines what is wrong when something is:
//
//   Watch watch(loader);
//   for (auto& batch : watch) train(batch);
//   std::cout << watch.report();
class Watch {
 public:
  using Make = std::function<Result<std::optional<Element>>()>;

  // The loader must live as long, at the same place.
  explicit Watch(Loader& loader, WatchOptions options = {});
  // For a loop that makes its batches itself: `make` gives the next one, or
  // nothing at the end of an epoch.
  explicit Watch(Make make, WatchOptions options = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // As the loader's own.
  Result<std::optional<Element>> next();
  void begin_epoch(Location at = Location::current());

  // for (auto& batch : watch): one epoch, errors thrown as Error.
  using Iterator = EpochIterator<Watch>;
  Iterator begin(Location at = Location::current());
  Iterator end() { return {}; }

  // Over the run so far, the costliest first; empty while all is well.
  std::vector<Verdict> verdicts() const;
  std::string report() const;
  Json to_json() const;

 private:
  Json stats() const;
  void note_skipped();

  Loader* loader_ = nullptr;
  Make make_;
  std::shared_ptr<Recorder> recorder_;  // also held by whoever waits in the loader
};

}  // namespace stoker
