#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/graph/stage.h"

namespace stoker {

// What belongs to a node and not to an iterator: shared by every data set
// built on it.
struct NodeState {
  std::atomic<uint64_t> seed{0};  // drawn when the node was made, for what was given none

  Mutex mutex;
  std::shared_ptr<void> cache STOKER_GUARDED_BY(mutex);  // the runtime's, for `cache` nodes
  // Of the dataset that ends with this node: the next pass of each node that
  // counts passes. Datasets that share nodes do not share these.
  std::map<const NodeState*, int64_t> passes STOKER_GUARDED_BY(mutex);
};

// A stage and what it reads from. Immutable but for its NodeState.
struct Node {
  std::shared_ptr<const Stage> stage;
  std::vector<std::shared_ptr<const Node>> inputs;
  Location location;
  std::string name;  // given by the user, else the stage's
  Spec spec;         // of its elements
  int nesting = 0;   // levels of graphs inside graphs below this node
  std::shared_ptr<NodeState> state = std::make_shared<NodeState>();

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  // A chain of ten thousand stages is taken apart without recursion.
  ~Node();
};

// Checks parameters and types and makes the node; errors are in the stage's
// words. `input` is null for sources.
Result<std::shared_ptr<const Node>> make_node(std::shared_ptr<const Stage> stage, std::shared_ptr<const Node> input,
                                              Location location, std::string name = {});

// tf.data's cardinality: a length, kInfinite or kUnknown. With kAsKnown no file is
// looked at that need not be: a stream that could be counted is kUnknown.
enum class Counting { kAsKnown, kCounted };
Result<int64_t> cardinality_of(const Node& node, Counting counting);

// {"stoker": 1, "stages": […]}; large arrays go to files beside it.
Result<Json> graph_to_json(const Node& node, WriteContext& context);
Result<std::shared_ptr<const Node>> graph_from_json(const Json& json, ReadContext& context);

// A list of stages, as it stands where a parameter is a graph.
Result<Json> stages_to_json(const Node& node, WriteContext& context);
Result<std::shared_ptr<const Node>> stages_from_json(const Json& stages, ReadContext& context);

// The nodes from the sources to this one, each once, inputs before users.
std::vector<const Node*> nodes_of(const Node& node);

// Seeds for what was given none: from the system, or from set_seed on the
// same ones in the same order.
uint64_t draw_seed();
void set_seed(uint64_t seed);
// For operations outside any dataset: a seed, and the number of the call since
// set_seed.
struct EagerCall {
  uint64_t seed = 0;
  int64_t number = 0;
};
EagerCall next_eager_call();

// While it lives, the calling thread's drawn seeds follow from `base`: graphs
// made while a pipeline runs must not depend on who makes them when.
class SeedScope {
 public:
  explicit SeedScope(uint64_t base);
  ~SeedScope();
  SeedScope(const SeedScope&) = delete;
  SeedScope& operator=(const SeedScope&) = delete;

 private:
  std::optional<std::pair<uint64_t, uint64_t>> previous_;
};

}  // namespace stoker
