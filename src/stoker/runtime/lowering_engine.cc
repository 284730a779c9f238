// How each stage that the runtime implements itself becomes part of a plan.
#include <algorithm>

#include "stoker/runtime/lowering.h"

namespace stoker {
namespace {

// The product of a number of passes and a count, of which a negative one has no end.
int64_t times(int64_t passes, int64_t count) {
  int64_t all = 0;
  const bool endless = count < 0 || __builtin_mul_overflow(passes, std::max<int64_t>(count, 1), &all);
  return endless ? kEndless : std::min(all, kEndless);
}

PositionList::Op repeat_of_list(const std::shared_ptr<const Node>& node, int64_t below, int64_t passes) {
  int64_t length = 0;
  if (passes < 0 || __builtin_mul_overflow(below, passes, &length)) length = kEndless;
  return {PositionList::Op::Kind::kRepeat, node, 0, below, std::min(length, kEndless)};
}

}  // namespace

// The number of passes that the origins of the sources upstream have in one pass of a cache.
int64_t Lowering::passes_in_cache() const {
  int64_t most = 1;
  for (size_t i = first_source_; i < units_.size(); ++i) most = std::max(most, times(units_[i], plan_.strides[i]));
  return std::min(most, kPassesOfEndlessRepeat);
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>&, const PrefetchParams& params) {
  draft.at_least = std::max(draft.at_least, params.at_least);
  plan_.prefetch = std::max(plan_.prefetch, params.at_least);
  return draft;
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>&, const ErrorPolicyParams& params) {
  plan_.on_error = params;
  return draft;
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ShuffleParams& params) {
  const int place = count_passes(node, draft);
  draft.stages.push_back(node->name);
  if (!params.buffer && draft.base) {  // a uniform order with some elements removed is a uniform order
    const int64_t n = draft.list_length();
    if (n >= kEndless)
      return Error::invalid(
          "shuffle: without buffer_size, the input must be finite; set buffer_size, or shuffle before repeat");
    draft.ops.push_back({PositionList::Op::Kind::kPermute, node, place, n, n, 1, seed_of(*node), params});
    return draft;
  }
  const auto line = append_order<ShuffleLinePlan>(draft, node);
  line->params = params;
  line->place = place;
  line->meter->held_in_all = std::min(params.buffer.value_or(kEndless), length_before(*node));
  return draft;
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>& node, const RepeatParams& params) {
  draft.lineage.stride = times(draft.lineage.stride, params.passes);
  for (int64_t& stride : strides_upstream()) stride = times(stride, params.passes);
  if (draft.is_list()) {
    draft.stages.push_back(node->name);
    const int64_t below = draft.list_length();
    if (below > 0 && below < kEndless)
      draft.ops.push_back(repeat_of_list(node, below, params.passes));
    else if (params.passes == 0)
      draft.ops.push_back(repeat_of_list(node, 1, 0));
    return draft;
  }
  if (draft.is_restartable && !draft.filters && !draft.waits) {
    draft.stages.push_back(node->name);
    append_order<RepeatLinePlan>(draft, node)->passes = params.passes;
    return draft;
  }
  auto line = new_line<RepeatLinePlan>(node);
  line->passes = params.passes;
  line->child = segment(draft, 0);
  return follow(std::move(draft), line, node->name);
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>& node, const CacheParams&) {
  const std::shared_ptr<CacheStore> store = cache_store_of(*node, draft.lineage.seeds);
  (cached_ ? plan_.inner_caches : plan_.caches).push_back(node);
  draft.lineage.stride = 1;  // downstream, origins have the passes of the cache
  const int64_t stride = passes_in_cache();
  std::ranges::fill(strides_upstream(), 1);
  std::ranges::fill(std::span(units_).subspan(first_source_), stride);
  const auto first_source = static_cast<int32_t>(first_source_);
  const int32_t shift = local_number(first_source);
  const int place = count_passes(node, draft);
  CountedNode& counted = plan_.counted.back();
  counted.unit = stride;
  counted.source = first_source;
  counted.sources = static_cast<int32_t>(plan_.sources.size()) - first_source;
  if (store->expected == 0) store->expected = length_before(*node);
  if (draft.is_list()) {
    auto list = std::make_shared<CacheList>(draft.mapped_list(), node, place, shift, stride, store);
    Draft next = new_list(std::move(list), draft, node);
    next.stages = std::move(draft.stages);
    next.stages.push_back(node->name);
    return next;
  }
  auto line = new_line<CacheLinePlan>(node);
  line->source_shift = shift;
  line->stride = stride;
  line->place = place;
  line->store = store;
  line->child = segment(draft, 0);
  Draft next = follow(std::move(draft), line, node->name);
  next.is_restartable = false;
  return next;
}

Result<Draft> Lowering::add_engine(Draft, const std::shared_ptr<const Node>& node, const ZipParams&) {
  std::vector<Draft> parts;
  for (const auto& input : node->inputs) {
    STOKER_TRY(Draft part, lower(input));
    parts.push_back(std::move(part));
  }
  for (size_t i = 1; i < parts.size(); ++i) parts[0].lineage.seeds += parts[i].lineage.seeds;
  if (std::ranges::all_of(parts, &Draft::is_list)) {
    std::vector<MappedList> lists;
    for (const Draft& part : parts) lists.push_back(part.mapped_list());
    for (const Draft& part : parts) parts[0].depth = std::max(parts[0].depth, part.depth);
    return new_list(std::make_shared<ZipList>(std::move(lists)), parts[0], node);
  }
  auto line = new_line<ZipLinePlan>(node);
  Draft all = parts[0];
  for (Draft& part : parts) {
    close(part);
    all.is_restartable &= part.is_restartable;
    all.waits |= part.waits;
    all.depth = std::max(all.depth, part.depth);
    line->inputs.push_back(part.line);
  }
  all.stages.clear();
  return follow(std::move(all), line, node->name);
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>& node, const ConcatenateParams&) {
  STOKER_TRY(Draft second, lower(node->inputs[1]));
  draft.lineage.seeds += second.lineage.seeds;
  if (draft.is_list() && second.is_list()) {
    const MappedList first = draft.mapped_list();
    const auto* joined = dynamic_cast<const ConcatenateList*>(first.list.get());
    const bool extends = joined && first.steps.empty();
    std::vector<MappedList> parts = extends ? joined->parts() : std::vector{first};
    parts.push_back(second.mapped_list());
    if (extends) --draft.depth;  // still one list
    draft.depth = std::max(draft.depth, second.depth);
    return new_list(std::make_shared<ConcatenateList>(std::move(parts)), draft, node);
  }
  auto line = new_line<ConcatenateLinePlan>(node);
  close(draft);
  close(second);
  const auto* joined = dynamic_cast<const ConcatenateLinePlan*>(draft.line.get());
  line->inputs = joined ? joined->inputs : std::vector{draft.line};
  line->inputs.push_back(second.line);
  if (joined) --draft.depth;  // still one line
  draft.is_restartable &= second.is_restartable;
  draft.waits |= second.waits;
  draft.depth = std::max(draft.depth, second.depth);
  return follow(std::move(draft), line, node->name);
}

Result<Draft> Lowering::add_engine(Draft draft, const std::shared_ptr<const Node>& node,
                                   const EnumerateParams& params) {
  if (draft.is_list())
    return new_list(std::make_shared<EnumerateList>(draft.mapped_list(), params.start, node), draft, node);
  auto line = new_line<EnumerateLinePlan>(node);
  line->first = params.start;
  close(draft);
  line->inputs = {draft.line};
  return follow(std::move(draft), line, node->name);
}

}  // namespace stoker
