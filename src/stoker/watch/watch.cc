#include "stoker/watch/watch.h"

#include <algorithm>

namespace stoker {
namespace {

Supply supply_of(const Loader& loader) {
  Supply supply = Supply::of(loader.dataset());
  supply.begun_at = loader.begun_at();
  return supply;
}

}  // namespace

Watch::Watch(Loader& loader, WatchOptions options)
    : loader_(&loader), recorder_(std::make_shared<Recorder>(std::move(options), supply_of(loader))) {
  loader.on_waiting([recorder = std::weak_ptr(recorder_)](const LoaderStats& stats) {
    if (const std::shared_ptr<Recorder> alive = recorder.lock()) alive->look_while_waiting(stats);
  });
}

Watch::~Watch() {
  if (loader_) loader_->on_waiting({});
}

Watch::Watch(Make make, WatchOptions options)
    : make_(std::move(make)), recorder_(std::make_shared<Recorder>(std::move(options), Supply{.workers = 0})) {}

Result<std::optional<Element>> Watch::next() {
  const int64_t asked = recorder_->ask();
  Result<std::optional<Element>> element = loader_ ? loader_->next() : make_();
  if (!element) {
    const Error& error = element.error();
    if (error.code() != Code::kCancelled)  // an interruption: the element is delivered later
      recorder_->fail(error.message(), error.place().path.empty() ? error.place().origin : error.place().path);
    return element;
  }
  if (!*element) {
    note_skipped();
    recorder_->end();
    return element;
  }
  recorder_->give(asked);
  if (recorder_->wants_values()) {
    const int64_t looked_since = recorder_->now();
    recorder_->note_values(non_finite_in(**element), looked_since);
  }
  if (recorder_->is_due()) {
    recorder_->look(stats());
    note_skipped();
  }
  return element;
}

void Watch::note_skipped() {
  if (!loader_) return;
  const std::vector<Skipped> skipped = loader_->skipped();
  if (skipped.empty()) return;
  const Error::Place& place = skipped[0].error.place();
  // skipped() lists only the first 1,000 elements; stats() counts all, unless another thread has closed the loader.
  const int64_t count = std::max(stats().skipped, static_cast<int64_t>(skipped.size()));
  recorder_->note_skipped(count, skipped[0].error.message(), place.path.empty() ? skipped[0].origin : place.path);
}

void Watch::begin_epoch(Location at) {
  if (loader_) loader_->begin_epoch(at);
  recorder_->begin_epoch(at.describe());
}

Watch::Iterator Watch::begin(Location at) {
  begin_epoch(std::move(at));
  return Iterator(this);
}

LoaderStats Watch::stats() const { return loader_ ? loader_->stats() : LoaderStats(); }
std::vector<Verdict> Watch::verdicts() const { return recorder_->verdicts(stats()); }
std::string Watch::report() const { return recorder_->report(stats()); }
Json Watch::to_json() const { return recorder_->to_json(stats()); }

}  // namespace stoker
