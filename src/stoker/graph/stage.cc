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

const SourceStage* if_source(const Stage& stage) {
  return stage.type().is_source() ? static_cast<const SourceStage*>(&stage) : nullptr;
}

const StepStage* if_step(const Stage& stage) {
  const Form form = stage.type().form;
  return form == Form::kMap || form == Form::kFilter ? static_cast<const StepStage*>(&stage) : nullptr;
}

}  // namespace stoker
