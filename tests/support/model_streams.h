#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/model_values.h"

// The model's stages: each is a stream that pulls from the streams of its inputs.
namespace stoker::model {

struct Item {
  // A failure keeps its position until a stage combines several elements; after that,
  // it is only reported.
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

// The state of the nodes of one graph: started passes and caches.
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

// Starts a pass over every stage of a graph.
StreamPtr open(const Tree& tree, Nodes& nodes, Steps& steps);

// Stages that handle elements one by one: sources, maps and filters, batch and unbatch,
// selections by position, enumerate, ignore_errors and assert_cardinality.
StreamPtr source_stream(const Stage& stage, const Value* opened_by, Steps& steps);
StreamPtr single_stream(const Stage& stage, StreamPtr input);
StreamPtr batch_stream(const Stage& stage, StreamPtr input);
StreamPtr unbatch_stream(StreamPtr input);
StreamPtr select_stream(const Stage& stage, StreamPtr input);
StreamPtr enumerate_stream(const Stage& stage, StreamPtr input);
StreamPtr ignore_errors_stream(StreamPtr input);
StreamPtr assert_stream(const Stage& stage, StreamPtr input);

// Stages that change the order, repeat passes or combine streams.
StreamPtr shuffle_stream(const Stage& stage, StreamPtr input, int64_t pass);
StreamPtr global_shuffle_stream(StreamPtr input);
StreamPtr repeat_stream(const Stage& stage, Nodes& nodes, Steps& steps);
StreamPtr cache_stream(std::shared_ptr<Nodes::Cached> cached);
StreamPtr zip_stream(std::vector<StreamPtr> inputs);
StreamPtr concatenate_stream(std::vector<StreamPtr> inputs);
StreamPtr interleave_stream(const Stage& stage, StreamPtr input, Steps& steps);

}  // namespace stoker::model
