#include "support/model.h"

#include <array>
#include <deque>
#include <map>

#include "support/support.h"

namespace stoker::model {

Tree stage(Kind kind, std::vector<Tree> inputs, int64_t a, int64_t b, int64_t c, Tree child) {
  return std::make_shared<Stage>(Stage{kind, a, b, c, std::move(inputs), std::move(child)});
}

Tree copy_of(const Tree& tree) {
  auto copy = std::make_shared<Stage>(*tree);
  for (Tree& input : copy->inputs) input = copy_of(input);
  if (copy->child) copy->child = copy_of(copy->child);
  return copy;
}

namespace {

std::string_view name_of(Kind kind) {
  static constexpr std::string_view kNames[] = {
      "range",    "slices",        "generator",     "range_of",      "map",
      "fail",     "filter",        "doubt",         "widen",         "batch",
      "unbatch",  "shuffle",       "repeat",        "take",          "skip",
      "shard",    "zip",           "concatenate",   "enumerate",     "cache",
      "prefetch", "interleave",    "flat_map",      "ignore_errors", "assert_cardinality",
      "noise",    "drawn_shuffle", "global_shuffle"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

std::string words_of(const Tree& tree) {
  std::string text;
  if (!tree->inputs.empty() && tree->kind != Kind::kZip) text = words_of(tree->inputs[0]) + ".";
  text += std::string(name_of(tree->kind)) + "(";
  if (tree->kind == Kind::kZip) {
    text += words_of(tree->inputs[0]) + ", " + words_of(tree->inputs[1]) + ")";
    return text;
  }
  if (tree->kind == Kind::kConcatenate) return text + words_of(tree->inputs[1]) + ")";
  text += std::to_string(tree->a);
  if (tree->b || tree->c) text += ", " + std::to_string(tree->b);
  if (tree->c) text += ", " + std::to_string(tree->c);
  if (tree->child) text += ", " + words_of(tree->child);
  return text + ")";
}

bool answered(const Tree& tree) {
  if (tree->kind >= Kind::kNoise) return false;
  for (const Tree& input : tree->inputs)
    if (!answered(input)) return false;
  return !tree->child || answered(tree->child);
}

namespace {

bool has_repeat(const Tree& tree) {
  if (tree->kind == Kind::kRepeat) return true;
  for (const Tree& input : tree->inputs)
    if (has_repeat(input)) return true;
  return false;
}

}  // namespace

bool passes_are_delivered(const Tree& tree) {
  if (!has_repeat(tree)) return true;
  bool more_repeats = true;
  for (const Stage* at = tree.get();; at = at->inputs[0].get()) {
    switch (at->kind) {
      case Kind::kRepeat:
        if (at->a == 0) return false;
        more_repeats = has_repeat(at->inputs[0]);
        break;
      case Kind::kMap:
      case Kind::kFail:
      case Kind::kWiden:
      case Kind::kEnumerate:
      case Kind::kPrefetch: break;
      case Kind::kShuffle:
      case Kind::kCache:
        if (more_repeats) return false;
        break;
      case Kind::kRange:
      case Kind::kSlices:
      case Kind::kGenerator: return at->a > 0;
      default: return false;
    }
  }
}

namespace {

// ---- what elements are, to both

struct Leaf {
  std::vector<int64_t> dims;
  std::vector<int64_t> numbers;
};
struct Value {
  std::string structure = "x";
  std::vector<Leaf> leaves;
};

constexpr int64_t kPrime = 1'000'003;

int64_t mapped(int64_t x, const Stage& stage) { return (x * stage.a + stage.b) % kPrime; }

// A number below 2^31 that hangs on every number of an element.
int64_t hash_of(const Value& value, int64_t salt) {
  uint64_t h = 1469598103934665603u + static_cast<uint64_t>(salt);
  for (const Leaf& leaf : value.leaves)
    for (int64_t x : leaf.numbers) h = (h ^ static_cast<uint64_t>(x)) * 1099511628211u;
  h ^= h >> 29;
  h *= 0xBF58476D1CE4E5B9u;
  return static_cast<int64_t>(h >> 33);
}

Value value_of(const Element& element) {
  Value value;
  value.structure = element.nest->words();
  for (const Array& array : element.leaves) {
    Leaf leaf;
    leaf.dims.assign(array.dims().begin(), array.dims().end());
    const auto numbers = array.values<int64_t>();
    leaf.numbers.assign(numbers.begin(), numbers.end());
    value.leaves.push_back(std::move(leaf));
  }
  return value;
}

std::string words_of(const Value& value) {
  std::string text = value.structure;
  for (const Leaf& leaf : value.leaves) {
    text += " " + stoker::words_of(Dims(leaf.dims));
    for (int64_t x : leaf.numbers) text += " " + std::to_string(x);
  }
  return text;
}

bool fails(const Value& value, const Stage& stage) { return hash_of(value, stage.b) % stage.a == 0; }
bool drops(const Value& value, const Stage& stage) { return hash_of(value, stage.b + 77) % stage.a == 0; }
std::string failure(const Value& value) { return "bad " + std::to_string(hash_of(value, 5)); }
bool opens_nothing(const Value& value, const Stage& stage) { return stage.c > 0 && hash_of(value, 31) % stage.c == 0; }
int64_t count_for(const Value& opened_by, const Stage& stage) { return hash_of(opened_by, 3) % stage.a; }
int64_t start_for(const Value& opened_by) { return hash_of(opened_by, 4) % 1000; }

// ---- the engine's side

struct TestMap {
  static constexpr std::string_view kName = "test_map";
  static constexpr std::string_view kDoc = "Multiplies and adds.";
  Stage stage;
  void describe(Fields& f) {
    f("a", stage.a);
    f("b", stage.b);
  }
  Result<Element> apply(Element element, Context&) const {
    for (Array& leaf : element.leaves) {
      Result<Array> made = Array::make(leaf.dims(), DType::kInt64);
      if (!made) return made.error();
      const auto from = leaf.values<int64_t>();
      auto to = made->mutable_values<int64_t>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = mapped(from[i], stage);
      leaf = *std::move(made);
    }
    return element;
  }
};

struct TestWiden {
  static constexpr std::string_view kName = "test_widen";
  static constexpr std::string_view kDoc = "An array from a number.";
  int64_t width = 1;
  void describe(Fields& f) { f("width", width); }
  Result<Spec> spec(std::span<const Spec>) const {
    return Spec{Nest::leaf(), {{DType::kInt64, std::vector<int64_t>{width}}}};
  }
  Result<Element> apply(Element element, Context&) const {
    const int64_t x = hash_of(value_of(element), 1);
    Result<Array> made = Array::make({width}, DType::kInt64);
    if (!made) return made.error();
    for (int64_t i = 0; i < width; ++i) made->mutable_values<int64_t>()[static_cast<size_t>(i)] = x + i;
    return Element(*std::move(made));
  }
};

struct TestFail {
  static constexpr std::string_view kName = "test_fail";
  static constexpr std::string_view kDoc = "Fails some.";
  Stage stage;
  void describe(Fields& f) {
    f("a", stage.a);
    f("b", stage.b);
    f("c", stage.c);
  }
  Result<Element> apply(Element element, Context&) const {
    const Value value = value_of(element);
    if (!fails(value, stage)) return element;
    if (stage.c) throw std::runtime_error(failure(value));
    return Error::corrupt(failure(value));
  }
};

struct TestFilter {
  static constexpr std::string_view kName = "test_filter";
  static constexpr std::string_view kDoc = "Drops some.";
  Stage stage;
  void describe(Fields& f) {
    f("a", stage.a);
    f("b", stage.b);
    f("c", stage.c);
  }
  Result<bool> keep(const Element& element, Context&) const {
    const Value value = value_of(element);
    if (stage.kind == Kind::kFilter) return !drops(value, stage);
    if (fails(value, stage)) return Error::corrupt(failure(value));
    return hash_of(value, stage.b + 1) % 3 != 0;
  }
};

struct TestNoise {
  static constexpr std::string_view kName = "test_noise";
  static constexpr std::string_view kDoc = "Adds random numbers.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context& context) const {
    Rng numbers = context.rng();
    for (Array& leaf : element.leaves) {
      Result<Array> made = Array::make(leaf.dims(), DType::kInt64);
      if (!made) return made.error();
      const auto from = leaf.values<int64_t>();
      auto to = made->mutable_values<int64_t>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] * 1000 + numbers.below(1000);
      leaf = *std::move(made);
    }
    return element;
  }
};

Dataset built(const Tree& tree, const Value* opened_by);

Dataset map_of(const Dataset& input, const Stage& stage) {
  // Expressions and typed functions want the remainder's sign to agree, and
  // numbers here are never negative.
  const bool one = input.element_spec().known() && input.element_spec().leaves.size() == 1;
  if (stage.c == 1 && one)
    return input.map({.map_func = [a = stage.a, b = stage.b](stoker::Value x) { return (x * a + b) % kPrime; }});
  const bool scalar = one && input.element_spec().leaves[0].shape && input.element_spec().leaves[0].shape->empty();
  if (stage.c == 2 && scalar)
    return input.map({.map_func = [stage](int64_t x) { return mapped(x, stage); }, .num_parallel_calls = 2});
  return input.then(TestMap{stage});
}

GraphFunction opener(const Stage& stage) {
  return [child = stage.child, stage](const Element& element) -> Result<Dataset> {
    const Value value = value_of(element);
    if (opens_nothing(value, stage)) return Error::invalid(failure(value));
    return built(child, &value);
  };
}

Dataset generator(int64_t n) {
  return Dataset::from_generator({.generator = [n] {
    return [n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::optional<Element>();
      return std::optional<Element>(Element(Array::of<int64_t>(i++)));
    };
  }});
}

Dataset slices(const Stage& stage) {
  Array rows = Array::make({stage.a, stage.b}, DType::kInt64).value();
  auto to = rows.mutable_values<int64_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int64_t>(i);
  return Dataset::from_tensor_slices({.tensors = Element(std::move(rows))});
}

Dataset built(const Tree& tree, const Value* opened_by) {
  const Stage& s = *tree;
  std::vector<Dataset> in;
  for (const Tree& input : s.inputs) in.push_back(built(input, opened_by));
  switch (s.kind) {
    case Kind::kRange: return Dataset::range({.start = s.b, .stop = s.b + s.a});
    case Kind::kSlices: return slices(s);
    case Kind::kGenerator: return generator(s.a);
    case Kind::kRangeOf: {
      if (opened_by == nullptr) return Error::internal("a range that nothing opened");
      const int64_t start = start_for(*opened_by);
      return Dataset::range({.start = start, .stop = start + count_for(*opened_by, s)});
    }
    case Kind::kMap: return map_of(in[0], s);
    case Kind::kFail: return in[0].then(TestFail{s});
    case Kind::kFilter:
    case Kind::kDoubt: return in[0].then(TestFilter{s});
    case Kind::kWiden: return in[0].then(TestWiden{s.a});
    case Kind::kBatch: return in[0].batch({.batch_size = s.a, .drop_remainder = s.b != 0});
    case Kind::kUnbatch: return in[0].unbatch({});
    case Kind::kShuffle: return in[0].shuffle({.buffer_size = s.a, .seed = s.b, .reshuffle_each_iteration = s.c == 0});
    case Kind::kRepeat: return in[0].repeat({.count = s.a});
    case Kind::kTake: return in[0].take({.count = s.a});
    case Kind::kSkip: return in[0].skip({.count = s.a});
    case Kind::kShard: return in[0].shard({.num_shards = s.a, .index = s.b});
    case Kind::kZip: return Dataset::zip({.datasets = {in[0], in[1]}});
    case Kind::kConcatenate: return in[0].concatenate({.dataset = in[1]});
    case Kind::kEnumerate: return in[0].enumerate({.start = s.a});
    case Kind::kCache: return in[0].cache({});
    case Kind::kPrefetch: return in[0].prefetch({.buffer_size = s.a});
    case Kind::kInterleave: return in[0].interleave({.map_func = opener(s), .cycle_length = s.a, .block_length = s.b});
    case Kind::kFlatMap: return in[0].flat_map({.map_func = opener(s)});
    case Kind::kIgnoreErrors: return in[0].ignore_errors({});
    case Kind::kAssertCardinality: return in[0].assert_cardinality({.expected_cardinality = s.a});
    case Kind::kNoise: return in[0].then(TestNoise{});
    case Kind::kDrawnShuffle: return in[0].shuffle({.buffer_size = s.a});
    case Kind::kGlobalShuffle: return in[0].shuffle({.seed = s.a});
  }
  return Error::internal("a kind without a data set");
}

}  // namespace

Dataset build(const Tree& tree) { return built(tree, nullptr); }

std::string words_of(const Element& element) { return words_of(value_of(element)); }

// The engine's own errors are told by kind: their wording is for people.
std::string words_of(const Error& error) {
  static constexpr std::pair<std::string_view, std::string_view> kOwn[] = {
      {"cannot stack", "stack"},
      {"the input has more than", "more"},
      {"the input ended after", "fewer"},
      {"component ", "unbatch"},
  };
  for (const auto& [start, name] : kOwn)
    if (error.message().starts_with(start)) return "error: " + std::string(name);
  return "error: " + error.message();
}

namespace {

// ---- the model

struct Item {
  // A failure keeps its place until a stage fills something from several
  // elements; from then on it is only told.
  enum class Kind { kValue, kFailed, kStruck };
  Kind kind = Kind::kValue;
  Value value;
  std::string error;

  static Item failed(std::string error) { return {Kind::kFailed, {}, std::move(error)}; }
  static Item struck(std::string error) { return {Kind::kStruck, {}, std::move(error)}; }
  bool is_value() const { return kind == Kind::kValue; }
  bool has_place() const { return kind != Kind::kStruck; }
};
using MaybeItem = std::optional<Item>;

class Stream {
 public:
  virtual ~Stream() = default;
  virtual MaybeItem next() = 0;
};
using StreamPtr = std::unique_ptr<Stream>;

// What belongs to the nodes of one graph: passes begun, caches.
struct Nodes {
  struct Cached {
    std::vector<Item> items;
    StreamPtr input;
    bool ended = false;
  };
  std::map<const Stage*, int64_t> passes;
  std::map<const Stage*, std::shared_ptr<Cached>> caches;
  const Value* opened_by = nullptr;
};

struct Steps {
  int64_t left = 0;
  void count() {
    if (--left < 0) throw TooLong();
  }
};

StreamPtr open(const Tree& tree, Nodes& nodes, Steps& steps);

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

Numbers numbers_of_pass(const Stage& stage, int64_t pass) {
  constexpr int64_t kModulus = (int64_t{1} << 31) - 1;
  const auto seed = static_cast<uint64_t>(87654321);
  const auto seed2 = static_cast<uint64_t>((stage.b % kModulus + kModulus) % kModulus);
  Numbers parent(seed, seed2);
  if (stage.c != 0) return parent;
  uint32_t first = 0, second = 0;
  for (int64_t i = 0; i <= pass; ++i) {
    first = parent.next();
    second = parent.next();
  }
  return {first, second};
}

Value number(int64_t x) { return {"x", {{{}, {x}}}}; }

class Source final : public Stream {
 public:
  Source(const Stage& stage, const Value* opened_by, Steps& steps) : stage_(stage), steps_(steps), n_(stage.a) {
    if (stage.kind == Kind::kRange) first_ = stage.b;
    if (stage.kind != Kind::kRangeOf) return;
    n_ = count_for(*opened_by, stage);
    first_ = start_for(*opened_by);
  }
  MaybeItem next() override {
    steps_.count();
    if (at_ == n_) return {};
    if (stage_.kind != Kind::kSlices) return Item{Item::Kind::kValue, number(first_ + at_++), {}};
    Value row{"x", {{{stage_.b}, {}}}};
    for (int64_t i = 0; i < stage_.b; ++i) row.leaves[0].numbers.push_back(at_ * stage_.b + i);
    ++at_;
    return Item{Item::Kind::kValue, std::move(row), {}};
  }

 private:
  const Stage& stage_;
  Steps& steps_;
  int64_t n_;
  int64_t first_ = 0;
  int64_t at_ = 0;
};

// Maps and filters: each element by itself.
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
  // Whether it is dropped.
  bool apply(Item& item) const {
    Value& value = item.value;
    switch (stage_.kind) {
      case Kind::kMap:
        for (Leaf& leaf : value.leaves)
          for (int64_t& x : leaf.numbers) x = mapped(x, stage_);
        return false;
      case Kind::kWiden: {
        Leaf wide{{stage_.a}, {}};
        for (int64_t i = 0; i < stage_.a; ++i) wide.numbers.push_back(hash_of(value, 1) + i);
        value = {"x", {std::move(wide)}};
        return false;
      }
      case Kind::kFail:
        if (fails(value, stage_)) item = Item::failed((stage_.c ? "a function failed: " : "") + failure(value));
        return false;
      case Kind::kFilter: return drops(value, stage_);
      case Kind::kDoubt:
        if (fails(value, stage_)) {
          item = Item::failed(failure(value));
          return false;
        }
        return hash_of(value, stage_.b + 1) % 3 == 0;
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
    while (static_cast<int64_t>(open_.size()) < stage_.a) {
      MaybeItem item = input_->next();
      if (!item) {
        if (open_.empty() || stage_.b != 0) return {};
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

class ShuffleStream final : public Stream {
 public:
  ShuffleStream(const Stage& stage, StreamPtr input, int64_t pass)
      : stage_(stage), input_(std::move(input)), numbers_(numbers_of_pass(stage, pass)) {}
  MaybeItem next() override {
    while (!ended_ && static_cast<int64_t>(buffer_.size()) < stage_.a) {
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
    if (stage.a != 0) begin();
  }
  MaybeItem next() override {
    while (input_) {
      steps_.count();
      if (MaybeItem item = input_->next()) {
        gave_ = true;
        return item;
      }
      input_.reset();
      if (stage_.a < 0 ? gave_ : begun_ < stage_.a) begin();
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

// take, skip, shard: by place.
class SelectStream final : public Stream {
 public:
  SelectStream(const Stage& stage, StreamPtr input) : stage_(stage), input_(std::move(input)) {}
  MaybeItem next() override {
    if (stage_.kind == Kind::kSkip && stage_.a < 0) return {};
    while (stage_.kind != Kind::kTake || stage_.a < 0 || seen_ < stage_.a) {
      MaybeItem item = input_->next();
      if (!item || !item->has_place()) return item;
      const int64_t place = seen_++;
      if (stage_.kind == Kind::kSkip && place < stage_.a) continue;
      if (stage_.kind == Kind::kShard && place % stage_.a != stage_.b) continue;
      return item;
    }
    return {};
  }

 private:
  const Stage& stage_;
  StreamPtr input_;
  int64_t seen_ = 0;
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
      Item part = *std::exchange(have_[k], {});
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

class EnumerateStream final : public Stream {
 public:
  EnumerateStream(const Stage& stage, StreamPtr input) : input_(std::move(input)), count_(stage.a) {}
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

// Wants all of its input before it gives anything, in an order that the model
// does not know: over an endless one it takes too long.
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

// Every pass over a cache is the first one again.
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
        slots_(stage.kind == Kind::kFlatMap ? 1 : static_cast<size_t>(stage.a)),
        block_(stage.kind == Kind::kFlatMap ? INT64_MAX : stage.b) {}

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
      if (item->is_value() && opens_nothing(item->value, stage_)) item = Item::failed(failure(item->value));
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
      stream = std::move(other.stream);  // before what it reads
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
    if (item && ++seen_ <= stage_.a) return item;
    ended_ = true;
    if (!item && seen_ == stage_.a) return {};
    return Item::struck(item ? "more" : "fewer");
  }

 private:
  const Stage& stage_;
  StreamPtr input_;
  int64_t seen_ = 0;
  bool ended_ = false;
};

// Opens a pass over every stage of a graph. A stage that counts passes takes
// the next number here; those below a cache take theirs once.
StreamPtr open(const Tree& tree, Nodes& nodes, Steps& steps) {
  const Stage& s = *tree;
  if (s.kind == Kind::kRepeat) return std::make_unique<RepeatStream>(s, nodes, steps);
  if (s.kind == Kind::kCache) {
    std::shared_ptr<Nodes::Cached>& cached = nodes.caches[&s];
    if (!cached) {
      cached = std::make_shared<Nodes::Cached>();
      cached->input = open(s.inputs[0], nodes, steps);
    }
    return std::make_unique<CacheStream>(cached);
  }
  std::vector<StreamPtr> in;
  for (const Tree& input : s.inputs) in.push_back(open(input, nodes, steps));
  switch (s.kind) {
    case Kind::kRange:
    case Kind::kSlices:
    case Kind::kGenerator:
    case Kind::kRangeOf: return std::make_unique<Source>(s, nodes.opened_by, steps);
    case Kind::kMap:
    case Kind::kFail:
    case Kind::kFilter:
    case Kind::kDoubt:
    case Kind::kWiden: return std::make_unique<Single>(s, std::move(in[0]));
    case Kind::kBatch: return std::make_unique<BatchStream>(s, std::move(in[0]));
    case Kind::kUnbatch: return std::make_unique<UnbatchStream>(std::move(in[0]));
    case Kind::kShuffle: return std::make_unique<ShuffleStream>(s, std::move(in[0]), nodes.passes[&s]++);
    case Kind::kTake:
    case Kind::kSkip:
    case Kind::kShard: return std::make_unique<SelectStream>(s, std::move(in[0]));
    case Kind::kZip: return std::make_unique<ZipStream>(std::move(in));
    case Kind::kConcatenate: return std::make_unique<ConcatenateStream>(std::move(in));
    case Kind::kEnumerate: return std::make_unique<EnumerateStream>(s, std::move(in[0]));
    case Kind::kInterleave:
    case Kind::kFlatMap: return std::make_unique<InterleaveStream>(s, std::move(in[0]), steps);
    case Kind::kIgnoreErrors: return std::make_unique<IgnoreErrorsStream>(std::move(in[0]));
    case Kind::kAssertCardinality: return std::make_unique<AssertStream>(s, std::move(in[0]));
    case Kind::kGlobalShuffle: return std::make_unique<WholeStream>(std::move(in[0]));
    default: return std::move(in[0]);  // prefetch; what the model does not answer passes through
  }
}

}  // namespace

struct Model::Parts {
  Tree tree;
  Steps steps;
  Nodes nodes;
  StreamPtr stream;
};

namespace {
constexpr int64_t kSteps = 20'000;
}

Model::Model(Tree tree) : parts_(std::make_unique<Parts>()) {
  parts_->tree = std::move(tree);
  begin_epoch();
}
Model::~Model() = default;

void Model::begin_epoch() {
  parts_->steps.left = kSteps;
  parts_->stream = open(parts_->tree, parts_->nodes, parts_->steps);
}

std::optional<std::string> Model::next() {
  MaybeItem item = parts_->stream->next();
  if (!item) return {};
  return item->is_value() ? words_of(item->value) : "error: " + item->error;
}

std::vector<std::string> Model::rest(size_t at_most) {
  std::vector<std::string> all;
  while (all.size() < at_most) {
    std::optional<std::string> word = next();
    if (!word) break;
    all.push_back(*std::move(word));
  }
  return all;
}

}  // namespace stoker::model
