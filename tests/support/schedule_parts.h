#pragma once

#include <memory>

#include "stoker/api/dataset.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/engine.h"

namespace stoker {

// Segments of a dataset that no thread runs, for tests of the parts of an engine.
class SegmentsOf {
 public:
  explicit SegmentsOf(const Dataset& dataset) : meters_(std::make_shared<Meters>()) {
    plan_ = lower(dataset.node(), *meters_).value();
    engine_ = Engine::make(plan_, meters_, {.alone = true}, take_passes(*plan_));
    instance_ = std::make_shared<Instance>();
    instance_->engine = engine_.get();
    instance_->plan = plan_;
    instance_->make = {&instance_->passes, nullptr, &plan_->sources, &flags.stopped};
    instance_->root = &add_segment();
  }

  Segment& add_segment() { return instance_->add_segment(*plan_->root, 0); }
  EngineMutex& mutex() { return mutex_; }
  const Instance& instance() const { return *instance_; }
  Segment& segment() { return *instance_->root; }

  EngineFlags flags;

 private:
  std::shared_ptr<Meters> meters_;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<Engine> engine_;  // whose lock the lines use
  std::shared_ptr<Instance> instance_;
  EngineMutex mutex_;  // the lines acquire the lock of the engine, so tests hold another one
};

}  // namespace stoker
