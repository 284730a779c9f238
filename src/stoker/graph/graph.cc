#include "stoker/graph/graph.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <set>

namespace stoker {
namespace {

// Adds the names of the stage and of the operation that failed: "batch: …", "map, resize: …".
Error with_names(const Stage& stage, const Error& error) {
  const std::string& operation = error.place().stage;
  const std::string prefix = std::string(stage.type().name) + (operation.empty() ? "" : ", " + operation) + ": ";
  if (error.message().starts_with(prefix)) return error;
  return Error(error.code(), prefix + error.message());
}

std::vector<Spec> specs_of(const Node& node) {
  std::vector<Spec> specs;
  for (const auto& input : node.inputs) specs.push_back(input->spec);
  return specs;
}

}  // namespace

Node::~Node() {
  // Frees in a loop each input of which this node has the last reference.
  std::vector<std::shared_ptr<const Node>> waiting = std::move(inputs);
  while (!waiting.empty()) {
    std::shared_ptr<const Node> node = std::move(waiting.back());
    waiting.pop_back();
    if (!node || node.use_count() > 1) continue;
    auto& below = const_cast<Node&>(*node).inputs;
    for (auto& input : below) waiting.push_back(std::move(input));
    below.clear();
  }
}

Result<std::shared_ptr<const Node>> make_node(std::shared_ptr<const Stage> stage, std::shared_ptr<const Node> input,
                                              Location location, std::string name) {
  auto node = std::make_shared<Node>();
  node->stage = std::move(stage);
  node->location = std::move(location);
  node->name = name.empty() ? std::string(node->stage->type().name) : std::move(name);
  node->state->seed = draw_seed();
  if (Result<void> checked = node->stage->check(); !checked) return with_names(*node->stage, checked.error());
  if (input) node->inputs.push_back(std::move(input));
  for (const Graph& graph : node->stage->graphs()) {
    if (!graph.node()) return Error::invalid(node->stage->type().name, ": expected a dataset, got none");
    node->inputs.push_back(graph.node());
  }
  for (const auto& below : node->inputs) node->nesting = std::max(node->nesting, below->nesting);
  Result<Spec> spec = node->stage->spec(specs_of(*node));
  if (!spec) return with_names(*node->stage, spec.error());
  node->spec = *std::move(spec);
  return std::shared_ptr<const Node>(std::move(node));
}

namespace {

// `below` returns the nodes that a node reads.
template <typename Below>
std::vector<const Node*> in_order(const Node& root, const Below& below) {
  struct Step {
    const Node* node;
    std::vector<const Node*> below;
    size_t next = 0;
  };
  std::vector<const Node*> order;
  std::set<const Node*> seen{&root};
  std::vector<Step> path{{&root, below(root)}};
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next == step.below.size()) {
      order.push_back(step.node);
      path.pop_back();
      continue;
    }
    const Node* one = step.below[step.next++];
    if (seen.insert(one).second) path.push_back({one, below(*one)});
  }
  return order;
}

std::vector<const Node*> inputs_of(const Node& node) {
  std::vector<const Node*> inputs;
  for (const auto& input : node.inputs) inputs.push_back(input.get());
  return inputs;
}

std::atomic<uint64_t>& node_numbers() {
  static std::atomic<uint64_t> next{0};
  return next;
}

}  // namespace

NodeState::NodeState() : number(node_numbers()++) {}
uint64_t next_node_number() { return node_numbers(); }

std::vector<const Node*> nodes_of(const Node& root) { return in_order(root, inputs_of); }

std::vector<const Node*> nodes_with_captured(const Node& root) {
  return in_order(root, [](const Node& node) {
    std::vector<const Node*> below = inputs_of(node);
    for (const Graph& graph : node.stage->captured()) below.push_back(graph.node().get());
    return below;
  });
}

Result<int64_t> cardinality_of(const Node& root, Counting counting) {
  std::map<const Node*, int64_t> known;
  for (const Node* node : nodes_of(root)) {
    std::vector<int64_t> inputs;
    for (const auto& input : node->inputs) inputs.push_back(known.at(input.get()));
    const StreamStage* stream = counting == Counting::kCounted ? if_form<StreamStage>(*node->stage) : nullptr;
    const std::shared_ptr<const ListStage> listed = stream ? stream->listed() : nullptr;
    if (const ListStage* list = listed ? listed.get() : if_form<ListStage>(*node->stage)) {
      Context context;
      STOKER_TRY(int64_t length, list->length(context));
      known[node] = length >= kEndless ? kInfinite : length;
    } else {
      known[node] = node->stage->cardinality(inputs, specs_of(*node));
    }
  }
  return known.at(&root);
}

namespace {

// Whether elements or their order depend on the seed that the node drew. Maps draw from the seed of their source,
// datasets that a stage opens from the seed of that stage.
bool uses_drawn_seed(const Stage& stage) {
  if (stage.type().is_source() || stage.type().opens_datasets) return true;
  const std::optional<ShuffleParams> shuffle = engine_params<ShuffleParams>(stage);
  return shuffle && !shuffle->seed;
}

Result<uint64_t> drawn_seed_from_json(const Json& json) {
  const auto* text = json.as<std::string>();
  uint64_t seed = 0;
  if (text) {
    const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), seed);
    if (problem == std::errc() && end == text->data() + text->size()) return seed;
  }
  return Error::invalid("\"drawn_seed\" must be a 64-bit unsigned integer as text; found ", json.text());
}

}  // namespace

Result<Json> stages_to_json(const Node& root, WriteContext& context) {
  // The chain of first inputs is a list of stages. Other inputs are values of parameters.
  std::vector<const Node*> chain;
  for (const Node* node = &root;;) {
    chain.push_back(node);
    const bool source = node->inputs.size() == node->stage->graphs().size();
    if (source || context.ids.contains(node)) break;
    node = node->inputs[0].get();
  }
  Json stages = Json::list();
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const Node& node = **at;
    if (auto known = context.ids.find(&node); known != context.ids.end()) {
      Json reference = Json::dict();
      reference.set("ref", known->second);
      stages.push(std::move(reference));
      continue;
    }
    Json stage = Json::dict();
    stage.set("stage", node.stage->type().name);
    if (node.name != node.stage->type().name) stage.set("name", node.name);
    if (context.uses[&node] > 1) {
      const auto id = static_cast<int64_t>(context.ids.size()) + 1;
      context.ids[&node] = id;
      stage.set("id", id);
    }
    if (uses_drawn_seed(*node.stage)) stage.set("drawn_seed", std::to_string(node.state->seed.load()));
    Result<Json> params = node.stage->params(context);
    if (!params) return with_names(*node.stage, params.error());
    for (auto& [key, value] : std::get<Json::Dict>(params->value)) stage.set(key, std::move(value));
    stages.push(std::move(stage));
  }
  return stages;
}

Result<Json> graph_to_json(const Node& root, WriteContext& context) {
  for (const Node* node : nodes_of(root))
    for (const auto& input : node->inputs) ++context.uses[input.get()];
  Json graph = Json::dict();
  graph.set("stoker", 1);
  STOKER_TRY(Json stages, stages_to_json(root, context));
  graph.set("stages", std::move(stages));
  return graph;
}

namespace {

// Adds the position of the stage: "stage 2, batch: …". The message may start with the name of the stage.
Error at_stage(size_t i, const Json& json, const Error& error) {
  std::string place = "stage " + std::to_string(i);
  std::string_view message = error.message();
  const Json* name = json.find("stage");
  if (const auto* stage = name ? name->as<std::string>() : nullptr; stage && message.starts_with(*stage)) {
    const std::string_view rest = message.substr(stage->size());
    if (rest.starts_with(": ") || rest.starts_with(", ")) return Error::of(error.code(), place, ", ", message);
  }
  return Error::of(error.code(), place, " (counted from 0): ", message);
}

std::string id_of(const Json& json) {
  if (const auto* text = json.as<std::string>()) return *text;
  if (const auto* number = json.as<int64_t>()) return std::to_string(*number);
  return {};
}

Result<std::shared_ptr<const Node>> stage_from_json(const Json& json, std::shared_ptr<const Node> input,
                                                    ReadContext& context) {
  if (!json.as<Json::Dict>()) return wrong_kind("an object with a \"stage\"", json);
  if (const Json* reference = json.find("ref")) {
    auto known = context.nodes.find(id_of(*reference));
    if (known == context.nodes.end())
      return Error::invalid("\"ref\": ", reference->text(),
                            " is not the id of an earlier stage; a graph cannot contain itself");
    if (input) return Error::invalid("a \"ref\" is a whole dataset and must come first in its list of stages");
    return known->second;
  }
  const Json* name = json.find("stage");
  if (!name || !name->as<std::string>())
    return Error::invalid("expected an object with a \"stage\", got ", json.text());
  const std::string& stage_name = *name->as<std::string>();
  const StageType* type = context.registry->find_stage(stage_name);
  if (!type) {
    std::vector<std::string_view> known;
    for (const StageType* candidate : context.registry->stages()) known.push_back(candidate->name);
    const std::string_view near = nearest(stage_name, known);
    return Error::invalid("no stage named '", stage_name, "'", near.empty() ? "" : "; did you mean '", near,
                          near.empty() ? "" : "'?", near.empty() ? "; `stoker stages` lists them" : "");
  }
  STOKER_TRY(std::shared_ptr<const Stage> stage, type->read(json, context));
  const bool is_source = type->is_source();
  if (is_source && input) return Error::invalid(stage_name, " is a source and must come first in its list of stages");
  if (!is_source && !is_engine_stage<ZipParams>(*stage) && !input)
    return Error::invalid(stage_name, " is not a source and must come after another stage");
  std::string given_name;
  if (const Json* given = json.find("name")) given_name = id_of(*given);
  STOKER_TRY(auto node, make_node(std::move(stage), std::move(input), Location{}, given_name));
  if (const Json* drawn = json.find("drawn_seed")) {
    STOKER_TRY(node->state->seed, drawn_seed_from_json(*drawn));
  }
  if (const Json* id = json.find("id"))
    if (!context.nodes.emplace(id_of(*id), node).second)
      return Error::invalid("two stages have the id '", id_of(*id), "'");
  return node;
}

}  // namespace

Result<std::shared_ptr<const Node>> stages_from_json(const Json& stages, ReadContext& context) {
  const Json::List* list = stages.as<Json::List>();
  if (!list) return wrong_kind("a list of stages", stages);
  if (list->empty()) return Error::invalid("expected at least one stage, got an empty list");
  if (context.depth >= kDeepestNesting) return Error::invalid("graphs are nested deeper than ", kDeepestNesting);
  ++context.depth;
  std::shared_ptr<const Node> node;
  for (size_t i = 0; i < list->size(); ++i) {
    Result<std::shared_ptr<const Node>> next = stage_from_json((*list)[i], std::move(node), context);
    if (!next) return at_stage(i, (*list)[i], next.error());
    node = *std::move(next);
  }
  --context.depth;
  return node;
}

Result<std::shared_ptr<const Node>> graph_from_json(const Json& json, ReadContext& context) {
  const Json::Dict* dict = json.as<Json::Dict>();
  if (!dict) return wrong_kind("a graph, {\"stoker\": 1, \"stages\": […]}", json);
  const Json* version = json.find("stoker");
  if (!version || !version->as<int64_t>())
    return Error::invalid("expected a graph with \"stoker\": 1, got an object without \"stoker\"");
  if (*version->as<int64_t>() != 1)
    return Error::invalid("expected graph version 1, got version ", *version->as<int64_t>());
  for (const auto& [key, value] : *dict)
    if (key != "stoker" && key != "stages")
      return Error::invalid("expected only \"stoker\" and \"stages\" in a graph, got \"", key, "\"");
  const Json* stages = json.find("stages");
  if (!stages) return Error::invalid("expected a graph with \"stages\", got an object without it");
  return stages_from_json(*stages, context);
}

template <>
const Codec& plain_codec<Graph>() {
  static const Codec codec{"graph",
                           [](const Json& from, ReadContext& context, void* to) -> Result<void> {
                             const Json* stages = from.find("stages");
                             STOKER_TRY(auto node, stages_from_json(stages ? *stages : from, context));
                             *static_cast<Graph*>(to) = Graph(std::move(node));
                             return {};
                           },
                           [](const void* from, WriteContext& context) -> Result<Json> {
                             const auto& graph = *static_cast<const Graph*>(from);
                             if (!graph.node()) return Json();
                             return stages_to_json(*graph.node(), context);
                           },
                           &take_given<Graph>};
  return codec;
}

namespace {

struct Seeds {
  Mutex mutex;
  std::mt19937_64 generator STOKER_GUARDED_BY(mutex){std::random_device{}()};
  EagerCall next_call STOKER_GUARDED_BY(mutex){std::random_device{}(), 0};
};
Seeds& seeds() {
  static auto* all = new Seeds;
  return *all;
}

thread_local std::optional<std::pair<uint64_t, uint64_t>> scope;  // base, drawn so far

}  // namespace

SeedScope::SeedScope(uint64_t base) : previous_(scope) { scope = {base, 0}; }
SeedScope::~SeedScope() { scope = previous_; }

uint64_t draw_seed() {
  if (scope) return mix_bits(scope->first + 0x9e3779b97f4a7c15u * ++scope->second);
  Seeds& all = seeds();
  const MutexLock lock(all.mutex);
  return all.generator();
}

void set_seed(uint64_t seed) {
  Seeds& all = seeds();
  const MutexLock lock(all.mutex);
  all.generator.seed(seed);
  all.next_call = {mix_bits(seed), 0};
}

EagerCall next_eager_call() {
  Seeds& all = seeds();
  const MutexLock lock(all.mutex);
  const EagerCall call = all.next_call;
  ++all.next_call.number;
  return call;
}

}  // namespace stoker
