// Makes an element again from its origin alone, as far as that goes: down the
// plan to the source that the origin names, and up through the steps.
#include <algorithm>

#include "stoker/runtime/cache_store.h"
#include "stoker/runtime/origin_text.h"
#include "stoker/runtime/plan.h"

namespace stoker {
namespace {

bool reads(const LinePlan& line, int32_t source);
bool reads(const SegmentPlan& segment, int32_t source) { return reads(*segment.line, source); }
bool reads(const LinePlan& line, int32_t source) {
  if (line.list) return line.list->reads(source);
  if (line.kind == LinePlan::Kind::kStream) return line.source == source;
  if (line.segment) return reads(*line.segment, source);
  if (line.child) return reads(*line.child, source);
  return std::ranges::any_of(line.inputs, [&](const auto& input) { return reads(*input, source); });
}

// What comes out depends on other elements, too, unless this one fails or is dropped.
Remade if_lost(Remade made) {
  made.complete &= made.run.size == 0 || !made.run.failed.empty();
  return made;
}

Remade remake(const LinePlan& line, const Origin& origin, const MakeContext& context);
Remade remake(const SegmentPlan& segment, const Origin& origin, const MakeContext& context) {
  return stepped(remake(*segment.line, origin, context), segment.steps, context);
}

Remade remake_cached(const LinePlan& line, const Origin& origin, const MakeContext& context) {
  Remade made = remake(*line.child, in_first_pass(origin, line.stride), context);
  made.run.origins = in_running_pass(made.run.origins, outermost(origin).pass / line.stride, line.stride, false);
  return made;
}

Remade remake_zipped(const LinePlan& line, const Origin& origin, const MakeContext& context) {
  if (!origin.members || origin.members->size() != line.inputs.size()) return {Run(), false};
  Runs parts;
  for (size_t i = 0; i < line.inputs.size(); ++i) {
    Remade part = remake(*line.inputs[i], (*origin.members)[i], context);
    if (!part.complete || part.run.size == 0 || !part.run.failed.empty()) return part;
    parts.push_back(std::move(part.run));
  }
  return {joined(std::move(parts))};
}

// As it enters a sequence. In a child it is the element that opened the child.
Remade remake_before(const LinePlan& line, const Origin& origin, const MakeContext& context) {
  const bool opens = line.node->stage->type().opens;
  if (opens != (origin.parent != nullptr)) return {Run(), false};
  Remade made = if_lost(remake(*line.inputs[0], opens ? *origin.parent : origin, context));
  if (opens && !made.complete) made.run = Run();
  return made;
}

Remade remake(const LinePlan& line, const Origin& origin, const MakeContext& context) {
  switch (line.kind) {
    case LinePlan::Kind::kList: return line.list->remake(origin, context);
    case LinePlan::Kind::kStream: return {Run(), false};
    case LinePlan::Kind::kSelect:
    case LinePlan::Kind::kShuffle: return remake(*line.inputs[0], origin, context);
    case LinePlan::Kind::kRepeat:
      return line.is_inline ? remake(*line.inputs[0], origin, context) : remake(*line.child, origin, context);
    case LinePlan::Kind::kCache: return remake_cached(line, origin, context);
    case LinePlan::Kind::kZip: return remake_zipped(line, origin, context);
    case LinePlan::Kind::kConcatenate: {
      const bool first = reads(*line.inputs[0], outermost(origin).source);
      return remake(*line.inputs[first ? 0 : 1], origin, context);
    }
    case LinePlan::Kind::kEnumerate: return if_lost(remake(*line.inputs[0], origin, context));
    case LinePlan::Kind::kSequence: return remake_before(line, origin, context);
    case LinePlan::Kind::kPort: return remake(*line.segment, origin, context);
  }
  return {Run(), false};
}

}  // namespace

Remade remake(const Plan& plan, const Origin& origin, const MakeContext& context) {
  return remake(*plan.root, origin, context);
}

}  // namespace stoker
