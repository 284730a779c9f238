// The model's stages that change the order, repeat passes or combine streams.
#include <array>
#include <deque>
#include <utility>

#include "support/model_streams.h"

namespace stoker::model {
namespace {

// Philox4x32-10 as TensorFlow uses it (1.4.1).
class Numbers {
 public:
  Numbers(uint64_t seed, uint64_t seed2)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        counter_{0, 0, static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)} {}
  uint32_t next() {
    if (at_ == 4) {
      block_ = counter_;
      auto key = key_;
      for (int round = 0; round < 10; ++round) {
        const uint64_t u = uint64_t{0xD2511F53} * block_[0];
        const uint64_t v = uint64_t{0xCD9E8D57} * block_[2];
        block_ = {static_cast<uint32_t>(v >> 32) ^ block_[1] ^ key[0], static_cast<uint32_t>(v),
                  static_cast<uint32_t>(u >> 32) ^ block_[3] ^ key[1], static_cast<uint32_t>(u)};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
      }
      for (uint32_t& word : counter_)
        if (++word != 0) break;
      at_ = 0;
    }
    return block_[static_cast<size_t>(at_++)];
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int at_ = 4;
};

Numbers numbers_of_pass(const Params& params, int64_t pass) {
  constexpr int64_t kModulus = (int64_t{1} << 31) - 1;
  const auto seed = static_cast<uint64_t>(87654321);
  const auto seed2 = static_cast<uint64_t>((params.seed % kModulus + kModulus) % kModulus);
  Numbers parent(seed, seed2);
  if (params.same_order) return parent;
  uint32_t first = 0, second = 0;
  for (int64_t i = 0; i <= pass; ++i) {
    first = parent.next();
    second = parent.next();
  }
  return {first, second};
}

class ShuffleStream final : public Stream {
 public:
  ShuffleStream(const Stage& stage, StreamPtr input, int64_t pass)
      : stage_(stage), input_(std::move(input)), numbers_(numbers_of_pass(stage.params, pass)) {}
  MaybeItem next() override {
    while (!ended_ && static_cast<int64_t>(buffer_.size()) < stage_.params.buffer_size) {
      MaybeItem item = input_->next();
      if (!item)
        ended_ = true;
      else if (!item->has_place())
        return item;
      else
        buffer_.push_back(*std::move(item));
    }
    if (buffer_.empty()) return {};
    const size_t i = numbers_.next() % buffer_.size();
    std::swap(buffer_[0], buffer_[i]);
    Item drawn = std::move(buffer_.front());
    buffer_.pop_front();
    return drawn;
  }

 private:
  const Stage& stage_;
  StreamPtr input_;
  Numbers numbers_;
  std::deque<Item> buffer_;
  bool ended_ = false;
};

class RepeatStream final : public Stream {
 public:
  RepeatStream(const Stage& stage, Nodes& nodes, Steps& steps) : stage_(stage), nodes_(nodes), steps_(steps) {
    if (stage.params.count != 0) begin();
  }
  MaybeItem next() override {
    while (input_) {
      steps_.count();
      if (MaybeItem item = input_->next()) {
        gave_ = true;
        return item;
      }
      input_.reset();
      if (stage_.params.count < 0 ? gave_ : begun_ < stage_.params.count) begin();
    }
    return {};
  }

 private:
  void begin() {
    ++begun_;
    gave_ = false;
    input_ = open(stage_.inputs[0], nodes_, steps_);
  }
  const Stage& stage_;
  Nodes& nodes_;
  Steps& steps_;
  StreamPtr input_;
  int64_t begun_ = 0;
  bool gave_ = false;
};

class ZipStream final : public Stream {
 public:
  explicit ZipStream(std::vector<StreamPtr> inputs) : inputs_(std::move(inputs)), have_(inputs_.size()) {}
  MaybeItem next() override {
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (have_[k]) continue;
      MaybeItem item = inputs_[k]->next();
      if (!item || !item->has_place()) return item;
      have_[k] = std::move(item);
    }
    Item joined;
    joined.value.structure = "(";
    for (size_t k = 0; k < inputs_.size(); ++k) {
      Item part = *std::move(have_[k]);
      have_[k].reset();
      if (joined.is_value() && !part.is_value()) joined = part;
      if (!joined.is_value()) continue;
      joined.value.structure += (k ? ", " : "") + part.value.structure;
      for (Leaf& leaf : part.value.leaves) joined.value.leaves.push_back(std::move(leaf));
    }
    joined.value.structure += ")";
    return joined;
  }

 private:
  std::vector<StreamPtr> inputs_;
  std::vector<MaybeItem> have_;
};

class ConcatenateStream final : public Stream {
 public:
  explicit ConcatenateStream(std::vector<StreamPtr> inputs) : inputs_(std::move(inputs)) {}
  MaybeItem next() override {
    for (; at_ < inputs_.size(); ++at_)
      if (MaybeItem item = inputs_[at_]->next()) return item;
    return {};
  }

 private:
  std::vector<StreamPtr> inputs_;
  size_t at_ = 0;
};

// Reads all of its input before it delivers an element. The model does not compute
// the order. Over an infinite input, it takes too many steps.
class WholeStream final : public Stream {
 public:
  explicit WholeStream(StreamPtr input) : input_(std::move(input)) {}
  MaybeItem next() override {
    while (MaybeItem item = input_->next()) items_.push_back(*std::move(item));
    if (items_.empty()) return {};
    Item first = std::move(items_.front());
    items_.pop_front();
    return first;
  }

 private:
  StreamPtr input_;
  std::deque<Item> items_;
};

// Every pass over a cache repeats the first one.
class CacheStream final : public Stream {
 public:
  explicit CacheStream(std::shared_ptr<Nodes::Cached> cached) : cached_(std::move(cached)) {}
  MaybeItem next() override {
    if (at_ == cached_->items.size()) {
      if (cached_->ended) return {};
      MaybeItem item = cached_->input->next();
      if (!item) {
        cached_->ended = true;
        return {};
      }
      cached_->items.push_back(*std::move(item));
    }
    return cached_->items[at_++];
  }

 private:
  const std::shared_ptr<Nodes::Cached> cached_;
  size_t at_ = 0;
};

class InterleaveStream final : public Stream {
 public:
  InterleaveStream(const Stage& stage, StreamPtr input, Steps& steps)
      : stage_(stage),
        input_(std::move(input)),
        steps_(steps),
        slots_(stage.kind == Kind::kFlatMap ? 1 : static_cast<size_t>(stage.params.cycle_length)),
        block_(stage.kind == Kind::kFlatMap ? INT64_MAX : stage.params.block_length) {}

  MaybeItem next() override {
    while (true) {
      steps_.count();
      Child& child = slots_[slot_];
      if (child.stream) {
        MaybeItem item = child.stream->next();
        if (!item) {
          child = {};
          move_on();
          continue;
        }
        if (item->has_place() && ++in_block_ == block_) move_on();
        return item;
      }
      if (exhausted_) {
        if (nothing_open()) return {};
        move_on();
        continue;
      }
      MaybeItem item = input_->next();
      if (!item) {
        exhausted_ = true;
        continue;
      }
      if (!item->has_place()) return item;
      if (item->is_value() && opens_nothing(item->value, stage_.params)) item = Item::failed(failure(item->value));
      if (!item->is_value()) {
        move_on();
        return item;
      }
      child.opened_by = std::make_unique<Value>(std::move(item->value));
      child.nodes = std::make_unique<Nodes>();
      child.nodes->opened_by = child.opened_by.get();
      child.stream = open(stage_.child, *child.nodes, steps_);
    }
  }

 private:
  struct Child {
    std::unique_ptr<Value> opened_by;
    std::unique_ptr<Nodes> nodes;
    StreamPtr stream;
    Child() = default;
    Child(Child&&) = default;
    Child& operator=(Child&& other) noexcept {
      stream = std::move(other.stream);  // destroyed before its input
      nodes = std::move(other.nodes);
      opened_by = std::move(other.opened_by);
      return *this;
    }
  };
  void move_on() {
    slot_ = (slot_ + 1) % slots_.size();
    in_block_ = 0;
  }
  bool nothing_open() const {
    for (const Child& child : slots_)
      if (child.stream) return false;
    return true;
  }

  const Stage& stage_;
  StreamPtr input_;
  Steps& steps_;
  std::vector<Child> slots_;
  const int64_t block_;
  size_t slot_ = 0;
  int64_t in_block_ = 0;
  bool exhausted_ = false;
};

}  // namespace

StreamPtr shuffle_stream(const Stage& stage, StreamPtr input, int64_t pass) {
  return std::make_unique<ShuffleStream>(stage, std::move(input), pass);
}
StreamPtr global_shuffle_stream(StreamPtr input) { return std::make_unique<WholeStream>(std::move(input)); }
StreamPtr repeat_stream(const Stage& stage, Nodes& nodes, Steps& steps) {
  return std::make_unique<RepeatStream>(stage, nodes, steps);
}
StreamPtr cache_stream(std::shared_ptr<Nodes::Cached> cached) {
  return std::make_unique<CacheStream>(std::move(cached));
}
StreamPtr zip_stream(std::vector<StreamPtr> inputs) { return std::make_unique<ZipStream>(std::move(inputs)); }
StreamPtr concatenate_stream(std::vector<StreamPtr> inputs) {
  return std::make_unique<ConcatenateStream>(std::move(inputs));
}
StreamPtr interleave_stream(const Stage& stage, StreamPtr input, Steps& steps) {
  return std::make_unique<InterleaveStream>(stage, std::move(input), steps);
}

}  // namespace stoker::model
