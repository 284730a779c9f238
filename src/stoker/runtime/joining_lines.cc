#include <algorithm>

#include "stoker/runtime/engine.h"
#include "stoker/runtime/lines.h"

namespace stoker {
namespace {

// Rows of several inputs side by side, until the first of them ends.
class ZipLine final : public LineNode {
 public:
  ZipLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
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
    return Pulled::of(joined(std::move(parts)));
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
  ConcatenateLine(const LinePlan& plan, Instance& instance, int64_t pass) : LineNode(plan, instance) {
    for (const auto& input : plan.inputs) inputs_.push_back(make_line(*input, instance, pass));
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
  Result<Json> entry_json(const Entry& entry) const override {
    Json json = Json::dict();
    json.set("input", static_cast<int64_t>(std::any_cast<size_t>(entry.state)));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    at_ = static_cast<size_t>(saved_count(json, "input"));
    if (at_ > inputs_.size()) return Error::invalid("the checkpoint is damaged: input ", at_, " of ", inputs_.size());
    return {};
  }

 private:
  size_t at_ = 0;
};

class EnumerateLine final : public LineNode {
 public:
  EnumerateLine(const LinePlan& plan, Instance& instance, int64_t pass)
      : LineNode(plan, instance), count_(plan.node->stage->engine().count) {
    inputs_.push_back(make_line(*plan.inputs[0], instance, pass));
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
      numbers[static_cast<size_t>(row)] = failure && failure->struck ? 0 : next();
    }
    run.columns.insert(run.columns.begin(), Column(Array::from(numbers)));
    run.nest = Nest::tuple({Nest::leaf(), run.nest});
    return pulled;
  }
  Entry snapshot() const override { return {out(), count_, cursors()}; }
  Result<Json> entry_json(const Entry& entry) const override {
    Json json = Json::dict();
    json.set("count", std::any_cast<int64_t>(entry.state));
    return json;
  }
  Result<void> restore_state(const Json& json) override {
    const Json& count = saved_part(json, "count");  // any number: it may start below 0
    if (!count.as<int64_t>()) return Error::invalid("the checkpoint is damaged: a count");
    count_ = *count.as<int64_t>();
    return {};
  }

 private:
  int64_t next() {  // wraps, as any counter of 64 bits does
    const int64_t now = count_;
    count_ = static_cast<int64_t>(static_cast<uint64_t>(count_) + 1);
    return now;
  }

  int64_t count_;
};

}  // namespace

std::unique_ptr<LineNode> make_zip_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<ZipLine>(plan, instance, pass);
}

std::unique_ptr<LineNode> make_concatenate_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<ConcatenateLine>(plan, instance, pass);
}

std::unique_ptr<LineNode> make_enumerate_line(const LinePlan& plan, Instance& instance, int64_t pass) {
  return std::make_unique<EnumerateLine>(plan, instance, pass);
}

}  // namespace stoker
