#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"
#include "stoker/runtime/lists.h"
#include "stoker/runtime/origin_text.h"

namespace stoker {
namespace {

// Combines the rows of several inputs into tuples, until the first input ends.
class ZipLine final : public LineNode {
 public:
  ZipLine(const ZipLinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(input->start(instance, pass));
    have_.resize(inputs_.size());
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    int32_t n = static_cast<int32_t>(std::min<int64_t>(most, 1 << 20));
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (have_[k].size == 0) {
        Pulled pulled = inputs_[k]->pull(n);
        if (pulled.kind != Pulled::Kind::kRun) return pulled;
        have_[k] = std::move(pulled.run);
      }
      if (const auto first = std::ranges::find_if(have_[k].failed, &Failure::struck); first != have_[k].failed.end()) {
        if (first->row == 0) return Pulled::of(take(k, 1));
        n = std::min(n, first->row);
      }
      n = std::min(n, have_[k].size);
    }
    Runs parts;
    for (size_t k = 0; k < inputs_.size(); ++k) parts.push_back(take(k, n));
    return Pulled::of(zip_rows(std::move(parts)));
  }

 private:
  Run take(size_t k, int32_t n) {
    Run front = have_[k].slice(0, n);
    have_[k] = n == have_[k].size ? Run() : have_[k].slice(n, have_[k].size - n);
    return front;
  }
  Entry snapshot() const override {
    Numbers below = cursors();
    for (size_t k = 0; k < below.size(); ++k) below[k] -= have_[k].size;
    return {out(), {}, std::move(below)};
  }

  Runs have_;
};

class ConcatenateLine final : public LineNode {
 public:
  ConcatenateLine(const ConcatenateLinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(input->start(instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    while (at_ < inputs_.size()) {
      Pulled pulled = inputs_[at_]->pull(most);
      if (pulled.kind != Pulled::Kind::kEnd) return pulled;
      ++at_;
    }
    return Pulled::end();
  }
  Entry snapshot() const override { return {out(), at_, cursors()}; }
  Result<Json> entry_json(const Entry& entry, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    Json json = Json::dict();
    json.set("input", static_cast<int64_t>(std::any_cast<size_t>(entry.state)));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const int64_t input = saved_count(json, "input");
    if (input < 0 || input > std::ssize(inputs_))
      return Error::invalid("the checkpoint is damaged: input ", input, " of ", inputs_.size());
    at_ = static_cast<size_t>(input);
    return {};
  }

 private:
  size_t at_ = 0;
};

class EnumerateLine final : public LineNode {
 public:
  EnumerateLine(const EnumerateLinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), plan_(plan), count_(plan.first) {
    inputs_.push_back(plan.inputs[0]->start(instance, pass));
  }

 protected:
  Pulled produce(int64_t most) override {
    log_if_due();
    Pulled pulled = inputs_[0]->pull(most);
    if (pulled.kind != Pulled::Kind::kRun) return pulled;
    Run& run = pulled.run;
    std::vector<int64_t> numbers(static_cast<size_t>(run.size));
    for (int32_t row = 0; row < run.size; ++row) {
      const Failure* failure = run.failed.empty() ? nullptr : run.failure_of(row);
      if (failure && failure->struck) continue;
      if (is_past_largest()) fail_past_largest(run, row);
      numbers[static_cast<size_t>(row)] = next();
    }
    run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
    run.nest = Nest::tuple({Nest::leaf(), run.nest});
    return pulled;
  }
  Entry snapshot() const override { return {out(), count_, cursors()}; }
  Result<Json> entry_json(const Entry& entry, DeferredParts&) const STOKER_REQUIRES(engine_lock) override {
    Json json = Json::dict();
    json.set("count", std::any_cast<int64_t>(entry.state));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const Json& count = saved_part(json, "count");  // any number, also a negative one
    if (!count.as<int64_t>()) return Error::invalid("the checkpoint is damaged: a count");
    count_ = *count.as<int64_t>();
    return {};
  }

 private:
  int64_t next() {
    const int64_t now = count_;
    if (!is_past_largest()) count_ = now == INT64_MAX ? INT64_MIN : now + 1;
    return now;
  }
  // The number after the largest one wraps around. A count from the smallest one does not get there.
  bool is_past_largest() const { return count_ == INT64_MIN && plan_.first != INT64_MIN; }
  void fail_past_largest(Run& run, int32_t row) const {
    Error error = no_number_left(plan_.first);
    annotate(error, *plan_.node, run.origins.at(row), instance_.make.sources);
    run.fail(row, std::move(error));
  }

  const EnumerateLinePlan& plan_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<LineNode> ZipLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<ZipLine>(*this, instance, pass);
}

Recomputed ZipLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  if (!origin.members || origin.members->size() != inputs.size()) return Recomputed::impossible();
  Runs parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Recomputed part = inputs[i]->recompute((*origin.members)[i], context);
    if (!part.complete || part.is_lost()) return part;
    parts.push_back(std::move(part.run));
  }
  return {zip_rows(std::move(parts))};
}

std::unique_ptr<LineNode> ConcatenateLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<ConcatenateLine>(*this, instance, pass);
}

Recomputed ConcatenateLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  const int32_t source = outermost(origin).source;
  const auto input = std::ranges::find_if(inputs, [&](const auto& one) { return one->reads(source); });
  return (input == inputs.end() ? inputs.back() : *input)->recompute(origin, context);
}

std::unique_ptr<LineNode> EnumerateLinePlan::start(Instance& instance, int64_t pass) const {
  return std::make_unique<EnumerateLine>(*this, instance, pass);
}

Recomputed EnumerateLinePlan::recompute(const Origin& origin, const MakeContext& context) const {
  return only_if_lost(inputs[0]->recompute(origin, context));
}

}  // namespace stoker
