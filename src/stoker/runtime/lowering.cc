#include "stoker/runtime/lowering.h"

#include <algorithm>

namespace stoker {
namespace {

// Lists and lines are evaluated by recursion, which must fit the stack of a thread.
constexpr int kDeepestLine = 1500;

// A map that works item by item moves upstream of the batch before it: an item on which it fails then costs only
// itself, not its batch.
bool moves_before(const Stage& stage, const Stage& before) {
  const MapStage* map = if_form<MapStage>(stage);
  const SequenceStage* batch = if_form<SequenceStage>(before);
  return map && map->by_item() && batch && batch->batch_rows() > 0;
}

// Drops elements, so that reading by position reads less.
bool skips_positions(const Stage& stage) {
  const SelectionStage* selection = if_form<SelectionStage>(stage);
  return selection && selection->at(1) - selection->at(0) > 1;
}

bool shuffles_everything(const Stage& stage) {
  const std::optional<ShuffleParams> shuffle = engine_params<ShuffleParams>(stage);
  return shuffle && !shuffle->buffer;
}

// The step runs on a waiting thread until it is measured not to sleep. It is watched, because a read may never return.
void mark_as_waiting(StepPlan& step) {
  step.meter->waits = true;
  step.meter->reads = true;
  step.user = true;
}

std::shared_ptr<const Node> with_stage(const Node& node, std::shared_ptr<const Stage> stage) {
  auto part = std::make_shared<Node>();
  part->stage = std::move(stage);
  part->location = node.location;
  part->name = node.name;
  part->state = node.state;
  return part;
}

// The list is set when the segment is complete.
void add_fetch(Draft& draft) {
  StepPlan fetch;
  fetch.kind = StepPlan::Kind::kFetch;
  fetch.meter = draft.meter;
  draft.steps.push_back(std::move(fetch));
}

}  // namespace

std::shared_ptr<const ListPlan> Draft::list() const {
  return ops.empty() ? base : std::make_shared<PositionList>(base, ops);
}

MappedList Draft::mapped_list() const {
  MappedList all{list(), {}};
  for (const StepPlan& step : steps)
    if (step.kind != StepPlan::Kind::kFetch) all.steps.push_back(step);
  return all;
}

Lowering::Lowering(Meters& meters, Positions positions, std::string prefix, Plan& plan)
    : meters_(meters), prefix_(std::move(prefix)), plan_(plan), by_position_(positions == Positions::kPreferred) {}

Result<Draft> Lowering::lower(const std::shared_ptr<const Node>& top) {
  if (++depth_ > 200)
    return Error::invalid("datasets are joined in more than 200 levels; zip or concatenate a list of them in one call");
  const Chain chain = chain_of(top);
  visited_ += std::ssize(chain);
  if (visited_ > 200'000)
    return Error::invalid(
        "the graph has more than 200,000 stages, counting each use of a dataset; join fewer datasets");
  const std::vector<bool> cached = upstream_of_caches(chain);
  const std::vector<bool> by_position = needs_positions(chain);
  const bool outer_cached = cached_;
  const bool outer_positions = by_position_;
  const int32_t outer_base = source_base_;
  const size_t outer_first = std::exchange(first_source_, plan_.sources.size());
  Draft draft;
  for (size_t i = chain.size(); i-- > 0;) {
    cached_ = outer_cached || cached[i];
    by_position_ = by_position[i];
    source_base_ = cached[i] ? static_cast<int32_t>(first_source_) : outer_base;
    STOKER_TRY(draft, add(std::move(draft), chain[i]));
    draft.lineage.seeds += seeds_key(*chain[i]);
    if (draft.depth > kDeepestLine)
      return Error::invalid("more than ", kDeepestLine,
                            " stages that order, join or batch elements follow each other; use fewer of them");
  }
  cached_ = outer_cached;
  by_position_ = outer_positions;
  source_base_ = outer_base;
  first_source_ = outer_first;
  --depth_;
  return draft;
}

// A sum of these does not depend on the order of the stages, some of which lower() exchanges.
uint64_t Lowering::seeds_key(const Node& node) const {
  uint64_t key = mix_bits(seed_of(node));
  for (const Graph& graph : node.stage->captured())
    for (const Node* captured : nodes_with_captured(*graph.node())) key += mix_bits(seed_of(*captured));
  return key;
}

Lowering::Chain Lowering::chain_of(const std::shared_ptr<const Node>& top) {
  Chain chain;
  for (std::shared_ptr<const Node> node = top;; node = node->inputs[0]) {
    chain.push_back(node);
    if (node->inputs.empty() || is_engine_stage<ZipParams>(*node->stage)) break;
  }
  for (size_t i = 0; i + 1 < chain.size(); ++i)
    if (moves_before(*chain[i]->stage, *chain[i + 1]->stage)) std::swap(chain[i], chain[i + 1]);
  return chain;
}

// Positions are required upstream of a shuffle of everything and of a selection that skips elements, up to a sequence,
// which reads all of its input in order.
std::vector<bool> Lowering::needs_positions(const Chain& chain) const {
  std::vector<bool> needed;
  bool need = by_position_;
  for (const auto& node : chain) {
    need |= shuffles_everything(*node->stage) || skips_positions(*node->stage);
    need &= node->stage->type().form != Form::kSequence;
    needed.push_back(need);
  }
  return needed;
}

std::vector<bool> Lowering::upstream_of_caches(const Chain& chain) {
  std::vector<bool> upstream(chain.size());
  for (size_t i = 1; i < chain.size(); ++i)
    upstream[i] = upstream[i - 1] || is_engine_stage<CacheParams>(*chain[i - 1]->stage);
  return upstream;
}

std::shared_ptr<const SegmentPlan> Lowering::segment(Draft draft, int64_t rows) const {
  auto plan = std::make_shared<SegmentPlan>();
  plan->yields_positions = draft.base != nullptr || draft.yields_positions;
  plan->line = line_of(draft);
  plan->steps = std::move(draft.steps);
  plan->filters = draft.filters;
  plan->line_waits = draft.waits;
  plan->line_user = plan->line->calls_user();
  plan->rows = draft.filters ? 0 : rows;
  plan->at_least = draft.at_least;
  plan->meter = draft.meter;
  for (size_t i = 0; i < draft.stages.size(); ++i) plan->stages += (i ? " → " : "") + draft.stages[i];
  return plan;
}

Result<Draft> Lowering::add(Draft draft, const std::shared_ptr<const Node>& node) {
  plan_.calls_user |= node->stage->calls_user();
  switch (node->stage->type().form) {
    case Form::kList:
    case Form::kStream: return add_source(node);
    case Form::kMap:
    case Form::kFilter: return add_step(std::move(draft), node);
    case Form::kSelection: return add_selection(std::move(draft), node);
    case Form::kSequence: return add_sequence(std::move(draft), node);
    case Form::kEngine:
      return std::visit([&](const auto& params) { return add_engine(std::move(draft), node, params); },
                        as_form<EngineStage>(*node->stage).engine());
  }
  return Error::internal("a stage has an unknown form");
}

// A node that is used twice in one graph has two meters. The second has a number in its path.
Meter* Lowering::meter_of(const Node& node) {
  std::string path = path_of(node);
  const int uses = ++names_[path];
  if (uses > 1) path += "_" + std::to_string(uses);
  return meters_.find(path, node.location.describe());
}

int Lowering::count_passes(const std::shared_ptr<const Node>& node, const Draft& draft) {
  const int place = places_[node->state.get()]++;
  plan_.counted.push_back({node, place, cached_, draft.lineage.source, draft.lineage.stride});
  return place;
}

// Returns the place that counts the passes of a source here: none upstream of a cache, where the pass is always 0.
std::optional<CountedNode> Lowering::counter_of(int32_t source) const {
  for (const CountedNode& counted : plan_.counted)
    if (!counted.cached && counted.counts(source)) return counted;
  return std::nullopt;
}

std::string Lowering::unique_source_name(const Node& node) {
  std::string name = node.name;
  while (!source_names_.insert(name).second) name = node.name + "_" + std::to_string(++namesakes_[node.name] + 1);
  return name;
}

Result<Draft> Lowering::add_source(const std::shared_ptr<const Node>& given) {
  const StreamStage* stream = by_position_ ? if_form<StreamStage>(*given->stage) : nullptr;
  const std::shared_ptr<const ListStage> listed = stream ? stream->listed() : nullptr;
  const std::shared_ptr<const Node> node = listed ? with_stage(*given, listed) : given;
  Draft draft;
  draft.lineage.seed = seed_of(*node);
  draft.lineage.source = static_cast<int32_t>(plan_.sources.size());
  draft.stages = {node->name};
  draft.meter = meter_of(*node);
  plan_.sources.push_back(unique_source_name(*node));
  plan_.source_nodes.push_back(given);
  plan_.strides.push_back(1);
  units_.push_back(1);
  const Meter& meter = *draft.meter;
  const int place = count_passes(node, draft);
  if (node->stage->type().form == Form::kList)
    STOKER_TRY(add_list(draft, node, place));
  else
    add_stream(draft, node, place);
  if (node->stage->type().loads) add_load(draft, node, meter);
  return draft;
}

Result<void> Lowering::add_list(Draft& draft, const std::shared_ptr<const Node>& node, int place) {
  const auto& list = as_form<ListStage>(*node->stage);
  Context context;
  STOKER_TRY(int64_t length, list.length(context));
  draft.base = std::make_shared<SourceList>(node, place, local_number(draft.lineage.source), length);
  draft.yields_positions = true;
  add_fetch(draft);
  if (const std::optional<ShuffleParams> order = list.order()) add_own_order(draft, node, place, *order);
  return {};
}

// With a seed from the user, a list that shuffles itself has tf.data's order, which only drawing produces. Otherwise it
// permutes positions.
void Lowering::add_own_order(Draft& draft, const std::shared_ptr<const Node>& node, int place,
                             const ShuffleParams& params) {
  if (params.seed) {
    auto line = append_order<ShuffleLinePlan>(draft, node);
    line->params = params;
    line->place = place;
    return;
  }
  const int64_t n = draft.list_length();
  draft.ops.push_back({PositionList::Op::Kind::kPermute, node, place, n, n, 1, seed_of(*node), params});
}

void Lowering::add_stream(Draft& draft, const std::shared_ptr<const Node>& node, int place) {
  auto line = std::make_shared<StreamLinePlan>();
  line->node = node;
  line->path = path_of(*node);
  line->seed = draft.lineage.seed;
  line->source = local_number(draft.lineage.source);
  line->place = place;
  line->meter = draft.meter;
  line->meter->at_once = 1;
  line->meter->user = node->stage->calls_user();
  draft.line = line;
  draft.waits = node->stage->type().waits;
}

void Lowering::add_load(Draft& draft, const std::shared_ptr<const Node>& node, const Meter& meter) {
  StepPlan load;
  load.kind = StepPlan::Kind::kLoad;
  load.node = node;
  load.meter = meters_.find(meter.path + ".load", node->location.describe());
  mark_as_waiting(load);
  draft.steps.push_back(load);
}

Draft Lowering::add_step(Draft draft, const std::shared_ptr<const Node>& node) {
  const MapStage* map = if_form<MapStage>(*node->stage);
  const Hints hints = if_step(*node->stage)->hints();
  StepPlan step;
  step.kind = map ? StepPlan::Kind::kMap : StepPlan::Kind::kFilter;
  step.node = node;
  step.seed = draft.lineage.seed;
  step.key = draft.lineage.maps++;
  if (hints.parallel_calls && *hints.parallel_calls > 0) step.parallel = *hints.parallel_calls;
  step.user = node->stage->calls_user();
  step.meter = meter_of(*node);
  step.meter->at_once = step.parallel;
  step.meter->user = step.user;
  if (const std::optional<MapStage::Parts> parts = map ? map->split() : std::nullopt) {
    StepPlan reads = step;
    reads.node = with_stage(*node, parts->reads);
    reads.meter = meters_.find(step.meter->path + ".load", node->location.describe());
    mark_as_waiting(reads);
    draft.steps.push_back(std::move(reads));
    step.node = with_stage(*node, parts->rest);
  } else if (if_step(*node->stage)->waits()) {
    mark_as_waiting(step);
  }
  draft.steps.push_back(std::move(step));
  draft.filters |= !map;
  draft.stages.push_back(node->name);
  if (hints.sequence) close(draft);
  return draft;
}

Draft Lowering::add_selection(Draft draft, const std::shared_ptr<const Node>& node) {
  const auto& selection = as_form<SelectionStage>(*node->stage);
  if (draft.is_list()) {
    const int64_t below = draft.list_length();
    int64_t length = selection.length(below);
    if (below >= kEndless) length = length == selection.length(kEndless - (int64_t{1} << 32)) ? length : kEndless;
    draft.ops.push_back({PositionList::Op::Kind::kSelect, node, 0, below, std::max<int64_t>(length, 0)});
  } else {
    append_order<SelectLinePlan>(draft, node);
  }
  draft.stages.push_back(node->name);
  return draft;
}

Result<Draft> Lowering::add_sequence(Draft draft, const std::shared_ptr<const Node>& node) {
  close(draft, as_form<SequenceStage>(*node->stage).batch_rows());
  auto line = new_line<SequenceLinePlan>(node);
  line->inputs = {draft.line};
  line->meter->at_once = 1;
  line->source = local_number(draft.lineage.source);
  line->counted = counter_of(draft.lineage.source);
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    STOKER_TRY(Draft input, lower(node->inputs[i]));
    close(input);
    line->inputs.push_back(input.line);
  }
  return follow(std::move(draft), line, node->name);
}

// The line of a draft. Its steps stay where they are.
std::shared_ptr<const LinePlan> Lowering::line_of(Draft& draft) const {
  if (!draft.base) return draft.line;
  auto line = std::make_shared<ListLinePlan>();
  line->list = draft.list();
  if (!draft.steps.empty() && draft.steps[0].kind == StepPlan::Kind::kFetch) {
    StepPlan& fetch = draft.steps[0];
    fetch.list = line->list;
    fetch.user = line->list->calls_user();
    fetch.parallel = line->list->most_calls();
  }
  return line;
}

// Turns a list into a line of its positions, for a stage that orders them one by one.
void Lowering::leave_list(Draft& draft) const {
  if (!draft.base) return;
  draft.line = line_of(draft);
  draft.base.reset();
  draft.ops.clear();
  draft.yields_positions = true;
}

// Ends the segment and starts another one that reads its window.
void Lowering::close(Draft& draft, int64_t rows) const {
  if (draft.base == nullptr && draft.steps.empty()) return;
  Draft next;
  next.lineage = draft.lineage;
  next.meter = draft.meter;
  next.is_restartable = false;
  next.stages = {"…"};
  auto port = std::make_shared<PortLinePlan>();
  port->segment = segment(std::move(draft), rows);
  next.line = std::move(port);
  draft = std::move(next);
}

Draft Lowering::follow(Draft draft, std::shared_ptr<LinePlan> line, const std::string& name) {
  Draft next;
  next.meter = line->meter;
  next.line = std::move(line);
  next.depth = draft.depth + 1;
  next.lineage = draft.lineage;
  next.waits = draft.waits;
  next.is_restartable = draft.is_restartable;
  next.stages = std::move(draft.stages);
  next.stages.push_back(name);
  return next;
}

Draft Lowering::new_list(std::shared_ptr<const ListPlan> list, const Draft& like,
                         const std::shared_ptr<const Node>& node) {
  Draft draft;
  draft.base = std::move(list);
  draft.yields_positions = true;
  draft.depth = like.depth + 1;
  draft.lineage = like.lineage;
  draft.stages = {node->name};
  draft.meter = meter_of(*node);
  add_fetch(draft);
  return draft;
}

// Returns the number of elements that reach the node, kEndless if it is not known. Computing it visits every stage
// upstream, so only the first few nodes get an answer.
int64_t Lowering::length_before(const Node& node) {
  if (++lengths_requested_ > 8) return kEndless;
  const Result<int64_t> length = cardinality_of(*node.inputs[0], Counting::kAsKnown);
  return length && *length >= 0 ? *length : kEndless;
}

std::shared_ptr<CacheStore> cache_store_of(const Node& node, uint64_t seeds) {
  std::shared_ptr<void> replaced;  // freed after the lock
  const MutexLock lock(node.state->mutex);
  auto store = std::static_pointer_cast<CacheStore>(node.state->cache);
  if (store && store->seeds() == seeds) return store;
  store = CacheStore::make(seeds);
  replaced = std::exchange(node.state->cache, store);
  return store;
}

const Node& counting_node(const Node& last) {
  const Node* drawing = nullptr;
  for (const Node* at = &last;; at = at->inputs[0].get()) {
    const PassUse use = at->stage->pass_use();
    if (use == PassUse::kOrders) return *at;
    if (use == PassUse::kDraws) drawing = at;
    const bool is_chain =
        at->inputs.size() == 1 && !at->stage->type().opens_datasets && !is_engine_stage<CacheParams>(*at->stage);
    if (is_chain) continue;
    if (!drawing && !at->inputs.empty()) drawing = at;  // joined, opened and cached datasets have passes of their own
    return drawing ? *drawing : last;
  }
}

MakeContext MakeContext::at(std::shared_ptr<const Level> other) const {
  MakeContext context = *this;
  context.parent = other ? other->parent : nullptr;
  context.level = std::move(other);
  return context;
}

const std::shared_ptr<const Level>& MakeContext::level_of(const Node& node) const {
  const std::shared_ptr<const Level>* own = &level;
  while (*own && node.state->number < (*own)->first_node) own = &(*own)->outer;
  return *own;
}

Result<std::shared_ptr<const Plan>> lower(std::shared_ptr<const Node> node, Meters& meters, Positions positions,
                                          const std::string& prefix, const Seeds* seeds) {
  auto plan = std::make_shared<Plan>();
  plan->node = node;
  for (const Node* one : nodes_with_captured(*node)) {
    const NodeState* state = one->state.get();
    const bool is_known = seeds && seeds->contains(state);
    plan->seeds.emplace(state, is_known ? seeds->at(state) : state->seed.load());
  }
  Lowering lowering(meters, positions, prefix, *plan);
  STOKER_TRY(Draft draft, lowering.lower(node));
  if (draft.is_list()) {
    MappedList list = draft.mapped_list();
    plan->list = std::move(list.list);
    plan->list_steps = std::move(list.steps);
  }
  plan->root = lowering.segment(std::move(draft), 0);
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace stoker
