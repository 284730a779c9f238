#include "stoker/api/dataset.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/plan.h"

namespace stoker {

Dataset Dataset::started(std::shared_ptr<const Stage> stage, Location at) {
  Result<std::shared_ptr<const Node>> node = make_node(std::move(stage), nullptr, at);
  if (node) return Dataset(Graph(*std::move(node)));
  Error error = std::move(node).error();
  error.at().written_at = at.words();
  return Dataset(std::move(error));
}

Dataset Dataset::appended(std::shared_ptr<const Stage> stage, Location at) const {
  if (error_) return *this;
  Result<std::shared_ptr<const Node>> node = make_node(std::move(stage), node_, at);
  if (node) return Dataset(Graph(*std::move(node)));
  Error error = std::move(node).error();
  error.at().written_at = at.words();
  return Dataset(std::move(error));
}

Dataset Dataset::named(std::string name) const {
  if (error_) return *this;
  auto node = std::make_shared<Node>();
  node->stage = node_->stage;
  node->inputs = node_->inputs;
  node->location = node_->location;
  node->spec = node_->spec;
  node->nesting = node_->nesting;
  node->state = node_->state;
  node->name = std::move(name);
  return Dataset(Graph(std::shared_ptr<const Node>(std::move(node))));
}

Spec Dataset::element_spec() const { return node_ ? node_->spec : Spec::unknown(); }

Result<int64_t> Dataset::cardinality(Counting counting) const {
  if (error_) return *error_;
  return cardinality_of(*node_, counting);
}

Result<Element> Dataset::at(int64_t i) const {
  if (error_) return *error_;
  Meters meters;
  STOKER_TRY(auto plan, lower(node_, meters, Positions::kWanted));
  if (!plan->list || plan->list->length() >= kEndless)
    return Error::precondition("at: the length is ", plan->list ? "infinite" : "not known before the elements are made",
                               "; only a data set whose elements can be named has places");
  const int64_t n = plan->list->length();
  if (i < 0 || i >= n) return Error::out_of_range("at: place ", i, " of a data set of ", n, " elements");
  Passes passes;
  Run run = Listed{plan->list, plan->list_steps}.make({i}, {0}, MakeContext{&passes, nullptr, &plan->sources, nullptr});
  if (const Failure* failure = run.failure_of(0)) return failure->error;
  return run.element(0);
}

Result<std::string> Dataset::explain() const {
  if (error_) return *error_;
  Meters meters;
  STOKER_TRY(auto plan, lower(node_, meters));
  return stoker::explain(*plan);
}

Result<std::string> Dataset::to_json() const {
  if (error_) return *error_;
  WriteContext context;
  STOKER_TRY(Json json, graph_to_json(*node_, context));
  return json.text(2);
}

Result<void> Dataset::save_graph(const std::string& path) const {
  if (error_) return *error_;
  const std::filesystem::path file(path);
  WriteContext context;
  context.folder = file.parent_path().empty() ? "." : file.parent_path().string();
  context.stem = file.stem().string();
  STOKER_TRY(Json json, graph_to_json(*node_, context));
  // Under another name first: a graph file is whole or not there.
  const std::string partial = path + ".partial";
  {
    std::ofstream out(partial, std::ios::binary);
    out << json.text(2) << "\n";
    if (!out.flush()) return Error::io("cannot write ", partial).set_path(partial);
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) return Error::io("cannot write ", path).set_path(path);
  return {};
}

Result<Dataset> Dataset::from_json(std::string_view text) {
  STOKER_TRY(Json json, parse_json(text));
  ReadContext context;
  context.registry = &registry();
  STOKER_TRY(auto node, graph_from_json(json, context));
  return Dataset(Graph(std::move(node)));
}

Result<Dataset> Dataset::load_graph(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error::io("cannot open ", path).set_path(path);
  if (std::filesystem::is_directory(path)) return Error::precondition(path, " is a folder and not a graph file");
  std::ostringstream text;
  text << in.rdbuf();
  Result<Json> json = parse_json(std::move(text).str());
  if (!json) return Error(json.error().code(), path + ": " + json.error().message()).set_path(path);
  ReadContext context;
  context.registry = &registry();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  context.folder = folder.empty() ? "." : folder.string();
  Result<std::shared_ptr<const Node>> node = graph_from_json(*json, context);
  if (!node) return Error(node.error().code(), path + ": " + node.error().message()).set_path(path);
  return Dataset(Graph(*std::move(node)));
}

namespace {

struct ParsedOrigin {
  std::string source;
  int64_t position = 0;
  int64_t pass = 0;
  bool nested = false;
};

Result<ParsedOrigin> parse_origin(std::string_view text) {
  ParsedOrigin origin;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return Error::invalid("an origin is source:position, as in train:18204@2; found '", text, "'");
  origin.source = text.substr(0, colon);
  std::string_view numbers = text.substr(colon + 1);
  if (const size_t slash = numbers.find('/'); slash != std::string_view::npos) {
    origin.nested = true;
    numbers = numbers.substr(0, slash);
  }
  const size_t mark = numbers.find('@');
  auto number = [](std::string_view digits, int64_t& to) {
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), to);
    return problem == std::errc() && end == digits.data() + digits.size() && to >= 0;
  };
  const bool good = number(numbers.substr(0, mark), origin.position) &&
                    (mark == std::string_view::npos || number(numbers.substr(mark + 1), origin.pass));
  if (!good) return Error::invalid("an origin is source:position, as in train:18204@2; found '", text, "'");
  return origin;
}

}  // namespace

Result<Element> replay(const Dataset& dataset, std::string_view text) {
  if (dataset.error()) return *dataset.error();
  STOKER_TRY(ParsedOrigin origin, parse_origin(text));
  if (origin.nested)
    return Error::unimplemented("replay of an element of a nested data set; replay the element that opened it, ",
                                origin.source, ":", origin.position);
  Meters meters;
  STOKER_TRY(auto plan, lower(dataset.node(), meters));
  // The source by its name, then the maps that read from it, upward.
  const Node* source = nullptr;
  for (size_t i = 0; i < plan->sources.size(); ++i)
    if (plan->sources[i] == origin.source) source = plan->source_nodes[i].get();
  if (!source) {
    std::string known;
    for (const std::string& name : plan->sources) known += (known.empty() ? "" : ", ") + name;
    return Error::not_found("no source named '", origin.source, "'; this graph has ", known);
  }
  if (source->stage->type().form != Form::kList && !source->stage->listed())
    return Error::unimplemented("replay from ", origin.source, ", which is read forward and has no positions");
  std::vector<const Node*> maps;
  const Node* below = source;
  for (const Node* node : nodes_of(*dataset.node())) {
    if (node->inputs.empty() || node->inputs[0].get() != below) continue;
    const Form form = node->stage->type().form;
    if (form == Form::kSequence || (form == Form::kEngine && node->inputs.size() > 1)) break;
    if (form == Form::kMap) maps.push_back(node);
    below = node;
  }
  std::shared_ptr<const Node> chain;
  for (const auto& node : plan->source_nodes)
    if (node.get() == source) chain = node;
  for (const Node* map : maps) {
    STOKER_TRY(chain, make_node(map->stage, chain, map->location, map->name));
  }
  Meters own;
  STOKER_TRY(auto small, lower(chain, own, Positions::kWanted));
  if (origin.position >= small->list->length())
    return Error::out_of_range("position ", origin.position, " of ", origin.source, ", which has ",
                               small->list->length());
  Passes passes;
  Run run = Listed{small->list, small->list_steps}.make({origin.position}, {origin.pass},
                                                        MakeContext{&passes, nullptr, &small->sources, nullptr});
  if (const Failure* failure = run.failure_of(0)) return failure->error;
  return run.element(0);
}

}  // namespace stoker
