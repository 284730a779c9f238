#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/graph/graph.h"
#include "stoker/runtime/meter.h"
#include "stoker/runtime/origin_text.h"

namespace stoker {

// What a graph is lowered to before it runs: segments of lines and steps (docs/design/engine.md). Everything here is
// immutable after lower() and may be read by any thread.

struct Instance;
struct SegmentPlan;
class LineNode;
class ListPlan;

// One step of a segment's span.
struct StepPlan {
  enum class Kind { kFetch, kLoad, kMap, kFilter };
  Kind kind{};
  std::shared_ptr<const Node> node;      // null for kFetch
  std::shared_ptr<const ListPlan> list;  // kFetch
  uint64_t seed = 0;                     // of the source upstream
  uint64_t key = 0;                      // the number of maps between this one and the source
  int64_t parallel = 0;                  // maximum of concurrent calls; 0: no limit
  bool user = false;                     // runs user code, or waits: never on the consumer's thread
  // Called for one element at a time, in order, and once for each, as a function with state requires.
  bool serial() const { return user && parallel == 1; }
  Meter* meter = nullptr;
};

// A node that counts passes, at one of the places where a graph uses it.
struct CountedNode {
  std::shared_ptr<const Node> node;
  int place = 0;        // 0 for the first place, from the left
  bool cached = false;  // upstream of a cache: always in pass 0, and counts none
  int32_t source = 0;   // the source that it reads
  int64_t stride = 1;   // passes of that source in one pass of this node
  int64_t unit = 1;     // passes that origins have for one of these (see in_running_pass)
  // The number of sources, from `source` on, whose passes are counted here: all upstream of a cache.
  int32_t sources = 1;

  bool counts(int32_t of) const { return of >= source && of < source + sources; }
};

// The passes of an endless repeat that have numbers of their own in each pass of an outer repeat or of a cache.
constexpr int64_t kPassesOfEndlessRepeat = int64_t{1} << 20;

// The pass with which an iterator starts, for each counted node.
class Passes {
 public:
  int64_t base(const Node& node, int place) const {
    auto found = bases_.find({node.state.get(), place});
    return found == bases_.end() ? 0 : found->second;
  }
  void set(const Node& node, int place, int64_t base) { bases_[{node.state.get(), place}] = base; }

 private:
  std::map<std::pair<const NodeState*, int>, int64_t> bases_;
};

// A dataset that a function returned for one element.
struct Level {
  std::shared_ptr<const Origin> parent;  // of the element
  uint64_t first_node = 0;               // nodes with smaller numbers existed before the function was called
  std::shared_ptr<const Level> outer;    // null: the outermost graph
};

// What is needed to compute elements, in addition to their positions.
struct MakeContext {
  const Passes* passes = nullptr;
  std::shared_ptr<const Origin> parent;               // that of the level
  const std::vector<std::string>* sources = nullptr;  // names, in the outermost graph
  const std::atomic<bool>* stopped = nullptr;
  std::shared_ptr<const Level> level = nullptr;  // null in the outermost graph

  MakeContext at(std::shared_ptr<const Level> other) const;
  // The level at which a node was created. Elements upstream of a cache are computed at the level of the cache:
  // datasets that share it must get the same elements, and which of them is first depends on timing.
  const std::shared_ptr<const Level>& level_of(const Node& node) const;
};

// An element that was computed from its origin. No row: a filter dropped it, or its position is not known. Not
// complete: computed up to the first stage that needs other elements, too.
struct Recomputed {
  Run run;
  bool complete = true;
  bool is_batched = false;  // not complete because a batch follows, which has the element as one of its rows

  static Recomputed impossible() { return {Run(), false}; }
  // Whether later steps have no element to work on: it failed, or a filter dropped it.
  bool is_lost() const { return run.size == 0 || !run.failed.empty(); }
};

// A dataset whose element i can be computed without the elements before it.
class ListPlan {
 public:
  virtual ~ListPlan() = default;
  virtual int64_t length() const = 0;  // kEndless if it is infinite
  virtual bool calls_user() const { return false; }
  // The smallest limit on concurrent calls of any function in it; 0: no limit.
  virtual int64_t most_calls() const { return 0; }
  virtual Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const = 0;
  // Whether its elements come from this source.
  virtual bool reads(int32_t source) const = 0;
  virtual Recomputed recompute(const Origin& origin, const MakeContext& context) const = 0;
};

// A list and the maps downstream of it, as part of another list.
struct MappedList {
  std::shared_ptr<const ListPlan> list;
  std::vector<StepPlan> steps;
  bool calls_user() const { return list->calls_user() || std::ranges::any_of(steps, &StepPlan::user); }
  int64_t most_calls() const;
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const;
};

// The smaller of two limits on concurrent calls, where 0 is no limit.
constexpr int64_t stricter(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

// Combines rows into tuples. The failure of one member is the failure of the tuple.
Run zip_rows(Runs parts);

struct StepView {
  RowTarget* target = nullptr;          // memory for the results
  std::atomic<int32_t>* row = nullptr;  // set to the row that is being processed
  ElementType* like = nullptr;          // the type that results must have; set by the first result
};
// Runs a step that is not kFetch. Errors are failures of rows.
void run_step(const StepPlan& step, Run& run, const MakeContext& context, const StepView& view = {});

// Runs an element through steps, up to the one that drops it or fails.
Recomputed run_steps(Recomputed made, const std::vector<StepPlan>& steps, const MakeContext& context);

// One node of a line. A line identifies elements in order; its nodes are sources, selections and stages that reorder,
// join or repeat. The kinds of nodes are in lines.h.
struct LinePlan {
  std::shared_ptr<const Node> node;  // null for positions of a list and for the window of another segment
  uint64_t seed = 0;                 // that the node drew
  std::vector<std::shared_ptr<const LinePlan>> inputs;
  std::string path;  // of the node, for statistics and the datasets that it opens
  Meter* meter = nullptr;

  LinePlan() = default;
  virtual ~LinePlan() = default;
  LinePlan(const LinePlan&) = delete;
  LinePlan& operator=(const LinePlan&) = delete;

  // Creates the state of a running line. The plan must outlive it.
  virtual std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const = 0;
  virtual Recomputed recompute(const Origin& origin, const MakeContext& context) const = 0;
  // Whether elements come from this source.
  virtual bool reads(int32_t source) const;
  // Whether it yields positions of a list, which cost nothing to hold, and not elements.
  virtual bool yields_positions() const { return !inputs.empty() && inputs[0]->yields_positions(); }
  // The segment upstream, if there is one, and whether it is opened again for each pass.
  virtual const SegmentPlan* upstream() const { return nullptr; }
  virtual bool opens_each_pass() const { return false; }
  // Describes the line up to this node, for explain().
  virtual std::string describe() const;
  // Whether user code runs in this line. Lines of other segments do not count.
  bool calls_user() const;
};

// A line, the steps downstream of it, and the window that delivers the results in order.
struct SegmentPlan {
  std::shared_ptr<const LinePlan> line;
  std::vector<StepPlan> steps;
  bool filters = false;
  bool yields_positions = false;  // the line yields positions: results can be dropped and computed again
  bool line_waits = false;        // the source of the line waits
  bool line_user = false;         // the line calls user functions
  int64_t rows = 0;               // in the batch that follows
  int64_t at_least = 0;           // elements that `prefetch` requests
  std::string stages;             // "range → map → filter", for explain()
  Meter* meter = nullptr;         // for the time of the line itself

  Recomputed recompute(const Origin& origin, const MakeContext& context) const {
    return run_steps(line->recompute(origin, context), steps, context);
  }
};

// The seeds of nodes, by their state.
using Seeds = std::map<const NodeState*, uint64_t>;

// What must be equal for a checkpoint to be accepted. Computed when the first checkpoint is saved.
struct Fingerprint {
  std::once_flag once;
  Json graph = Json::list();
  Json files = Json::list();
};

// Returns the node that counts the passes of a dataset that ends with `last`, for every dataset built on that node: its
// nearest shuffle or, without one, the first stage that draws random numbers. Iterating a dataset that shares neither
// has no effect here. A dataset that is built again for each epoch on an existing shuffle gets the next order. A
// dataset that does not use passes counts them for itself.
const Node& counting_node(const Node& last);

struct Plan {
  std::shared_ptr<Fingerprint> fingerprint = std::make_shared<Fingerprint>();
  std::shared_ptr<const Node> node;
  Seeds seeds;  // of nodes_with_captured()
  std::shared_ptr<const SegmentPlan> root;
  std::shared_ptr<const ListPlan> list;  // if the dataset is a list: for at() and replay
  std::vector<StepPlan> list_steps;
  std::vector<CountedNode> counted;                       // from left to right
  std::vector<std::shared_ptr<const Node>> caches;        // without those upstream of another cache
  std::vector<std::shared_ptr<const Node>> inner_caches;  // those upstream of another cache
  std::vector<std::string> sources;                       // names, by number
  std::vector<int64_t> strides;  // for each source: the maximum of passes that one epoch starts
  std::vector<std::shared_ptr<const Node>> source_nodes;
  ErrorPolicyParams on_error;
  int64_t prefetch = 0;
  bool calls_user = false;  // anywhere: it may have effects that the engine does not know
};

// Lowers a graph to segments. A stream that can also be read by position is read that way if a stage downstream
// requires positions (a shuffle of the whole input, a shard), or if the caller prefers it. `prefix` is the path of the
// node that opens the dataset. The plan copies `seeds`, and the current seeds of other nodes: an iterator does not
// change if a restore changes the seeds of its nodes.
enum class Positions { kIfRequired, kPreferred };
Result<std::shared_ptr<const Plan>> lower(std::shared_ptr<const Node> node, Meters& meters,
                                          Positions positions = Positions::kIfRequired, const std::string& prefix = {},
                                          const Seeds* seeds = nullptr);

// Computes the element of a plan that has this origin, as far as that is possible from its position alone.
Recomputed recompute(const Plan& plan, const Origin& origin, const MakeContext& context);

// Describes the segments, what is native, and what is held in memory.
std::string explain(const Plan& plan);

// The parameters of a `shuffle` node, or the order of a list that shuffles itself.
std::optional<ShuffleParams> shuffle_params(const Stage& stage);
// The seeds of one pass of a shuffle.
SeedPair shuffle_seeds(const ShuffleParams& params, uint64_t drawn, int64_t pass,
                       const std::shared_ptr<const Origin>& parent);

// Adds the stage, source and position to an error that has no origin yet.
void annotate(Error& error, const Node& node, const Origin& origin, const std::vector<std::string>* sources);

// Replaces the origins in the errors of failed rows by the current origins of the rows.
void rename_origins(Run& run, const std::vector<std::string>* sources);

// Completes the provenance of an error when it is delivered: adds the files of the records from which the element was
// computed, if they are known by position and the error names no file, and the first passes of the epoch to its origin.
Error with_provenance(Error error, const Origin& origin, const Plan& plan, const EpochPasses& epoch = {});

}  // namespace stoker
