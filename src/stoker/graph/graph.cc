#include "stoker/graph/graph.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <set>

namespace stoker {
namespace {

// "batch: …"; "map, resize: …" where an operation has named itself.
Error in_words_of(const Stage& stage, const Error& error) {
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
  // Each input that only this node still holds is taken apart here, in a loop.
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
  if (Result<void> checked = node->stage->check(); !checked) return in_words_of(*node->stage, checked.error());
  if (input) node->inputs.push_back(std::move(input));
  for (const Graph& graph : node->stage->graphs()) {
    if (!graph.node()) return Error::invalid(node->stage->type().name, ": a data set is wanted and none was given");
    node->inputs.push_back(graph.node());
  }
  for (const auto& below : node->inputs) node->nesting = std::max(node->nesting, below->nesting);
  Result<Spec> spec = node->stage->spec(specs_of(*node));
  if (!spec) return in_words_of(*node->stage, spec.error());
  node->spec = *std::move(spec);
  return std::shared_ptr<const Node>(std::move(node));
}

std::vector<const Node*> nodes_of(const Node& root) {
  std::vector<const Node*> order;
  std::set<const Node*> seen;
  std::vector<std::pair<const Node*, size_t>> path{{&root, 0}};
  seen.insert(&root);
  while (!path.empty()) {
    auto& [node, next] = path.back();
    if (next == node->inputs.size()) {
      order.push_back(node);
      path.pop_back();
      continue;
    }
    const Node* input = node->inputs[next++].get();
    if (seen.insert(input).second) path.emplace_back(input, 0);
  }
  return order;
}

Result<int64_t> cardinality_of(const Node& root, Counting counting) {
  std::map<const Node*, int64_t> known;
  for (const Node* node : nodes_of(root)) {
    std::vector<int64_t> inputs;
    for (const auto& input : node->inputs) inputs.push_back(known.at(input.get()));
    const std::shared_ptr<const Stage> listed = counting == Counting::kCounted ? node->stage->listed() : nullptr;
    if (listed || node->stage->type().form == Form::kList) {
      Context context;
      STOKER_TRY(int64_t length, (listed ? *listed : *node->stage).length(context));
      known[node] = length >= kEndless ? kInfinite : length;
    } else {
      known[node] = node->stage->cardinality(inputs, specs_of(*node));
    }
  }
  return known.at(&root);
}

namespace {

// Whether elements or their order depend on the seed that the node drew: the
// maps over a source draw from the source's, the children of a stage from its own.
bool uses_drawn_seed(const Stage& stage) {
  const StageType& type = stage.type();
  if (type.form == Form::kList || type.form == Form::kStream || type.opens) return true;
  return type.form == Form::kEngine && stage.engine().kind == EngineKind::kShuffle && !stage.engine().seed;
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
  // The main chain is a list; other inputs stand where their parameters stand.
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
    if (!params) return in_words_of(*node.stage, params.error());
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

// "stage 2, batch: …", whose name the message may begin with already.
Error at_stage(size_t i, const Json& json, const Error& error) {
  std::string place = "stage " + std::to_string(i);
  std::string_view message = error.message();
  const Json* name = json.find("stage");
  if (const auto* stage = name ? name->as<std::string>() : nullptr; stage && message.starts_with(*stage)) {
    const std::string_view rest = message.substr(stage->size());
    if (rest.starts_with(": ") || rest.starts_with(", ")) return Error::of(error.code(), place, ", ", message);
  }
  return Error::of(error.code(), place, ": ", message);
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
                            " names no stage written before it; a graph cannot contain itself");
    if (input) return Error::invalid("a \"ref\" is a whole data set and can only stand first");
    return known->second;
  }
  const Json* name = json.find("stage");
  if (!name || !name->as<std::string>()) return Error::invalid("an object without a \"stage\"; found ", json.text());
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
  const bool source = type->form == Form::kList || type->form == Form::kStream;
  const bool joins = type->form == Form::kEngine && stage->engine().kind == EngineKind::kZip;
  if (source && input) return Error::invalid(stage_name, " is a source and can only stand first");
  if (!source && !joins && !input) return Error::invalid(stage_name, " needs a stage before it");
  std::string given_name;
  if (const Json* given = json.find("name")) given_name = id_of(*given);
  STOKER_TRY(auto node, make_node(std::move(stage), std::move(input), Location{}, given_name));
  if (const Json* drawn = json.find("drawn_seed")) {
    STOKER_TRY(node->state->seed, drawn_seed_from_json(*drawn));
  }
  if (const Json* id = json.find("id"))
    if (!context.nodes.emplace(id_of(*id), node).second)
      return Error::invalid("the id '", id_of(*id), "' is given to two stages");
  return node;
}

}  // namespace

Result<std::shared_ptr<const Node>> stages_from_json(const Json& stages, ReadContext& context) {
  const Json::List* list = stages.as<Json::List>();
  if (!list) return wrong_kind("a list of stages", stages);
  if (list->empty()) return Error::invalid("a graph without stages");
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
  if (!version || !version->as<int64_t>()) return Error::invalid("no \"stoker\": 1: this is not a graph of Stoker's");
  if (*version->as<int64_t>() != 1)
    return Error::invalid("written for graph version ", *version->as<int64_t>(), " and this Stoker reads version 1");
  for (const auto& [key, value] : *dict)
    if (key != "stoker" && key != "stages")
      return Error::invalid("a graph has \"stoker\" and \"stages\"; found \"", key, "\"");
  const Json* stages = json.find("stages");
  if (!stages) return Error::invalid("a graph without \"stages\"");
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
