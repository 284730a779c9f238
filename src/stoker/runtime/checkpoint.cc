#include "stoker/runtime/checkpoint.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "stoker/core/hash.h"
#include "stoker/runtime/cache_store.h"

namespace stoker {
namespace {

constexpr int64_t kFormat = 1;
constexpr int64_t kMostPasses = int64_t{1} << 40;

std::shared_ptr<CacheStore> store_of(const Plan& plan, const Counted& counted) {
  if (counted.below_cache < 0) return nullptr;
  const auto& state = plan.caches[static_cast<size_t>(counted.below_cache)]->state;
  std::lock_guard lock(state->mutex);
  return std::static_pointer_cast<CacheStore>(state->cache);
}

// Whatever names files or holds arrays: the fingerprint stands for it, so that a
// moved data set is the same.
bool stands_for_data(const Json& value) {
  const auto* list = value.as<Json::List>();
  return value.as<std::string>() || value.as<Json::Dict>() ||
         (list && !list->empty() && stands_for_data(list->front()));
}

// A stage in one line: what must be the same for a checkpoint to fit.
std::string words_of(const Node& node, bool has_fingerprint) {
  WriteContext context;
  Result<Json> params = node.stage->params(context);
  std::string words(node.stage->type().name);
  if (!params) return words + "(" + node.stage->words() + ")";
  if (!has_fingerprint) return shortened(words + params->text(), 400);
  Json kept = Json::dict();
  for (const auto& [key, value] : *params->as<Json::Dict>())
    if (!stands_for_data(value)) kept.set(key, value);
  return words + kept.text();
}

bool is_hint(const Node& node) {
  if (node.stage->type().form != Form::kEngine) return false;
  const EngineKind kind = node.stage->engine().kind;
  return kind == EngineKind::kPrefetch || kind == EngineKind::kOnError;
}

// Read once: saving is often, and the files are those the plan was made for.
const Fingerprint& fingerprint_of(const Plan& plan) {
  std::call_once(plan.fingerprint->once, [&] {
    std::set<const Node*> with_files;
    for (const auto& node : plan.source_nodes) {
      Result<std::string> print = node->stage->fingerprint();
      if (!print || !print->empty()) with_files.insert(node.get());
      plan.fingerprint->files.push(print ? *std::move(print) : "unreadable: " + print.error().message());
    }
    for (const Node* node : nodes_of(*plan.node))
      if (!is_hint(*node)) plan.fingerprint->graph.push(words_of(*node, with_files.contains(node)));
  });
  return *plan.fingerprint;
}

Result<void> compare(const Json* saved, const Json& now, std::string_view what, const std::vector<std::string>& names) {
  const Json::List* old = saved ? saved->as<Json::List>() : nullptr;
  if (!old) return Error::invalid("the checkpoint is damaged: it does not name its ", what);
  const Json::List& current = *now.as<Json::List>();
  for (size_t i = 0; i < std::max(old->size(), current.size()); ++i) {
    const std::string before = i < old->size() ? (*old)[i].text() : "nothing";
    const std::string after = i < current.size() ? current[i].text() : "nothing";
    if (before == after) continue;
    return Error::precondition("the checkpoint was made with other ", what, ": ",
                               i < names.size() ? names[i] + " " : "", "was ", before, " and is ", after);
  }
  return {};
}

}  // namespace

namespace {

// The pass a cache was first filled in, for a node below it.
std::optional<int64_t> cached_base(const Plan& plan, const Counted& counted) {
  const std::shared_ptr<CacheStore> store = store_of(plan, counted);
  if (!store) return std::nullopt;
  std::lock_guard lock(plan.caches[static_cast<size_t>(counted.below_cache)]->state->mutex);
  auto found = store->bases.find({counted.node->state.get(), counted.place});
  if (found == store->bases.end()) return std::nullopt;
  return found->second;
}

void keep_base(const Plan& plan, const Counted& counted, int64_t base) {
  const std::shared_ptr<CacheStore> store = store_of(plan, counted);
  if (!store) return;
  std::lock_guard lock(plan.caches[static_cast<size_t>(counted.below_cache)]->state->mutex);
  store->bases.insert_or_assign({counted.node->state.get(), counted.place}, base);
}

}  // namespace

Passes next_passes(const Plan& plan) {
  Passes passes;
  std::map<const NodeState*, int64_t> taken;  // by places to the left of this one
  for (const Counted& counted : plan.counted) {
    const std::optional<int64_t> cached = cached_base(plan, counted);
    const int64_t next = counted.node->state->passes.load() + taken[counted.node->state.get()];
    if (!cached) ++taken[counted.node->state.get()];
    passes.set(*counted.node, counted.place, cached.value_or(next));
  }
  return passes;
}

bool take_if_next(const Plan& plan, const Passes& passes) {
  // All or none: a node left one pass further would skip an order.
  static std::mutex one_at_a_time;
  std::lock_guard lock(one_at_a_time);
  std::map<const NodeState*, int64_t> taken;  // by places to the left of this one
  for (const Counted& counted : plan.counted) {
    if (cached_base(plan, counted)) continue;
    const int64_t next = counted.node->state->passes.load() + taken[counted.node->state.get()]++;
    if (passes.base(*counted.node, counted.place) != next) return false;
  }
  for (const Counted& counted : plan.counted) {
    if (cached_base(plan, counted)) continue;
    ++counted.node->state->passes;
    keep_base(plan, counted, passes.base(*counted.node, counted.place));
  }
  return true;
}

Passes take_passes(const Plan& plan) {
  while (true) {
    Passes passes = next_passes(plan);
    if (take_if_next(plan, passes)) return passes;
  }
}

void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass) {
  const auto own = std::ranges::find_if(plan.counted, [&](const Counted& c) {
    return c.source == source && c.below_cache < 0;  // behind a cache origins carry the cache's pass
  });
  if (own == plan.counted.end()) return;
  if (pass < 0 || pass > kMostPasses) return;  // an element that a damaged checkpoint brought
  const int64_t begun = pass - passes.base(*own->node, own->place);
  for (const Counted& counted : plan.counted) {
    if (counted.below_cache >= 0 || counted.source != source) continue;
    const int64_t next = passes.base(*counted.node, counted.place) + begun / counted.stride + 1;
    int64_t known = counted.node->state->passes.load();
    while (known < next && !counted.node->state->passes.compare_exchange_weak(known, next)) {
    }
  }
}

Json checkpoint_head(const Plan& plan, const Passes& passes) {
  Json json = Json::dict();
  json.set("stoker_checkpoint", kFormat);
  json.set("graph", fingerprint_of(plan).graph);
  json.set("files", fingerprint_of(plan).files);
  Json seeds = Json::list();
  for (const Node* node : nodes_of(*plan.node)) seeds.push(std::to_string(node->state->seed.load()));
  json.set("seeds", std::move(seeds));
  Json bases = Json::list();
  Json counters = Json::list();
  for (const Counted& counted : plan.counted) {
    bases.push(passes.base(*counted.node, counted.place));
    counters.push(counted.node->state->passes.load());
  }
  json.set("passes", std::move(bases));
  json.set("counters", std::move(counters));
  return json;
}

Result<Passes> restore_head(const Plan& plan, const Json& json) {
  const Json* format = json.find("stoker_checkpoint");
  if (!format || !format->as<int64_t>()) return Error::invalid("this is not a checkpoint of Stoker's");
  if (*format->as<int64_t>() != kFormat)
    return Error::invalid("the checkpoint has format ", *format->as<int64_t>(), " and this Stoker reads format ",
                          kFormat);
  STOKER_TRY(compare(json.find("graph"), fingerprint_of(plan).graph, "stages", {}));
  STOKER_TRY(compare(json.find("files"), fingerprint_of(plan).files, "files", plan.sources));
  const Json* seeds = json.find("seeds");
  const auto nodes = nodes_of(*plan.node);
  const Json::List* seed_list = seeds ? seeds->as<Json::List>() : nullptr;
  if (!seed_list || seed_list->size() != nodes.size()) return Error::invalid("the checkpoint is damaged: its seeds");
  for (size_t i = 0; i < nodes.size(); ++i)
    if (const auto* text = (*seed_list)[i].as<std::string>())
      nodes[i]->state->seed = std::strtoull(text->c_str(), nullptr, 10);
  Passes passes;
  const Json* bases = json.find("passes");
  const Json* counters = json.find("counters");
  const Json::List* base_list = bases ? bases->as<Json::List>() : nullptr;
  const Json::List* counter_list = counters ? counters->as<Json::List>() : nullptr;
  if (!base_list || !counter_list || base_list->size() != plan.counted.size() ||
      counter_list->size() != plan.counted.size())
    return Error::invalid("the checkpoint is damaged: its passes");
  for (size_t i = 0; i < plan.counted.size(); ++i) {
    const Counted& counted = plan.counted[i];
    const auto* base = (*base_list)[i].as<int64_t>();
    const auto* counter = (*counter_list)[i].as<int64_t>();
    if (!base || !counter || *base < 0 || *base > kMostPasses || *counter < 0 || *counter > kMostPasses)
      return Error::invalid("the checkpoint is damaged: its passes");
    passes.set(*counted.node, counted.place, *base);
    counted.node->state->passes = *counter;
    keep_base(plan, counted, *base);
  }
  return passes;
}

}  // namespace stoker
