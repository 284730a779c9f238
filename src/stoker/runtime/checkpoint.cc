#include "stoker/runtime/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <mutex>

#include "stoker/core/hash.h"

namespace stoker {
namespace {

constexpr int64_t kFormat = 3;

// Removes the seeds, which are restored and not compared, including those of a graph that is a parameter.
Json without_seeds(Json json) {
  if (auto* list = std::get_if<Json::List>(&json.value))
    for (Json& item : *list) item = without_seeds(std::move(item));
  if (auto* dict = std::get_if<Json::Dict>(&json.value)) {
    std::erase_if(*dict, [](const auto& entry) { return entry.first == "drawn_seed"; });
    for (auto& [key, value] : *dict) value = without_seeds(std::move(value));
  }
  return json;
}

// Returns a stage and its parameters in one line. A checkpoint is accepted only if these lines are equal.
std::string describe(const Node& node) {
  WriteContext context;
  context.compares = true;
  Result<Json> params = node.stage->params(context);
  const std::string name(node.stage->type().name);
  if (!params) return name + "(" + node.stage->summary() + ")";
  return shortened(name + without_seeds(*params).text(), 400);
}

// Returns whether the stage has no effect on the elements and their order.
bool is_hint(const Node& node) {
  return is_engine_stage<PrefetchParams>(*node.stage) || is_engine_stage<ErrorPolicyParams>(*node.stage);
}

// Returns the sources of captured datasets that are not sources of the plan.
std::vector<const Node*> captured_sources(const Plan& plan) {
  const std::vector<const Node*> own = nodes_of(*plan.node);
  std::vector<const Node*> sources;
  for (const Node* node : nodes_with_captured(*plan.node)) {
    if (node->stage->type().is_source() && std::ranges::find(own, node) == own.end()) sources.push_back(node);
  }
  return sources;
}

std::string fingerprint_text(const Node& source) {
  Result<std::string> print = if_source(*source.stage)->fingerprint();
  return print ? *std::move(print) : "unreadable: " + print.error().message();
}

// Computed once, because checkpoints are saved frequently and the files of a plan do not change.
const Fingerprint& fingerprint_of(const Plan& plan) {
  std::call_once(plan.fingerprint->once, [&] {
    for (const auto& node : plan.source_nodes) plan.fingerprint->files.push(fingerprint_text(*node));
    for (const Node* node : captured_sources(plan)) plan.fingerprint->files.push(fingerprint_text(*node));
    for (const Node* node : nodes_with_captured(*plan.node))
      if (!is_hint(*node)) plan.fingerprint->graph.push(describe(*node));
  });
  return *plan.fingerprint;
}

// The number of bytes at the start that two texts have in common.
size_t equal_bytes(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// Returns a text from its name to the first difference. "…" stands for the text between them.
std::string excerpt(const std::string& text, size_t same) {
  constexpr size_t kName = 40, kBefore = 60, kAfter = 200;
  if (same < kName + kBefore) return text.size() <= 2 * kAfter ? text : text.substr(0, same + kAfter) + "…";
  const std::string rest = text.substr(same - kBefore);
  return text.substr(0, kName) + "…" +
         (rest.size() <= kBefore + kAfter ? rest : rest.substr(0, kBefore + kAfter) + "…");
}

Result<void> check_equal(const Json* saved, const Json& now, std::string_view what,
                         const std::vector<std::string>& names) {
  const Json::List* old = saved ? saved->as<Json::List>() : nullptr;
  if (!old) return Error::invalid("the checkpoint is damaged: expected a list of its ", what, ", found none");
  const Json::List& current = *now.as<Json::List>();
  for (size_t i = 0; i < std::max(old->size(), current.size()); ++i) {
    const std::string before = i < old->size() ? (*old)[i].text() : "nothing";
    const std::string after = i < current.size() ? current[i].text() : "nothing";
    if (before == after) continue;
    const size_t same = equal_bytes(before, after);
    return Error::precondition("the checkpoint was saved with different ", what, ": ",
                               i < names.size() ? names[i] + ": " : "", "saved ", excerpt(before, same), ", now ",
                               excerpt(after, same), "; restore it with the same ", what);
  }
  return {};
}

}  // namespace

namespace {

using Counters = std::map<const NodeState*, int64_t>;

// Returns the passes that the next iterator of the plan takes. The caller holds the lock of the counting node's state.
Passes next_passes_of(const Plan& plan, const Counters& counters) {
  Passes passes;
  Counters next = counters;
  for (const CountedNode& counted : plan.counted)
    if (!counted.cached) {
      int64_t& pass = next[counted.node->state.get()];
      passes.set(*counted.node, counted.place, pass);
      pass = pass_after(pass, 1);
    }
  return passes;
}

void advance(const Plan& plan, Counters& counters) {
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached) continue;
    int64_t& pass = counters[counted.node->state.get()];
    pass = pass_after(pass, 1);
  }
}

bool are_next_passes(const Plan& plan, const Passes& passes, const Counters& counters) {
  const Passes next = next_passes_of(plan, counters);
  return std::ranges::all_of(plan.counted, [&](const CountedNode& counted) {
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
  return next_passes_of(plan, state.passes);
}

bool take_if_next(const Plan& plan, const Passes& passes) {
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  if (!are_next_passes(plan, passes, state.passes)) return false;
  advance(plan, state.passes);
  return true;
}

Passes take_passes(const Plan& plan) {
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  Passes passes = next_passes_of(plan, state.passes);
  advance(plan, state.passes);
  return passes;
}

void raise_passes(const Plan& plan, const Passes& passes, int32_t source, int64_t pass) {
  const auto own = std::ranges::find_if(plan.counted, [&](const CountedNode& c) {
    return c.counts(source) && !c.cached;  // downstream of a cache, origins have the cache's pass
  });
  if (own == plan.counted.end()) return;
  if (pass < 0 || pass > kMostPasses) return;  // an element from a damaged checkpoint
  const int64_t passes_started = passes_since(passes.base(*own->node, own->place), pass / own->unit);
  if (passes_started < 0) return;
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached || !counted.counts(source)) continue;
    const int64_t base = passes.base(*counted.node, counted.place);
    const int64_t next = pass_after(base, passes_started / counted.stride + 1);
    int64_t& known = state.passes[counted.node->state.get()];
    if (passes_since(known, next) > 0) known = next;
  }
}

namespace {

// The passes that each node counts in one epoch that is read to its end. The places of a node start with successive
// passes, and each counts its passes from there, so their passes may overlap.
Counters passes_per_epoch(const Plan& plan) {
  Counters places, passes;
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached) continue;
    const NodeState* const node = counted.node->state.get();
    const int64_t stride = plan.strides[static_cast<size_t>(counted.source)];
    const int64_t end = places[node]++ + std::max<int64_t>(1, stride / counted.stride);
    passes[node] = std::max(passes[node], std::min(end, kMostPasses));
  }
  return passes;
}

}  // namespace

int64_t epoch_of_pass(const Plan& plan, int32_t source, int64_t pass) {
  Counters places;
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached) continue;
    const NodeState* const node = counted.node->state.get();
    const int64_t place = places[node]++;
    if (counted.counts(source)) return std::max<int64_t>(0, pass / counted.unit - place) / passes_per_epoch(plan)[node];
  }
  return 0;
}

namespace {

// The product, at most kMostPasses: an endless repeat has more passes per epoch than can be counted.
int64_t passes_of_epochs(int64_t epochs, int64_t passes_per_epoch) {
  int64_t passes = 0;
  if (__builtin_mul_overflow(epochs, passes_per_epoch, &passes)) return kMostPasses;
  return std::min(passes, kMostPasses);
}

// The counters when `epoch` starts, if every earlier epoch was read to its end.
Counters counters_of_epoch(const Plan& plan, int64_t epoch) {
  Counters counters = passes_per_epoch(plan);
  for (auto& [node, passes] : counters) passes = passes_of_epochs(epoch, passes);
  return counters;
}

}  // namespace

void start_with_epoch(const Plan& plan, int64_t epoch) {
  Counters counters = counters_of_epoch(plan, epoch);
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const auto& [node, passes] : counters) state.passes[node] = passes;
}

EpochPasses unusual_passes(const Plan& plan, const Passes& passes) {
  EpochPasses all;
  const Node* first = nullptr;
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached) continue;
    if (!first) first = counted.node.get();
    all.push_back(passes.base(*counted.node, counted.place));
  }
  if (!first) return {};
  const int64_t epoch = all[0] / counters_of_epoch(plan, 1)[first->state.get()];
  return are_next_passes(plan, passes, counters_of_epoch(plan, epoch)) ? EpochPasses() : all;
}

Result<void> start_with_passes(const Plan& plan, const EpochPasses& passes) {
  Counters counters;
  size_t places = 0;
  for (const CountedNode& counted : plan.counted) {
    if (counted.cached || counted.node == plan.node) continue;
    const size_t at = passes.size() == 1 ? 0 : places;
    if (at < passes.size()) counters.try_emplace(counted.node->state.get(), passes[at]);
    ++places;
  }
  if (passes.size() != 1 && passes.size() != places)
    return Error::invalid("the origin has the passes of ", passes.size(), " stages, expected ", places,
                          "; replay it with the dataset that reported it");
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const auto& [node, pass] : counters) state.passes[node] = pass;
  return {};
}

Json checkpoint_head(const Plan& plan, const Passes& passes) {
  Json json = Json::dict();
  json.set("stoker_checkpoint", kFormat);
  json.set("graph", fingerprint_of(plan).graph);
  json.set("files", fingerprint_of(plan).files);
  Json seeds = Json::list();
  for (const Node* node : nodes_with_captured(*plan.node)) seeds.push(std::to_string(plan.seeds.at(node->state.get())));
  json.set("seeds", std::move(seeds));
  Json bases = Json::list();
  Json counters = Json::list();
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const CountedNode& counted : plan.counted) {
    bases.push(passes.base(*counted.node, counted.place));
    const auto next = state.passes.find(counted.node->state.get());
    counters.push(next == state.passes.end() ? 0 : next->second);
  }
  json.set("passes", std::move(bases));
  json.set("counters", std::move(counters));
  return json;
}

namespace {

// Returns the list at `key`. Fails unless it has `n` items.
Result<const Json::List*> list_of(const Json& json, std::string_view key, size_t n) {
  const Json* found = json.find(key);
  const Json::List* list = found ? found->as<Json::List>() : nullptr;
  if (!list) return Error::invalid("the checkpoint is damaged: expected a list \"", key, "\", found none");
  if (list->size() != n)
    return Error::invalid("the checkpoint is damaged: expected ", n, " items in \"", key, "\", got ", list->size());
  return list;
}

Result<Seeds> read_seeds(const Plan& plan, const Json& json) {
  const auto nodes = nodes_with_captured(*plan.node);
  STOKER_TRY(const Json::List* list, list_of(json, "seeds", nodes.size()));
  Seeds seeds;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto* text = (*list)[i].as<std::string>();
    uint64_t seed = 0;
    const char* const end = text ? text->data() + text->size() : nullptr;
    if (!text || std::from_chars(text->data(), end, seed) != std::from_chars_result{end, std::errc()})
      return Error::invalid("the checkpoint is damaged: expected a seed, got ", (*list)[i].text());
    seeds[nodes[i]->state.get()] = seed;
  }
  return seeds;
}

Result<int64_t> read_pass(const Json& json) {
  const auto* pass = json.as<int64_t>();
  if (!pass || *pass < 0 || *pass > kMostPasses)
    return Error::invalid("the checkpoint is damaged: expected a pass number, got ", json.text());
  return *pass;
}

}  // namespace

Result<CheckpointHead> read_head(const Plan& plan, const Json& json) {
  const Json* format = json.find("stoker_checkpoint");
  if (!format || !format->as<int64_t>())
    return Error::invalid("this is not a Stoker checkpoint: expected an integer \"stoker_checkpoint\"");
  if (*format->as<int64_t>() != kFormat)
    return Error::invalid("the checkpoint has format ", *format->as<int64_t>(), "; expected format ", kFormat,
                          "; restore it with the version of Stoker that saved it");
  STOKER_TRY(check_equal(json.find("graph"), fingerprint_of(plan).graph, "stages", {}));
  std::vector<std::string> sources = plan.sources;
  for (const Node* node : captured_sources(plan)) sources.push_back(node->name);
  STOKER_TRY(check_equal(json.find("files"), fingerprint_of(plan).files, "files", sources));
  CheckpointHead head;
  STOKER_TRY(head.seeds, read_seeds(plan, json));
  STOKER_TRY(const Json::List* bases, list_of(json, "passes", plan.counted.size()));
  STOKER_TRY(const Json::List* counters, list_of(json, "counters", plan.counted.size()));
  for (size_t i = 0; i < plan.counted.size(); ++i) {
    const CountedNode& counted = plan.counted[i];
    STOKER_TRY(const int64_t base, read_pass((*bases)[i]));
    STOKER_TRY(const int64_t counter, read_pass((*counters)[i]));
    if (counted.cached) continue;
    head.passes.set(*counted.node, counted.place, base);
    head.counters[counted.node->state.get()] = counter;
  }
  return head;
}

void adopt_head(const Plan& plan, const CheckpointHead& head) {
  for (const Node* node : nodes_with_captured(*plan.node)) node->state->seed = head.seeds.at(node->state.get());
  NodeState& state = *counting_node(*plan.node).state;
  const MutexLock lock(state.mutex);
  for (const auto& [node, passes] : head.counters) state.passes[node] = passes;
}

namespace {

constexpr std::string_view kHash = "hash";
constexpr size_t kDeepest = 8192;  // levels of JSON; each line of a graph takes two

std::string hash_of_content(const Json& json) { return hex_of(hash_of(json.text())); }

}  // namespace

std::string checkpoint_text(Json json) {
  std::string hash = hash_of_content(json);
  json.set(std::string(kHash), std::move(hash));
  return json.text();
}

Result<Json> read_checkpoint(std::string_view text) {
  Result<Json> json = parse_json(text, kDeepest);
  if (!json) return Error::invalid("this is not a Stoker checkpoint: ", json.error().message());
  auto* parts = std::get_if<Json::Dict>(&json->value);
  if (!parts || !json->find("stoker_checkpoint"))
    return Error::invalid("this is not a Stoker checkpoint: expected a key \"stoker_checkpoint\"");
  std::string hash;
  if (parts->back().first == kHash) {
    if (const auto* found = parts->back().second.as<std::string>()) hash = *found;
    parts->pop_back();
  }
  // The hash is not checked for another format: read_head() rejects the checkpoint and names its format.
  const bool is_our_format = *json->find("stoker_checkpoint") == Json(kFormat);
  if (is_our_format && hash != hash_of_content(*json))
    return Error::corrupt("the checkpoint is damaged: its content does not match its hash; use an earlier checkpoint");
  return json;
}

}  // namespace stoker
