#include "stoker/graph/function.h"

#include <algorithm>
#include <new>

#include "stoker/graph/graph.h"

namespace stoker {

Error error_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error::exhausted("a function ran out of memory");
  } catch (const std::invalid_argument& problem) {
    return Error::invalid("a function failed: ", problem.what());
  } catch (const std::exception& problem) {
    return Error::of(Code::kUnknown, "a function failed: ", problem.what());
  } catch (...) {
    return Error::of(Code::kUnknown, "a function threw an object that is not a std::exception");
  }
}

Result<Spec> Function::spec(const Spec& input) const {
  if (program_) return program_->spec(input);
  return Spec::unknown();
}

Result<void> Function::apply(Run& run, Context& context) const {
  return program_ ? program_->apply(run, context) : callable_->apply(run, context);
}

std::string Function::describe() const {
  if (program_) {
    std::string text = program_->describe();
    for (const std::string& chain : program_->chains()) text += " (one pass: " + chain + ")";
    return text;
  }
  return callable_ ? callable_->describe() : "";
}

namespace traits {

Error wrong_argument(size_t argument, const Array& found, DType expected) {
  return Error::invalid("argument ", argument, " is ", name_of(found.type()), shape_text(found.shape()),
                        " and the function takes ", name_of(expected), "[]; cast it, or take an Array");
}

Result<void> check_argument_count(const Run& run, size_t expected) {
  if (run.columns.size() == expected) return {};
  return Error::invalid("the function takes ", expected, " arguments and the element ", run.nest->describe(), " has ",
                        run.columns.size(), " components");
}

}  // namespace traits

namespace {

// Returns how deep lists of stages are nested.
int levels_in(const Json& json) {
  int most = 0;
  bool stages = false;
  if (const auto* list = json.as<Json::List>()) {
    stages = !list->empty() && list->front().find("stage");
    for (const Json& item : *list) most = std::max(most, levels_in(item));
  } else if (const auto* dict = json.as<Json::Dict>()) {
    for (const auto& [key, value] : *dict) most = std::max(most, levels_in(value));
  }
  return most + stages;
}

}  // namespace

GraphFunction::GraphFunction(Json stages, const Registry* registry, std::string folder)
    : written_(std::make_shared<const Json>(std::move(stages))) {
  call_ = std::make_shared<const Call>(
      [stages = written_, registry, folder = std::move(folder)](const Element& element) -> Result<Graph> {
        ReadContext context;
        context.registry = registry;
        context.folder = folder;
        context.element = &element;
        STOKER_TRY(auto node, stages_from_json(*stages, context));
        return Graph(std::move(node));
      });
}

namespace {

// Whether a stage of the graph has random numbers or an order of its own.
bool uses_passes(const Graph& graph) {
  return std::ranges::any_of(nodes_with_captured(*graph.node()),
                             [](const Node* node) { return node->stage->pass_use() != PassUse::kNone; });
}

}  // namespace

GraphFunction GraphFunction::identified(std::string identity, std::vector<Graph> captured, bool draws) const {
  GraphFunction function = *this;
  draws |= std::ranges::any_of(captured, uses_passes);
  function.facts_ = std::make_shared<const Facts>(std::move(identity), std::move(captured), draws);
  return function;
}

template <>
const Codec& plain_codec<Function>() {
  static const Codec codec{"function",
                           [](const Json& from, ReadContext& context, void* to) -> Result<void> {
                             STOKER_TRY(auto program, Program::from_json(from, context));
                             *static_cast<Function*>(to) = Function(std::move(program));
                             return {};
                           },
                           [](const void* from, WriteContext& context) -> Result<Json> {
                             const auto& function = *static_cast<const Function*>(from);
                             if (function.program()) return function.program()->to_json(context);
                             if (function.empty()) return Json();
                             if (context.compares) return Json(function.identity());
                             return Error::precondition(
                                 "is ", function.describe(),
                                 ", which cannot be saved; write it on symbolic values to save it");
                           },
                           &take_given<Function>};
  return codec;
}

template <>
const Codec& plain_codec<GraphFunction>() {
  static const Codec codec{
      "graph",
      [](const Json& from, ReadContext& context, void* to) -> Result<void> {
        const Json* stages = from.find("stages");
        if (context.depth + levels_in(from) > kDeepestNesting)
          return Error::invalid("graphs are nested deeper than ", kDeepestNesting);
        *static_cast<GraphFunction*>(to) = GraphFunction(stages ? *stages : from, context.registry, context.folder);
        return {};
      },
      [](const void* from, WriteContext& context) -> Result<Json> {
        const auto& function = *static_cast<const GraphFunction*>(from);
        if (function.written()) return *function.written();
        if (function.empty()) return Json();
        if (context.compares) return Json(function.identity());
        return Error::precondition("is a function, which cannot be saved; write its stages out to save it");
      },
      &take_given<GraphFunction>};
  return codec;
}

}  // namespace stoker
