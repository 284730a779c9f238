// `stoker stages`: lists stages and operations, as text or JSON.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "stoker/api/dataset.h"

namespace stoker::cli {
namespace {

Json params_json(const std::vector<ParamDoc>& params) {
  Json list = Json::list();
  for (const ParamDoc& param : params) {
    Json one = Json::dict();
    one.set("name", param.name);
    one.set("type", param.type);
    one.set("required", param.required);
    if (!param.required) one.set("default", param.default_value);
    one.set("doc", param.doc);
    list.push(std::move(one));
  }
  return list;
}

Json stage_json(const StageType& stage) {
  Json json = Json::dict();
  json.set("name", stage.name);
  json.set("doc", stage.doc);
  json.set("kind", stage.is_source() ? "source" : "transform");
  json.set("form", name_of(stage.form));
  json.set("parameters", params_json(stage.params));
  return json;
}

Json op_json(const OpType& op) {
  Json json = Json::dict();
  json.set("name", op.name);
  json.set("doc", op.doc);
  json.set("inputs", op.inputs < 0 ? Json() : Json(op.inputs));
  json.set("random", op.random);
  json.set("parameters", params_json(op.params));
  return json;
}

std::string params_text(const std::vector<ParamDoc>& params) {
  std::string text;
  size_t names = 0, types = 0, values = 0;
  std::vector<std::string> standards;
  for (const ParamDoc& param : params) {
    standards.push_back(param.required ? "required" : "= " + param.default_value.text());
    names = std::max(names, width_of(param.name));
    types = std::max(types, width_of(param.type));
    values = std::max(values, width_of(standards.back()));
  }
  for (size_t i = 0; i < params.size(); ++i)
    text += fmt::format("      {}  {}  {}  {}\n", padded(params[i].name, names), dim(padded(params[i].type, types)),
                        padded(standards[i], values), params[i].doc);
  return text;
}

std::string inputs_text(int inputs) {
  return inputs < 0 ? "any number of inputs" : inputs == 1 ? "1 input" : fmt::format("{} inputs", inputs);
}

using Stages = std::vector<const StageType*>;
using Ops = std::vector<const OpType*>;

std::string json_text(const Stages& all_stages, const Ops& all_ops) {
  Json json = Json::dict();
  Json list = Json::list();
  for (const StageType* stage : all_stages) list.push(stage_json(*stage));
  json.set("stages", std::move(list));
  Json ops = Json::list();
  for (const OpType* op : all_ops) ops.push(op_json(*op));
  json.set("operations", std::move(ops));
  return json.text(2);
}

std::string plain_text(const Stages& all_stages, const Ops& all_ops) {
  std::string text;
  auto heading = [&](std::string_view words) { text += (text.empty() ? "" : "\n") + bold(words) + "\n"; };
  for (const bool sources : {true, false}) {
    bool first = true;
    for (const StageType* stage : all_stages) {
      if (stage->is_source() != sources) continue;
      if (std::exchange(first, false)) heading(sources ? "Sources" : "Transforms");
      text += fmt::format("  {}  {}\n", bold(stage->name), stage->doc) + params_text(stage->params);
    }
  }
  if (!all_ops.empty()) heading("Operations inside map and filter");
  for (const OpType* op : all_ops)
    text += fmt::format("  {}  {} {}\n", bold(op->name), op->doc, dim("(" + inputs_text(op->inputs) + ")")) +
            params_text(op->params);
  return text;
}

}  // namespace

int stages(const StagesOptions& options) {
  const auto known_stages = registry().stages();
  const auto known_ops = registry().ops();
  Stages chosen_stages;
  Ops chosen_ops;
  std::vector<std::string_view> names;
  for (const StageType* stage : known_stages) {
    names.push_back(stage->name);
    if (options.name.empty() || stage->name == options.name) chosen_stages.push_back(stage);
  }
  for (const OpType* op : known_ops) {
    names.push_back(op->name);
    if (options.name.empty() || op->name == options.name) chosen_ops.push_back(op);
  }
  if (chosen_stages.empty() && chosen_ops.empty()) {
    const std::string_view near = nearest(options.name, names);
    complain(fmt::format("no stage or operation named '{}'; {}", options.name,
                         near.empty() ? "`stoker stages` lists them" : fmt::format("did you mean '{}'?", near)));
    return kWrongUse;
  }
  if (options.json)
    print_line(json_text(chosen_stages, chosen_ops));
  else
    print(plain_text(chosen_stages, chosen_ops));
  return kFine;
}

const char* const kStagesHelp = R"(
Prints each stage or operation with one line of documentation, and its
parameters with their types and defaults. --json prints an object with 'stages'
and 'operations'.

Examples:
  stoker stages                   all stages and operations
  stoker stages shuffle           one stage
  stoker stages --json | jq -r '.stages[].name'

Exit codes: 0 success; 2 there is no stage or operation of that name.)";

}  // namespace stoker::cli
