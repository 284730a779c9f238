#include "stoker/graph/stage.h"

namespace stoker {

std::string_view name_of(Form form) {
  constexpr std::string_view names[] = {"list", "stream", "map", "filter", "selection", "sequence", "engine"};
  return names[static_cast<size_t>(form)];
}

const StageType* Registry::find_stage(std::string_view name) const {
  for (const StageType* type : stages())
    if (type->name == name) return type;
  return nullptr;
}

const OpType* Registry::find_op(std::string_view name) const {
  for (const OpType* type : ops())
    if (type->name == name) return type;
  return nullptr;
}

int64_t Stage::cardinality(std::span<const int64_t> inputs, std::span<const Spec>) const {
  return type().form == Form::kMap ? inputs[0] : kUnknown;
}

namespace {
Error not_mine(const Stage& stage, std::string_view what) {
  return Error::internal(stage.type().name, " is a ", name_of(stage.type().form), " and was asked to ", what);
}
}  // namespace

Result<int64_t> Stage::length(Context&) const { return not_mine(*this, "tell its length"); }
Result<Run> Stage::fetch(std::span<const int64_t>, Context&) const { return not_mine(*this, "fetch"); }
Result<void> Stage::apply(Run&, Context&) const { return not_mine(*this, "apply"); }
Result<std::vector<uint8_t>> Stage::keep(Run&, Context&) const { return not_mine(*this, "keep"); }
Result<std::optional<Element>> Stage::next(State&, Context&) const { return not_mine(*this, "give its next element"); }
Result<Flow> Stage::step(State&, Run, Emit&, Context&) const { return not_mine(*this, "step"); }

}  // namespace stoker
