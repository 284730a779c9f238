#include "stoker/api/dataset.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "stoker/api/loader.h"
#include "stoker/core/interrupt.h"
#include "stoker/graph/stage_of.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/delivery.h"
#include "stoker/runtime/origin_text.h"
#include "stoker/runtime/plan.h"

namespace stoker {
namespace {

// The only element of a run, as the caller's own.
Result<Element> delivered(Run run) {
  STOKER_TRY(make_receivers_own(run));
  return run.element(0);
}

}  // namespace

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
  return delivered(std::move(run));
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

// Of a dataset without an end, a shuffle may mix so many passes.
constexpr int64_t kMixedPasses = 8;

// Passes on the element with one origin. Ends when it has come, or when a pass
// comes in which it cannot come any more.
struct OnlyOrigin {
  static constexpr std::string_view kName = "only_origin";
  static constexpr std::string_view kDoc = "Pass on the element with one origin.";

  std::string origin;
  std::vector<std::string> sources;
  int64_t last_pass = 0;

  struct State {
    void describe(Fields&) {}
  };
  void describe(Fields&) {}
  PassUse pass_use() const { return PassUse::kOrders; }  // it counts for itself: others see nothing of this run

  Result<Flow> step(State&, Element element, Emit& out, Context& context) const {
    const Origin here = context.origin();
    const bool found = origin_text(here, sources) == origin;
    if (found) out.put(std::move(element), here);
    return found || is_over(outermost(here).pass) ? Flow::kDone : Flow::kMore;
  }
  bool is_over(int64_t pass) const { return pass > last_pass; }
};

// Runs the epoch of an element up to it; nothing where it is not delivered.
Result<std::optional<Element>> run_up_to(const Dataset& dataset, const Origin& origin, const Plan& known) {
  const Origin& first = outermost(origin);
  const bool endless = known.strides[static_cast<size_t>(first.source)] >= kEndless;
  const int64_t last_pass = endless ? first.pass + kMixedPasses : kEndless;
  const OnlyOrigin only{origin_text(origin, known.sources), known.sources, last_pass};
  const Dataset filtered = dataset.then(only);
  Meters meters;
  STOKER_TRY(const auto plan, lower(filtered.node(), meters));
  start_with(*plan, first.source, first.pass);
  Loader loader(filtered, {.on_error = OnError::kRaise, .interrupted = &is_interrupted});
  while (true) {
    Result<std::optional<Element>> next = loader.next();
    if (next) return next;
    const Error::Place& place = next.error().place();
    if (place.origin.empty() || place.origin == only.origin) return next;  // none: the loader's own error
    if (only.is_over(place.pass)) return std::optional<Element>();
  }
}

// By position also where the elements are otherwise read forward.
Result<std::shared_ptr<const Plan>> lower_by_position(const Dataset& dataset, Meters& meters) {
  Result<std::shared_ptr<const Plan>> plan = lower(dataset.node(), meters, Positions::kWanted);
  return plan ? plan : lower(dataset.node(), meters);
}

Result<void> check_position(const Plan& plan, const Origin& first) {
  const auto number = static_cast<size_t>(first.source);
  const Stage& given = *plan.source_nodes[number]->stage;
  const std::shared_ptr<const Stage> listed = given.listed();
  const Stage& source = listed ? *listed : given;
  if (source.type().form != Form::kList) return {};
  Context context;
  STOKER_TRY(const int64_t length, source.length(context));
  if (first.position < length) return {};
  return Error::out_of_range("position ", first.position, " of ", plan.sources[number], ", which has ", length);
}

}  // namespace

Result<Element> Dataset::replay(std::string_view text) const {
  if (error_) return *error_;
  Meters meters;
  STOKER_TRY(const auto plan, lower_by_position(*this, meters));
  STOKER_TRY(const Origin origin, origin_from_text(text, plan->sources));
  STOKER_TRY(check_position(*plan, outermost(origin)));
  const Passes passes;
  const Remade made = remake(*plan, origin, MakeContext{&passes, nullptr, &plan->sources, nullptr});
  if (made.run.size > 0 && made.run.failure_of(0)) return with_files(made.run.failure_of(0)->error, origin, *plan);
  if (made.complete && made.run.size > 0) return delivered(made.run);
  if (!made.complete) {
    STOKER_TRY(std::optional<Element> found, run_up_to(*this, origin, *plan));
    if (found) return *std::move(found);
    if (made.run.size > 0) return delivered(made.run);
  }
  return Error::not_found("no element is delivered with the origin ", text,
                          made.complete ? ": a filter drops it" : " in its pass");
}

}  // namespace stoker
