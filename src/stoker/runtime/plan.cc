#include "stoker/runtime/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/lists.h"

namespace stoker {
namespace {

// Of an endless repeat below a cache, so many passes have origins of their own.
constexpr int64_t kMostPassesInCache = int64_t{1} << 20;

// A node on its way to segments: its line and the maps that wait for a window.
struct Stub {
  std::shared_ptr<const ListPlan> base;  // of a list, with `ops` over it
  std::vector<PositionList::Op> ops;
  std::shared_ptr<const LinePlan> line;  // where it is no list
  std::vector<StepPlan> steps;
  bool filters = false;
  bool names = false;  // the line gives names
  bool waits = false;
  bool inline_only = true;  // no port below the line
  int64_t at_least = 0;
  uint64_t seed = 0;
  uint64_t maps = 0;
  int32_t source = 0;
  int64_t stride = 1;  // passes of the source that one pass of this begins
  std::vector<std::string> words;
  Meter* meter = nullptr;

  bool is_list() const { return base != nullptr && !filters; }
  int64_t list_length() const { return ops.empty() ? base->length() : ops.back().length; }
};

class Lowering {
 public:
  Lowering(Meters& meters, Positions positions, std::string prefix, Plan& plan)
      : meters_(meters), prefix_(std::move(prefix)), plan_(plan), by_position_(positions == Positions::kWanted) {}

  Result<Stub> lower(const std::shared_ptr<const Node>& top) {
    if (++depth_ > 200) return Error::invalid("data sets are joined deeper than 200 levels");
    std::vector<std::shared_ptr<const Node>> chain;
    for (std::shared_ptr<const Node> node = top;;) {
      chain.push_back(node);
      if (++visited_ > 200'000) return Error::invalid("the graph has more than 200,000 stages, counting each use");
      if (node->inputs.empty() || joins(*node)) break;
      node = node->inputs[0];
    }
    put_before_batches(chain);
    const std::vector<bool> cached = below_caches(chain);
    Stub stub;
    const bool outer_cached = cached_;
    const bool outer_positions = by_position_;
    const size_t outer_first = std::exchange(first_source_, plan_.sources.size());
    const std::vector<bool> by_position = asked_for_positions(chain);
    for (size_t i = chain.size(); i-- > 0;) {
      cached_ = cached[i];
      by_position_ = by_position[i];
      STOKER_TRY(stub, add(std::move(stub), chain[i]));
    }
    cached_ = outer_cached;
    by_position_ = outer_positions;
    first_source_ = outer_first;
    --depth_;
    return stub;
  }

  std::shared_ptr<const SegmentPlan> segment(Stub stub, int64_t rows) {
    auto plan = std::make_shared<SegmentPlan>();
    plan->names = stub.base != nullptr || stub.names;
    plan->line = line_of(stub);
    plan->steps = std::move(stub.steps);
    plan->filters = stub.filters;
    plan->line_waits = stub.waits;
    plan->line_user = calls_user(*plan->line);
    plan->rows = stub.filters ? 0 : rows;
    plan->at_least = stub.at_least;
    plan->meter = stub.meter;
    for (size_t i = 0; i < stub.words.size(); ++i) plan->words += (i ? " → " : "") + stub.words[i];
    return plan;
  }

  // The stages of the line itself; those behind a port have a line of their own.
  static bool calls_user(const LinePlan& line) {
    return (line.node && line.node->stage->calls_user()) ||
           std::ranges::any_of(line.inputs, [](const auto& input) { return calls_user(*input); });
  }

  static std::shared_ptr<const ListPlan> list_of(const Stub& stub) {
    if (stub.ops.empty()) return stub.base;
    return std::make_shared<PositionList>(stub.base, stub.ops);
  }

 private:
  static bool is(const Node& node, EngineKind kind) {
    return node.stage->type().form == Form::kEngine && node.stage->engine().kind == kind;
  }
  static bool joins(const Node& node) { return is(node, EngineKind::kZip); }

  // Whether what each node reads is wanted by position: below a shuffle of
  // everything and what leaves elements out; not below a sequence, which reads
  // all of its input in order.
  std::vector<bool> asked_for_positions(const std::vector<std::shared_ptr<const Node>>& chain) const {
    std::vector<bool> asked;
    bool wanted = by_position_;
    for (const auto& node : chain) {
      const Form form = node->stage->type().form;
      wanted |= is(*node, EngineKind::kShuffle) && !node->stage->engine().buffer;
      wanted |= form == Form::kSelection && node->stage->select(1) - node->stage->select(0) > 1;
      wanted &= form != Form::kSequence;
      asked.push_back(wanted);
    }
    return asked;
  }

  std::vector<bool> below_caches(const std::vector<std::shared_ptr<const Node>>& chain) const {
    std::vector<bool> below(chain.size(), cached_);
    for (size_t i = 1; i < chain.size(); ++i) below[i] = below[i - 1] || is(*chain[i - 1], EngineKind::kCache);
    return below;
  }

  // A map behind a batch that works item by item goes before it: an item it
  // fails on then costs itself and not its batch. The chain runs from the end.
  static void put_before_batches(std::vector<std::shared_ptr<const Node>>& chain) {
    for (size_t i = 0; i + 1 < chain.size(); ++i)
      if (chain[i]->stage->by_item() && chain[i + 1]->stage->rows() > 0) std::swap(chain[i], chain[i + 1]);
  }

  Result<Stub> add(Stub stub, const std::shared_ptr<const Node>& node) {
    plan_.calls_user |= node->stage->calls_user();
    switch (node->stage->type().form) {
      case Form::kList:
      case Form::kStream: return source(node);
      case Form::kMap:
      case Form::kFilter: return step(std::move(stub), node);
      case Form::kSelection: return selection(std::move(stub), node);
      case Form::kSequence: return sequence(std::move(stub), node);
      case Form::kEngine: return engine(std::move(stub), node);
    }
    return Error::internal("a form that is not known");
  }

  std::string path_of(const Node& node) const { return prefix_.empty() ? node.name : prefix_ + "/" + node.name; }
  Meter* meter_of(const Node& node) {
    // The same name twice in one graph: the second is counted apart.
    std::string path = path_of(node);
    const int uses = ++names_[path];
    if (uses > 1) path += "_" + std::to_string(uses);
    return meters_.find(path, node.location.words());
  }
  int place_of(const std::shared_ptr<const Node>& node, const Stub& stub) {
    const int place = places_[node->state.get()]++;
    plan_.counted.push_back({node, place, cached_, stub.source, stub.stride});
    return place;
  }
  uint64_t seed_of(const Node& node) const { return plan_.seeds.at(node.state.get()); }
  // The sources below the node that is being added are those from first_source_ on.
  std::span<int64_t> strides_below() { return std::span(plan_.strides).subspan(first_source_); }

  Result<Stub> source(const std::shared_ptr<const Node>& given) {
    const std::shared_ptr<const Stage> listed = by_position_ ? given->stage->listed() : nullptr;
    const std::shared_ptr<const Node> node = listed ? with_stage(*given, listed) : given;
    Stub stub;
    stub.seed = seed_of(*node);
    stub.words = {node->name};
    stub.meter = meter_of(*node);
    const auto number = static_cast<int32_t>(plan_.sources.size());
    std::string name = node->name;
    while (!source_names_.insert(name).second) name = node->name + "_" + std::to_string(++namesakes_[node->name] + 1);
    plan_.sources.push_back(name);
    plan_.source_nodes.push_back(given);
    plan_.strides.push_back(1);
    stub.source = number;
    const int place = place_of(node, stub);
    const StageType& type = node->stage->type();
    if (type.form == Form::kList) {
      Context context;
      STOKER_TRY(int64_t length, node->stage->length(context));
      stub.base = std::make_shared<SourceList>(node, place, number, length);
      stub.names = true;
      add_fetch(stub);
      if (const std::optional<EngineParams> order = node->stage->order()) own_order(stub, node, place, *order);
    } else {
      auto line = new_line(LinePlan::Kind::kStream, node);
      line->source = number;
      line->place = place;
      line->meter = stub.meter;
      line->meter->at_once = 1;
      line->meter->user = node->stage->calls_user();
      stub.line = line;
      stub.waits = type.waits;
    }
    if (type.loads) {
      StepPlan load;
      load.kind = StepPlan::Kind::kLoad;
      load.node = node;
      load.meter = meters_.find(path_of(*node) + ".load", node->location.words());
      let_wait(load);
      stub.steps.push_back(load);
    }
    return stub;
  }

  // A list that shuffles itself: with a given seed in tf.data's own order,
  // which only drawing gives; else by position.
  void own_order(Stub& stub, const std::shared_ptr<const Node>& node, int place, const EngineParams& params) {
    if (params.seed) {
      order(stub, LinePlan::Kind::kShuffle, node)->place = place;
      return;
    }
    const int64_t n = stub.list_length();
    stub.ops.push_back({PositionList::Op::Kind::kPermute, node, place, n, n, 1, seed_of(*node)});
  }

  // The list is filled in when the segment is closed.
  static void add_fetch(Stub& stub) {
    StepPlan fetch;
    fetch.kind = StepPlan::Kind::kFetch;
    fetch.meter = stub.meter;
    stub.steps.push_back(std::move(fetch));
  }

  // On a waiting thread until it is seen not to sleep, and watched: a read may
  // never return.
  static void let_wait(StepPlan& step) {
    step.meter->waits = true;
    step.meter->reads = true;
    step.user = true;
  }

  static std::shared_ptr<const Node> with_stage(const Node& node, std::shared_ptr<const Stage> stage) {
    auto part = std::make_shared<Node>();
    part->stage = std::move(stage);
    part->location = node.location;
    part->name = node.name;
    part->state = node.state;
    return part;
  }

  Result<Stub> step(Stub stub, const std::shared_ptr<const Node>& node) {
    StepPlan step;
    const bool filter = node->stage->type().form == Form::kFilter;
    step.kind = filter ? StepPlan::Kind::kFilter : StepPlan::Kind::kMap;
    step.node = node;
    step.seed = stub.seed;
    step.key = stub.maps++;
    const Hints hints = node->stage->hints();
    if (hints.parallel_calls && *hints.parallel_calls > 0) step.parallel = *hints.parallel_calls;
    step.user = node->stage->calls_user();
    step.meter = meter_of(*node);
    step.meter->at_once = step.parallel;
    step.meter->user = step.user;
    if (const std::optional<Stage::Parts> parts = node->stage->cut()) {
      StepPlan reads = step;
      reads.node = with_stage(*node, parts->reads);
      reads.meter = meters_.find(step.meter->path + ".load", node->location.words());
      let_wait(reads);
      stub.steps.push_back(std::move(reads));
      step.node = with_stage(*node, parts->rest);
    } else if (node->stage->waits()) {
      let_wait(step);
    }
    stub.steps.push_back(std::move(step));
    stub.filters |= filter;
    stub.words.push_back(node->name);
    if (hints.sequence) close(stub);
    return stub;
  }

  std::shared_ptr<LinePlan> new_line(LinePlan::Kind kind, const std::shared_ptr<const Node>& node) const {
    auto line = std::make_shared<LinePlan>();
    line->kind = kind;
    line->node = node;
    if (!node) return line;
    line->path = path_of(*node);
    line->seed = seed_of(*node);
    return line;
  }

  // The line of a stub whose maps are left where they are.
  std::shared_ptr<const LinePlan> line_of(Stub& stub) const {
    if (!stub.base) return stub.line;
    auto line = new_line(LinePlan::Kind::kList, nullptr);
    line->list = list_of(stub);
    const std::shared_ptr<const ListPlan> base = stub.ops.empty() ? stub.base : line->list;
    if (!stub.steps.empty() && stub.steps[0].kind == StepPlan::Kind::kFetch) {
      stub.steps[0].list = base;
      stub.steps[0].user = base->calls_user();
      stub.steps[0].parallel = base->most_calls();
    }
    return line;
  }

  // Turns a list into a line of its names: what follows orders names by steps.
  void leave_list(Stub& stub) const {
    if (!stub.base) return;
    stub.line = line_of(stub);
    stub.base.reset();
    stub.ops.clear();
    stub.names = true;
  }

  // Puts a window behind the stub's maps and goes on with what comes out.
  void close(Stub& stub, int64_t rows = 0) {
    if (stub.base == nullptr && stub.steps.empty()) return;
    Stub next;
    next.seed = stub.seed;
    next.maps = stub.maps;
    next.source = stub.source;
    next.stride = stub.stride;
    next.meter = stub.meter;
    next.inline_only = false;
    next.words = {"…"};
    auto port = new_line(LinePlan::Kind::kPort, nullptr);
    port->segment = segment(std::move(stub), rows);
    next.line = std::move(port);
    stub = std::move(next);
  }

  Result<Stub> selection(Stub stub, const std::shared_ptr<const Node>& node) {
    if (stub.is_list()) {
      const int64_t below = stub.list_length();
      int64_t length = node->stage->select_length(below);
      if (below >= kEndless)
        length = length == node->stage->select_length(kEndless - (int64_t{1} << 32)) ? length : kEndless;
      stub.ops.push_back({PositionList::Op::Kind::kSelect, node, 0, below, std::max<int64_t>(length, 0)});
    } else {
      order(stub, LinePlan::Kind::kSelect, node);
    }
    stub.words.push_back(node->name);
    return stub;
  }

  // A stage that orders or selects without looking: before the maps where no
  // filter stands among them, else behind a window.
  std::shared_ptr<LinePlan> order(Stub& stub, LinePlan::Kind kind, const std::shared_ptr<const Node>& node) {
    if (stub.filters)
      close(stub);
    else
      leave_list(stub);
    auto line = new_line(kind, node);
    line->inputs = {stub.line};
    line->meter = meter_of(*node);
    stub.line = line;
    stub.meter = line->meter;
    return line;
  }

  Result<Stub> sequence(Stub stub, const std::shared_ptr<const Node>& node) {
    auto line = new_line(LinePlan::Kind::kSequence, node);
    close(stub, node->stage->rows());
    line->inputs = {stub.line};
    line->meter = meter_of(*node);
    line->meter->at_once = 1;
    STOKER_TRY(add_inputs(*line, *node, 1));
    return behind(std::move(stub), line, node->name);
  }

  Result<void> add_inputs(LinePlan& line, const Node& node, size_t from) {
    for (size_t i = from; i < node.inputs.size(); ++i) {
      STOKER_TRY(Stub input, lower(node.inputs[i]));
      close(input);
      line.inputs.push_back(input.line);
    }
    return {};
  }

  static Stub behind(Stub stub, std::shared_ptr<LinePlan> line, const std::string& name) {
    Stub next;
    next.meter = line->meter;
    next.line = std::move(line);
    next.seed = stub.seed;
    next.maps = stub.maps;
    next.source = stub.source;
    next.stride = stub.stride;
    next.waits = stub.waits;
    next.inline_only = stub.inline_only;
    next.words = std::move(stub.words);
    next.words.push_back(name);
    return next;
  }

  Result<Stub> engine(Stub stub, const std::shared_ptr<const Node>& node) {
    const EngineParams params = node->stage->engine();
    switch (params.kind) {
      case EngineKind::kPrefetch:
        stub.at_least = std::max(stub.at_least, params.count);
        plan_.prefetch = std::max(plan_.prefetch, params.count);
        return stub;
      case EngineKind::kOnError: plan_.on_error = params; return stub;
      case EngineKind::kShuffle: return shuffle(std::move(stub), node, params);
      case EngineKind::kRepeat: return repeat(std::move(stub), node, params);
      case EngineKind::kCache: return cache(std::move(stub), node);
      case EngineKind::kZip: return zip(node);
      case EngineKind::kConcatenate: return concatenate(std::move(stub), node);
      case EngineKind::kEnumerate: return enumerate(std::move(stub), node, params);
    }
    return Error::internal("an engine stage that is not known");
  }

  Result<Stub> shuffle(Stub stub, const std::shared_ptr<const Node>& node, const EngineParams& params) {
    const int place = place_of(node, stub);
    stub.words.push_back(node->name);
    if (!params.buffer && stub.base) {  // a uniform order with some struck out is a uniform order
      const int64_t n = stub.list_length();
      if (n >= kEndless)
        return Error::invalid(
            "shuffle: without buffer_size the input must have an end; give a buffer_size, or shuffle before repeat");
      stub.ops.push_back({PositionList::Op::Kind::kPermute, node, place, n, n, 1, seed_of(*node)});
      return stub;
    }
    const auto line = order(stub, LinePlan::Kind::kShuffle, node);
    line->place = place;
    line->meter->held_in_all = std::min(params.buffer.value_or(kEndless), length_before(*node));
    return stub;
  }

  // Elements that reach the node; kEndless where nobody knows. To find out is to
  // look at every stage below, so it is done for the first few alone.
  int64_t length_before(const Node& node) {
    if (++lengths_asked_ > 8) return kEndless;
    const Result<int64_t> length = cardinality_of(*node.inputs[0], Counting::kAsKnown);
    return length && *length >= 0 ? *length : kEndless;
  }

  // How many passes of each repeat below one full pass of the list begins.
  static void settle_strides(std::vector<PositionList::Op>& ops) {
    if (ops.empty()) return;
    int64_t last = ops.back().length - 1;
    for (auto op = ops.rbegin(); op != ops.rend() && last >= 0; ++op) {
      if (op->kind == PositionList::Op::Kind::kSelect) last = op->node->stage->select(last);
      if (op->kind == PositionList::Op::Kind::kPermute) last = op->below - 1;
      if (op->kind == PositionList::Op::Kind::kRepeat) {
        op->stride = last / op->below + 1;
        last = op->below - 1;
      }
    }
  }

  static int64_t repeated(int64_t passes, int64_t count) {
    int64_t all = 0;
    const bool endless = count < 0 || __builtin_mul_overflow(passes, std::max<int64_t>(count, 1), &all);
    return endless ? kEndless : std::min(all, kEndless);
  }

  Result<Stub> repeat(Stub stub, const std::shared_ptr<const Node>& node, const EngineParams& params) {
    stub.words.push_back(node->name);
    stub.stride = repeated(stub.stride, params.count);
    for (int64_t& stride : strides_below()) stride = repeated(stride, params.count);
    if (stub.is_list()) {
      settle_strides(stub.ops);
      const int64_t below = stub.list_length();
      int64_t length = 0;
      if (below == 0 || params.count == 0)
        length = 0;
      else if (params.count < 0 || below >= kEndless || __builtin_mul_overflow(below, params.count, &length))
        length = kEndless;
      if (below > 0 && below < kEndless)
        stub.ops.push_back({PositionList::Op::Kind::kRepeat, node, 0, below, std::min(length, kEndless)});
      else if (params.count == 0)
        stub.ops.push_back({PositionList::Op::Kind::kRepeat, node, 0, 1, 0});
      return stub;
    }
    if (stub.inline_only && !stub.filters && !stub.waits) {
      auto line = order(stub, LinePlan::Kind::kRepeat, node);
      line->is_inline = true;
      return stub;
    }
    auto line = new_line(LinePlan::Kind::kRepeat, node);
    line->meter = meter_of(*node);
    line->child = segment(stub, 0);
    return behind(std::move(stub), line, "");
  }

  Result<Stub> cache(Stub stub, const std::shared_ptr<const Node>& node) {
    std::shared_ptr<CacheStore> store = store_of(*node);
    if (!cached_) plan_.caches.push_back(node);
    stub.stride = 1;  // passes of the cache, which origins carry from here on
    const int64_t stride = std::min(std::ranges::max(strides_below()), kMostPassesInCache);
    std::ranges::fill(strides_below(), 1);
    const auto first_source = static_cast<int32_t>(first_source_);
    const int place = place_of(node, stub);
    plan_.counted.back().unit = stride;
    stub.words.push_back(node->name);
    if (store->expected == 0) store->expected = length_before(*node);
    if (stub.is_list()) {
      Stub next;
      next.base = std::make_shared<CacheList>(listed(stub), node, place, first_source, stride, store);
      next.names = true;
      next.seed = stub.seed;
      next.maps = stub.maps;
      next.source = stub.source;
      next.stride = stub.stride;
      next.words = std::move(stub.words);
      next.meter = meter_of(*node);
      add_fetch(next);
      return next;
    }
    auto line = new_line(LinePlan::Kind::kCache, node);
    line->source = first_source;
    line->stride = stride;
    line->place = place;
    line->meter = meter_of(*node);
    line->child = segment(stub, 0);
    Stub next = behind(std::move(stub), line, "");
    next.inline_only = false;
    return next;
  }

 public:
  static std::shared_ptr<CacheStore> store_of(const Node& node) {
    const MutexLock lock(node.state->mutex);
    if (!node.state->cache) node.state->cache = CacheStore::make();
    return std::static_pointer_cast<CacheStore>(node.state->cache);
  }

 private:
  static Listed listed(const Stub& stub) {
    Listed all{list_of(stub), {}};
    for (const StepPlan& step : stub.steps)
      if (step.kind != StepPlan::Kind::kFetch) all.steps.push_back(step);
    return all;
  }

  Stub list_stub(std::shared_ptr<const ListPlan> list, const Stub& like, const std::shared_ptr<const Node>& node) {
    Stub stub;
    stub.base = std::move(list);
    stub.names = true;
    stub.seed = like.seed;
    stub.maps = like.maps;
    stub.source = like.source;
    stub.stride = like.stride;
    stub.words = {node->name};
    stub.meter = meter_of(*node);
    add_fetch(stub);
    return stub;
  }

  Result<Stub> zip(const std::shared_ptr<const Node>& node) {
    std::vector<Stub> parts;
    for (const auto& input : node->inputs) {
      STOKER_TRY(Stub part, lower(input));
      parts.push_back(std::move(part));
    }
    if (std::ranges::all_of(parts, &Stub::is_list)) {
      std::vector<Listed> lists;
      for (const Stub& part : parts) lists.push_back(listed(part));
      return list_stub(std::make_shared<ZipList>(std::move(lists)), parts[0], node);
    }
    auto line = new_line(LinePlan::Kind::kZip, node);
    line->meter = meter_of(*node);
    Stub all = parts[0];
    for (Stub& part : parts) {
      close(part);
      all.inline_only &= part.inline_only;
      all.waits |= part.waits;
      line->inputs.push_back(part.line);
    }
    all.words.clear();
    return behind(std::move(all), line, node->name);
  }

  Result<Stub> concatenate(Stub stub, const std::shared_ptr<const Node>& node) {
    STOKER_TRY(Stub second, lower(node->inputs[1]));
    if (stub.is_list() && second.is_list())
      return list_stub(std::make_shared<ConcatenateList>(listed(stub), listed(second)), stub, node);
    auto line = new_line(LinePlan::Kind::kConcatenate, node);
    line->meter = meter_of(*node);
    close(stub);
    close(second);
    stub.inline_only &= second.inline_only;
    stub.waits |= second.waits;
    line->inputs = {stub.line, second.line};
    return behind(std::move(stub), line, node->name);
  }

  Result<Stub> enumerate(Stub stub, const std::shared_ptr<const Node>& node, const EngineParams& params) {
    if (stub.is_list()) return list_stub(std::make_shared<EnumerateList>(listed(stub), params.count), stub, node);
    auto line = new_line(LinePlan::Kind::kEnumerate, node);
    line->meter = meter_of(*node);
    close(stub);
    line->inputs = {stub.line};
    return behind(std::move(stub), line, node->name);
  }

  Meters& meters_;
  const std::string prefix_;
  Plan& plan_;
  std::set<std::string> source_names_;
  std::map<std::string, int> namesakes_;
  std::map<std::string, int> names_;
  std::map<const NodeState*, int> places_;
  int depth_ = 0;
  int64_t visited_ = 0;
  int lengths_asked_ = 0;
  bool cached_ = false;      // what is being added lies below a cache
  size_t first_source_ = 0;  // below the chain that is being lowered
  bool by_position_;         // whether what stands above asks for it
};

bool is_cache(const Node& node) {
  return node.stage->type().form == Form::kEngine && node.stage->engine().kind == EngineKind::kCache;
}

}  // namespace

const Node& counting_node(const Node& last) {
  const Node* drawing = nullptr;
  for (const Node* at = &last;; at = at->inputs[0].get()) {
    const PassUse use = at->stage->pass_use();
    if (use == PassUse::kOrders) return *at;
    if (use == PassUse::kDraws) drawing = at;
    const bool is_chain = at->inputs.size() == 1 && !at->stage->type().opens && !is_cache(*at);
    if (is_chain) continue;
    if (!drawing && !at->inputs.empty()) drawing = at;  // what is joined, opened or kept has passes of its own
    return drawing ? *drawing : last;
  }
}

Result<std::shared_ptr<const Plan>> lower(std::shared_ptr<const Node> node, Meters& meters, Positions positions,
                                          const std::string& prefix, const Seeds* seeds) {
  auto plan = std::make_shared<Plan>();
  plan->node = node;
  if (seeds) plan->seeds = *seeds;
  for (const Node* one : nodes_of(*node)) plan->seeds.emplace(one->state.get(), one->state->seed.load());
  Lowering lowering(meters, positions, prefix, *plan);
  STOKER_TRY(Stub stub, lowering.lower(node));
  if (stub.is_list()) {
    plan->list = Lowering::list_of(stub);
    for (const StepPlan& step : stub.steps)
      if (step.kind != StepPlan::Kind::kFetch) plan->list_steps.push_back(step);
  }
  plan->root = lowering.segment(std::move(stub), 0);
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace stoker
