// The model's stages that handle elements one by one, and its sources.
#include <deque>
#include <utility>

#include "support/model_streams.h"

namespace stoker::model {
namespace {

Value number(int64_t x) { return {"x", {{{}, {x}}}}; }

class Source final : public Stream {
 public:
  Source(const Stage& stage, const Value* opened_by, Steps& steps)
      : stage_(stage), steps_(steps), n_(stage.params.count), first_(stage.params.start) {
    if (stage.kind != Kind::kRangeOf) return;
    n_ = count_for(*opened_by, stage.params);
    first_ = start_for(*opened_by);
  }
  MaybeItem next() override {
    steps_.count();
    if (at_ == n_) return {};
    if (stage_.kind != Kind::kSlices) return Item{Item::Kind::kValue, number(first_ + at_++), {}};
    const int64_t width = stage_.params.width;
    Value row{"x", {{{width}, {}}}};
    for (int64_t i = 0; i < width; ++i) row.leaves[0].numbers.push_back(at_ * width + i);
    ++at_;
    return Item{Item::Kind::kValue, std::move(row), {}};
  }

 private:
  const Stage& stage_;
  Steps& steps_;
  int64_t n_;
  int64_t first_;
  int64_t at_ = 0;
};

// Maps and filters, which handle each element alone.
class Single final : public Stream {
 public:
  Single(const Stage& stage, StreamPtr input) : stage_(stage), input_(std::move(input)) {}
  MaybeItem next() override {
    while (MaybeItem item = input_->next()) {
      if (!item->is_value() || !apply(*item)) return item;
    }
    return {};
  }

 private:
  // Whether the element is dropped.
  bool apply(Item& item) const {
    Value& value = item.value;
    const Params& params = stage_.params;
    switch (stage_.kind) {
      case Kind::kMap:
        for (Leaf& leaf : value.leaves)
          for (int64_t& x : leaf.numbers) x = mapped(x, params);
        return false;
      case Kind::kWiden: {
        Leaf wide{{params.width}, {}};
        for (int64_t i = 0; i < params.width; ++i) wide.numbers.push_back(widened(value, i));
        value = {"x", {std::move(wide)}};
        return false;
      }
      case Kind::kFail:
        if (fails(value, params)) item = Item::failed((params.throws ? "a function failed: " : "") + failure(value));
        return false;
      case Kind::kFilter: return is_dropped(value, params);
      case Kind::kDoubt:
        if (fails(value, params)) {
          item = Item::failed(failure(value));
          return false;
        }
        return is_doubtful(value, params);
      default: return false;
    }
  }
  const Stage& stage_;
  StreamPtr input_;
};

class BatchStream final : public Stream {
 public:
  BatchStream(const Stage& stage, StreamPtr input) : stage_(stage), input_(std::move(input)) {}
  MaybeItem next() override {
    while (static_cast<int64_t>(open_.size()) < stage_.params.batch_size) {
      MaybeItem item = input_->next();
      if (!item) {
        if (open_.empty() || stage_.params.drop_remainder) return {};
        break;
      }
      if (!item->is_value()) return Item::struck(item->error);
      open_.push_back(std::move(item->value));
    }
    return stacked(std::exchange(open_, {}));
  }

 private:
  static Item stacked(std::vector<Value> rows) {
    Value batch = rows[0];
    for (size_t leaf = 0; leaf < batch.leaves.size(); ++leaf) {
      Leaf& all = batch.leaves[leaf];
      for (size_t row = 1; row < rows.size(); ++row) {
        const Leaf& one = rows[row].leaves[leaf];
        if (one.dims != rows[0].leaves[leaf].dims) return Item::failed("stack");
        all.numbers.insert(all.numbers.end(), one.numbers.begin(), one.numbers.end());
      }
      all.dims.insert(all.dims.begin(), static_cast<int64_t>(rows.size()));
    }
    return {Item::Kind::kValue, std::move(batch), {}};
  }
  const Stage& stage_;
  StreamPtr input_;
  std::vector<Value> open_;
};

class UnbatchStream final : public Stream {
 public:
  explicit UnbatchStream(StreamPtr input) : input_(std::move(input)) {}
  MaybeItem next() override {
    while (rows_.empty()) {
      MaybeItem item = input_->next();
      if (!item) return {};
      if (!item->is_value()) return Item::struck(item->error);
      for (const Leaf& leaf : item->value.leaves)
        if (leaf.dims.empty() || leaf.dims[0] != item->value.leaves[0].dims[0]) return Item::failed("unbatch");
      split(item->value);
    }
    Value row = std::move(rows_.front());
    rows_.pop_front();
    return Item{Item::Kind::kValue, std::move(row), {}};
  }

 private:
  void split(const Value& batch) {
    const auto n = static_cast<size_t>(batch.leaves[0].dims[0]);
    for (size_t i = 0; i < n; ++i) {
      Value row{batch.structure, {}};
      for (const Leaf& leaf : batch.leaves) {
        const size_t each = leaf.numbers.size() / n;
        const auto first = leaf.numbers.begin() + static_cast<std::ptrdiff_t>(i * each);
        row.leaves.push_back(
            {{leaf.dims.begin() + 1, leaf.dims.end()}, {first, first + static_cast<std::ptrdiff_t>(each)}});
      }
      rows_.push_back(std::move(row));
    }
  }
  StreamPtr input_;
  std::deque<Value> rows_;
};

// take, skip and shard, which select by position.
class SelectStream final : public Stream {
 public:
  SelectStream(const Stage& stage, StreamPtr input) : stage_(stage), input_(std::move(input)) {}
  MaybeItem next() override {
    const Params& p = stage_.params;
    if (stage_.kind == Kind::kSkip && p.count < 0) return {};
    while (stage_.kind != Kind::kTake || p.count < 0 || seen_ < p.count) {
      MaybeItem item = input_->next();
      if (!item || !item->has_place()) return item;
      const int64_t place = seen_++;
      if (stage_.kind == Kind::kSkip && place < p.count) continue;
      if (stage_.kind == Kind::kShard && place % p.num_shards != p.index) continue;
      return item;
    }
    return {};
  }

 private:
  const Stage& stage_;
  StreamPtr input_;
  int64_t seen_ = 0;
};

class EnumerateStream final : public Stream {
 public:
  EnumerateStream(const Stage& stage, StreamPtr input) : input_(std::move(input)), count_(stage.params.start) {}
  MaybeItem next() override {
    MaybeItem item = input_->next();
    if (!item || !item->has_place()) return item;
    const int64_t count = count_++;
    if (!item->is_value()) return item;
    item->value.structure = "(x, " + item->value.structure + ")";
    item->value.leaves.insert(item->value.leaves.begin(), Leaf{{}, {count}});
    return item;
  }

 private:
  StreamPtr input_;
  int64_t count_;
};

class IgnoreErrorsStream final : public Stream {
 public:
  explicit IgnoreErrorsStream(StreamPtr input) : input_(std::move(input)) {}
  MaybeItem next() override {
    MaybeItem item = input_->next();
    while (item && !item->is_value()) item = input_->next();
    return item;
  }

 private:
  StreamPtr input_;
};

class AssertStream final : public Stream {
 public:
  AssertStream(const Stage& stage, StreamPtr input) : stage_(stage), input_(std::move(input)) {}
  MaybeItem next() override {
    if (ended_) return {};
    MaybeItem item = input_->next();
    if (item && !item->has_place()) return item;
    if (item && ++seen_ <= stage_.params.count) return item;
    ended_ = true;
    if (!item && seen_ == stage_.params.count) return {};
    return Item::struck(item ? "more" : "fewer");
  }

 private:
  const Stage& stage_;
  StreamPtr input_;
  int64_t seen_ = 0;
  bool ended_ = false;
};

}  // namespace

StreamPtr source_stream(const Stage& stage, const Value* opened_by, Steps& steps) {
  return std::make_unique<Source>(stage, opened_by, steps);
}
StreamPtr single_stream(const Stage& stage, StreamPtr input) {
  return std::make_unique<Single>(stage, std::move(input));
}
StreamPtr batch_stream(const Stage& stage, StreamPtr input) {
  return std::make_unique<BatchStream>(stage, std::move(input));
}
StreamPtr unbatch_stream(StreamPtr input) { return std::make_unique<UnbatchStream>(std::move(input)); }
StreamPtr select_stream(const Stage& stage, StreamPtr input) {
  return std::make_unique<SelectStream>(stage, std::move(input));
}
StreamPtr enumerate_stream(const Stage& stage, StreamPtr input) {
  return std::make_unique<EnumerateStream>(stage, std::move(input));
}
StreamPtr ignore_errors_stream(StreamPtr input) { return std::make_unique<IgnoreErrorsStream>(std::move(input)); }
StreamPtr assert_stream(const Stage& stage, StreamPtr input) {
  return std::make_unique<AssertStream>(stage, std::move(input));
}

}  // namespace stoker::model
