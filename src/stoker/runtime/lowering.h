#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/lines.h"
#include "stoker/runtime/lists.h"

namespace stoker {

// The source of an element and what happened to it so far: the keys of its random numbers and the numbers of its
// passes.
struct Lineage {
  uint64_t seed = 0;   // of the source
  uint64_t maps = 0;   // maps so far
  int32_t source = 0;  // the first source upstream
  int64_t stride = 1;  // passes of the source in one pass of the current stage
  uint64_t seeds = 0;  // identifies the seeds of all stages upstream (CacheStore::seeds)
};

// A segment under construction: a list or a line, and the steps that follow it.
struct Draft {
  std::shared_ptr<const ListPlan> base;  // of a list, with `ops` applied to it
  std::vector<PositionList::Op> ops;
  std::shared_ptr<const LinePlan> line;  // if it is not a list
  std::vector<StepPlan> steps;
  bool filters = false;
  bool yields_positions = false;
  bool waits = false;
  bool is_restartable = true;  // no other segment upstream of the line: a repeat can restart it
  int64_t at_least = 0;
  int depth = 0;  // of nested lists or lines, which are evaluated by recursion
  Lineage lineage;
  std::vector<std::string> stages;  // names, for explain()
  Meter* meter = nullptr;

  bool is_list() const { return base != nullptr && !filters; }
  int64_t list_length() const { return ops.empty() ? base->length() : ops.back().length; }
  std::shared_ptr<const ListPlan> list() const;
  // The list with its steps, as part of another list.
  MappedList mapped_list() const;
};

// Lowers one graph. lower() calls itself for the inputs of stages that join datasets.
class Lowering {
 public:
  Lowering(Meters& meters, Positions positions, std::string prefix, Plan& plan);

  Result<Draft> lower(const std::shared_ptr<const Node>& top);
  // Completes a segment, whose results are rows of batches of `rows`; 0: of none.
  std::shared_ptr<const SegmentPlan> segment(Draft draft, int64_t rows) const;

 private:
  using Chain = std::vector<std::shared_ptr<const Node>>;  // from the end to the source

  uint64_t seeds_key(const Node& node) const;
  static Chain chain_of(const std::shared_ptr<const Node>& top);
  std::vector<bool> needs_positions(const Chain& chain) const;
  static std::vector<bool> upstream_of_caches(const Chain& chain);

  Result<Draft> add(Draft draft, const std::shared_ptr<const Node>& node);
  Result<Draft> add_source(const std::shared_ptr<const Node>& node);
  Result<void> add_list(Draft& draft, const std::shared_ptr<const Node>& node, int place);
  void add_stream(Draft& draft, const std::shared_ptr<const Node>& node, int place);
  // `meter` is that of the source.
  void add_load(Draft& draft, const std::shared_ptr<const Node>& node, const Meter& meter);
  void add_own_order(Draft& draft, const std::shared_ptr<const Node>& node, int place, const ShuffleParams& params);
  Draft add_step(Draft draft, const std::shared_ptr<const Node>& node);
  Draft add_selection(Draft draft, const std::shared_ptr<const Node>& node);
  Result<Draft> add_sequence(Draft draft, const std::shared_ptr<const Node>& node);

  // The stages that the runtime implements, one function each (lowering_engine.cc).
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const RepeatParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const CacheParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const PrefetchParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ShuffleParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ZipParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ConcatenateParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const EnumerateParams&);
  Result<Draft> add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ErrorPolicyParams&);

  // A node of a line, for the stage of a node.
  template <typename Line>
  std::shared_ptr<Line> new_line(const std::shared_ptr<const Node>& node) {
    auto line = std::make_shared<Line>();
    line->node = node;
    line->path = path_of(*node);
    line->seed = seed_of(*node);
    line->meter = meter_of(*node);
    return line;
  }
  // Appends a stage that orders or selects without reading elements: upstream of the maps if there is no filter among
  // them, otherwise downstream of a window.
  template <typename Line>
  std::shared_ptr<Line> append_order(Draft& draft, const std::shared_ptr<const Node>& node) {
    if (draft.filters)
      close(draft);
    else
      leave_list(draft);
    auto line = new_line<Line>(node);
    line->inputs = {draft.line};
    draft.line = line;
    draft.meter = line->meter;
    ++draft.depth;
    return line;
  }
  // Starts a new segment with a line over what the draft was. The caller has put the draft's line into it.
  static Draft follow(Draft draft, std::shared_ptr<LinePlan> line, const std::string& name);
  Draft new_list(std::shared_ptr<const ListPlan> list, const Draft& like, const std::shared_ptr<const Node>& node);
  void close(Draft& draft, int64_t rows = 0) const;
  void leave_list(Draft& draft) const;
  std::shared_ptr<const LinePlan> line_of(Draft& draft) const;

  std::string path_of(const Node& node) const { return prefix_.empty() ? node.name : prefix_ + "/" + node.name; }
  Meter* meter_of(const Node& node);
  int count_passes(const std::shared_ptr<const Node>& node, const Draft& draft);
  std::optional<CountedNode> counter_of(int32_t source) const;
  uint64_t seed_of(const Node& node) const { return plan_.seeds.at(node.state.get()); }
  std::string unique_source_name(const Node& node);
  int64_t length_before(const Node& node);
  // The strides of the sources upstream of the node that is being added.
  std::span<int64_t> strides_upstream() { return std::span(plan_.strides).subspan(first_source_); }
  int64_t passes_in_cache() const;
  // The number that a source of the plan has in the part of the graph that is being lowered. Upstream of a cache,
  // sources are numbered from 0: the random numbers of cached elements must not depend on the place that fills the
  // cache.
  int32_t local_number(int32_t source) const { return source - source_base_; }

  Meters& meters_;
  const std::string prefix_;
  Plan& plan_;
  std::set<std::string> source_names_;
  std::map<std::string, int> namesakes_;
  std::map<std::string, int> names_;
  std::map<const NodeState*, int> places_;
  int depth_ = 0;
  int64_t visited_ = 0;
  int lengths_requested_ = 0;
  bool cached_ = false;         // the node that is being added is upstream of a cache
  int32_t source_base_ = 0;     // the first source upstream of the nearest cache downstream
  size_t first_source_ = 0;     // upstream of the chain that is being lowered
  std::vector<int64_t> units_;  // for each source: passes that its origins have for one of its strides
  bool by_position_;            // a stage downstream requires positions
};

// The store of a cache node. A store with other seeds is replaced: plans that already use it keep it.
std::shared_ptr<CacheStore> cache_store_of(const Node& node, uint64_t seeds);

}  // namespace stoker
