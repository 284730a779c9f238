#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/graph/stage.h"

namespace stoker {

// The mutable part of a node. Every dataset that is built on the node shares it.
struct NodeState {
  const uint64_t number;          // increases with each node that the process creates
  std::atomic<uint64_t> seed{0};  // drawn when the node was created; used if the user set none

  Mutex mutex;
  std::shared_ptr<void> cache STOKER_GUARDED_BY(mutex);  // owned by the runtime, for `cache` nodes
  // If this is the counting node of a dataset (runtime/plan.h): the next pass of each node that counts passes. Datasets
  // with the same counting node share these.
  std::map<const NodeState*, int64_t> passes STOKER_GUARDED_BY(mutex);

  NodeState();
};
// Returns the number that the next node will have.
uint64_t next_node_number();

// A stage and its inputs. Immutable, except for its NodeState.
struct Node {
  std::shared_ptr<const Stage> stage;
  std::vector<std::shared_ptr<const Node>> inputs;
  Location location;
  std::string name;  // set by the user; by default, the name of the stage
  Spec spec;         // of its elements
  int nesting = 0;   // levels of graphs inside graphs upstream
  std::shared_ptr<NodeState> state = std::make_shared<NodeState>();

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  // Frees the inputs without recursion: a chain may have ten thousand stages.
  ~Node();
};

// Checks parameters and types and creates the node. Errors start with the name of the stage. `input` is null for
// sources.
Result<std::shared_ptr<const Node>> make_node(std::shared_ptr<const Stage> stage, std::shared_ptr<const Node> input,
                                              Location location, std::string name = {});

// Returns tf.data's cardinality: a length, kInfinite or kUnknown. kAsKnown reads no files to count records: a stream
// whose records could be counted is kUnknown.
enum class Counting { kAsKnown, kCounted };
Result<int64_t> cardinality_of(const Node& node, Counting counting);

// The graph as {"stoker": 1, "stages": […]}. Large arrays are stored in files next to it.
Result<Json> graph_to_json(const Node& node, WriteContext& context);
Result<std::shared_ptr<const Node>> graph_from_json(const Json& json, ReadContext& context);

// A list of stages, the form of a parameter that is a graph.
Result<Json> stages_to_json(const Node& node, WriteContext& context);
Result<std::shared_ptr<const Node>> stages_from_json(const Json& stages, ReadContext& context);

// Returns the nodes from the sources to this one, each once, inputs first.
std::vector<const Node*> nodes_of(const Node& node);
// The same, with the graphs that the functions of its stages capture.
std::vector<const Node*> nodes_with_captured(const Node& node);

// Returns a seed for a node without one: from the system, or, after set_seed, the same seeds in the same order.
uint64_t draw_seed();
void set_seed(uint64_t seed);
// For random operations that are called outside a dataset: a seed, and the number of calls since set_seed.
struct EagerCall {
  uint64_t seed = 0;
  int64_t number = 0;
};
EagerCall next_eager_call();

// During its lifetime, the seeds that the calling thread draws are derived from `base`. Graphs that functions create
// while a pipeline runs must not depend on the thread or the time.
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
