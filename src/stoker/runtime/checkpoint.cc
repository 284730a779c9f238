#include "stoker/runtime/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>

#include "stoker/core/hash.h"
#include "stoker/runtime/cache_store.h"

namespace stoker {
namespace {

constexpr int64_t kFormat = 2;
constexpr int64_t kMostPasses = int64_t{1} << 40;

// Whatever names files or holds arrays: the fingerprint stands for it, so that a
// moved data set is the same.
bool stands_for_data(const Json& value) {
  const auto* list = value.as<Json::List>();
  return value.as<std::string>() || value.as<Json::Dict>() ||
         (list && !list->empty() && stands_for_data(list->front()));
}

// Seeds are restored, not compared: not those of a graph that is a parameter either.
Json without_seeds(Json json) {
  if (auto* list = std::get_if<Json::List>(&json.value))
    for (Json& item : *list) item = without_seeds(std::move(item));
  if (auto* dict = std::get_if<Json::Dict>(&json.value)) {
    std::erase_if(*dict, [](const auto& entry) { return entry.first == "drawn_seed"; });
    for (auto& [key, value] : *dict) value = without_seeds(std::move(value));
  }
  return json;
}

// A stage in one line: what must be the same for a checkpoint to fit.
std::string words_of(const Node& node, bool has_fingerprint) {
  WriteContext context;
  Result<Json> params = node.stage->params(context);
  std::string words(node.stage->type().name);
  if (!params) return words + "(" + node.stage->words() + ")";
  if (!has_fingerprint) return shortened(words + without_seeds(*params).text(), 400);
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

using Counters = std::map<const NodeState*, int64_t>;

// Of the dataset that the plan is of: under the lock of its last node's state.
Passes next_of(const Plan& plan, const Counters& counters) {
  Passes passes;
  Counters next = counters;
  for (const Counted& counted : plan.counted)
    if (!counted.cached) passes.set(*counted.node, counted.place, next[counted.node->state.get()]++);
  return passes;
}

void take_next(const Plan& plan, Counters& counters) {
  for (const Counted& counted : plan.counted)
    if (!counted.cached) ++counters[counted.node->state.get()];
}

bool are_next(const Plan& plan, const Passes& passes, const Counters& counters) {
  const Passes next = next_of(plan, counters);
  return std::ranges::all_of(plan.counted, [&](const Counted& counted) {
    return passes.base(*counted.node, counted.place) == next.base(*counted.node, counted.place);
  });
}

}  // namespace

void read_fingerprint(const Plan& plan) { (void)fingerprint_of(plan); }

void share_fingerprint(const Plan& known, const Plan& other) {
  const Fingerprint& found = fingerprint_of(known);
  std::call_once(other.fingerprint->once, [&] {
    other.fingerprint->graph = found.graph;
    other.fingerprint->files = found.files;
  });
}

Passes next_passes(const Plan& plan) {
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  return next_of(plan, state.passes);
}

bool take_if_next(const Plan& plan, const Passes& passes) {
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  if (!are_next(plan, passes, state.passes)) return false;
  take_next(plan, state.passes);
  return true;
}

Passes take_passes(const Plan& plan) {
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  Passes passes = next_of(plan, state.passes);
  take_next(plan, state.passes);
  return passes;
}

void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass) {
  const auto own = std::ranges::find_if(plan.counted, [&](const Counted& c) {
    return c.source == source && !c.cached;  // downstream of a cache origins carry the cache's pass
  });
  if (own == plan.counted.end()) return;
  if (pass < 0 || pass > kMostPasses) return;  // an element that a damaged checkpoint brought
  const int64_t begun = pass / own->unit - passes.base(*own->node, own->place);
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const Counted& counted : plan.counted) {
    if (counted.cached || counted.source != source) continue;
    const int64_t next = passes.base(*counted.node, counted.place) + begun / counted.stride + 1;
    int64_t& known = state.passes[counted.node->state.get()];
    known = std::max(known, next);
  }
}

void start_with(const Plan& plan, int32_t source, int64_t pass) {
  Counters places;
  const Counted* own = nullptr;
  int64_t own_place = 0;
  for (const Counted& counted : plan.counted) {
    if (counted.cached) continue;
    const int64_t place = places[counted.node->state.get()]++;
    if (own || counted.source != source) continue;
    own = &counted;
    own_place = place;
  }
  if (!own) return;
  const auto stride_of = [&](int32_t of) { return plan.strides[static_cast<size_t>(of)]; };
  const int64_t epoch = (pass / own->unit - own_place) / places[own->node->state.get()] / stride_of(source);
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const Counted& counted : plan.counted) {
    if (counted.cached || epoch <= 0) continue;
    const int64_t each = std::max<int64_t>(1, stride_of(counted.source) / counted.stride);
    state.passes[counted.node->state.get()] = epoch * each * places[counted.node->state.get()];
  }
}

Json checkpoint_head(const Plan& plan, const Passes& passes) {
  Json json = Json::dict();
  json.set("stoker_checkpoint", kFormat);
  json.set("graph", fingerprint_of(plan).graph);
  json.set("files", fingerprint_of(plan).files);
  Json seeds = Json::list();
  for (const Node* node : nodes_of(*plan.node)) seeds.push(std::to_string(plan.seeds.at(node->state.get())));
  json.set("seeds", std::move(seeds));
  Json bases = Json::list();
  Json counters = Json::list();
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const Counted& counted : plan.counted) {
    bases.push(passes.base(*counted.node, counted.place));
    const auto next = state.passes.find(counted.node->state.get());
    counters.push(next == state.passes.end() ? 0 : next->second);
  }
  json.set("passes", std::move(bases));
  json.set("counters", std::move(counters));
  return json;
}

namespace {

// The parts of a list that must have one for each of `n`.
Result<const Json::List*> parts_of(const Json& json, std::string_view key, size_t n) {
  const Json* found = json.find(key);
  const Json::List* list = found ? found->as<Json::List>() : nullptr;
  if (!list || list->size() != n) return Error::invalid("the checkpoint is damaged: its ", key);
  return list;
}

Result<Seeds> read_seeds(const Plan& plan, const Json& json) {
  const auto nodes = nodes_of(*plan.node);
  STOKER_TRY(const Json::List* list, parts_of(json, "seeds", nodes.size()));
  Seeds seeds;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto* text = (*list)[i].as<std::string>();
    uint64_t seed = 0;
    const char* const end = text ? text->data() + text->size() : nullptr;
    if (!text || std::from_chars(text->data(), end, seed) != std::from_chars_result{end, std::errc()})
      return Error::invalid("the checkpoint is damaged: a seed is ", (*list)[i].text());
    seeds[nodes[i]->state.get()] = seed;
  }
  return seeds;
}

Result<int64_t> read_pass(const Json& json) {
  const auto* pass = json.as<int64_t>();
  if (!pass || *pass < 0 || *pass > kMostPasses)
    return Error::invalid("the checkpoint is damaged: a pass is ", json.text());
  return *pass;
}

}  // namespace

Result<CheckpointHead> read_head(const Plan& plan, const Json& json) {
  const Json* format = json.find("stoker_checkpoint");
  if (!format || !format->as<int64_t>()) return Error::invalid("this is not a checkpoint of Stoker's");
  if (*format->as<int64_t>() != kFormat)
    return Error::invalid("the checkpoint has format ", *format->as<int64_t>(), " and this Stoker reads format ",
                          kFormat);
  STOKER_TRY(compare(json.find("graph"), fingerprint_of(plan).graph, "stages", {}));
  STOKER_TRY(compare(json.find("files"), fingerprint_of(plan).files, "files", plan.sources));
  CheckpointHead head;
  STOKER_TRY(head.seeds, read_seeds(plan, json));
  STOKER_TRY(const Json::List* bases, parts_of(json, "passes", plan.counted.size()));
  STOKER_TRY(const Json::List* counters, parts_of(json, "counters", plan.counted.size()));
  for (size_t i = 0; i < plan.counted.size(); ++i) {
    const Counted& counted = plan.counted[i];
    STOKER_TRY(const int64_t base, read_pass((*bases)[i]));
    STOKER_TRY(const int64_t counter, read_pass((*counters)[i]));
    if (counted.cached) continue;
    head.passes.set(*counted.node, counted.place, base);
    head.counters[counted.node->state.get()] = counter;
  }
  return head;
}

void drop_other_caches(const Plan& plan, const CheckpointHead& head) {
  const std::vector<const Node*> nodes = nodes_of(*plan.node);
  const auto has_seed = [&](const Node* node) { return node->state->seed == head.seeds.at(node->state.get()); };
  if (std::ranges::all_of(nodes, has_seed)) return;
  for (const Node* node : nodes) {
    std::shared_ptr<void> dropped;  // freed after the lock
    const MutexLock lock(node->state->mutex);
    if (node->state->cache) dropped = std::exchange(node->state->cache, CacheStore::make());
  }
}

void adopt_head(const Plan& plan, const CheckpointHead& head) {
  for (const Node* node : nodes_of(*plan.node)) node->state->seed = head.seeds.at(node->state.get());
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const auto& [node, passes] : head.counters) state.passes[node] = passes;
}

namespace {

constexpr std::string_view kHash = "hash";
constexpr size_t kDeepest = 8192;  // each line of a graph takes two levels

std::string hash_of_parts(const Json& json) { return hex_of(hash_of(json.text())); }

}  // namespace

std::string checkpoint_text(Json json) {
  std::string hash = hash_of_parts(json);
  json.set(std::string(kHash), std::move(hash));
  return json.text();
}

Result<Json> read_checkpoint(std::string_view text) {
  Result<Json> json = parse_json(text, kDeepest);
  if (!json) return Error::invalid("this is not a checkpoint of Stoker's: ", json.error().message());
  auto* parts = std::get_if<Json::Dict>(&json->value);
  if (!parts || !json->find("stoker_checkpoint")) return Error::invalid("this is not a checkpoint of Stoker's");
  std::string hash;
  if (parts->back().first == kHash) {
    if (const auto* found = parts->back().second.as<std::string>()) hash = *found;
    parts->pop_back();
  }
  // One of another format is refused by its number.
  const bool ours = *json->find("stoker_checkpoint") == Json(kFormat);
  if (ours && hash != hash_of_parts(*json))
    return Error::corrupt("the checkpoint is damaged: its content does not match its hash; use an earlier one");
  return json;
}

}  // namespace stoker
