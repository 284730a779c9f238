#include "stoker/runtime/explain.h"

#include <set>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/plan.h"
#include "stoker/runtime/pool.h"

namespace stoker {

std::string bytes_text(int64_t bytes) {
  char text[32];
  if (bytes >= int64_t{1} << 30)
    std::snprintf(text, sizeof(text), "%.1f GB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
  else if (bytes >= 1 << 20)
    std::snprintf(text, sizeof(text), "%.1f MB", static_cast<double>(bytes) / (1 << 20));
  else
    std::snprintf(text, sizeof(text), "%lld bytes", static_cast<long long>(bytes));
  return text;
}

int64_t bytes_of_element(const Spec& spec) {
  int64_t total = 0;
  for (const LeafSpec& leaf : spec.leaves) {
    if (!leaf.type || !leaf.shape || *leaf.type == DType::kBytes) return 0;
    int64_t bytes = static_cast<int64_t>(size_of(*leaf.type));
    for (int64_t dim : *leaf.shape) {
      if (dim < 0) return 0;
      bytes *= dim;
    }
    total += bytes;
  }
  return total;
}

namespace {

class Writer {
 public:
  std::string text;

  void segment(const SegmentPlan& plan, int depth) {
    if (!seen_.insert(&plan).second) return;
    segments_upstream(*plan.line, depth);
    text += indent(depth) + "segment " + std::to_string(++number_) + ": " + plan.stages + "\n";
    text += indent(depth) + "  line    " + plan.line->describe() + "\n";
    if (!plan.steps.empty()) {
      text += indent(depth) + "  span    ";
      for (size_t i = 0; i < plan.steps.size(); ++i) text += (i ? ", " : "") + describe(plan.steps[i]);
      text += "\n";
    }
    if (plan.rows > 0) text += indent(depth) + "  rows    written into batches of " + std::to_string(plan.rows) + "\n";
    if (plan.at_least > 0)
      text += indent(depth) + "  window  at least " + std::to_string(plan.at_least) + " prefetched\n";
  }

 private:
  static std::string indent(int depth) { return std::string(static_cast<size_t>(depth) * 2, ' '); }

  void segments_upstream(const LinePlan& line, int depth) {
    for (const auto& input : line.inputs) segments_upstream(*input, depth);
    if (const SegmentPlan* upstream = line.upstream()) segment(*upstream, depth + line.opens_each_pass());
  }

  static std::string describe(const StepPlan& step) {
    if (step.kind == StepPlan::Kind::kFetch) return "fetch";
    if (step.kind == StepPlan::Kind::kLoad) return "load (waits)";
    std::string text = step.node->name;
    const std::string summary = step.node->stage->summary();
    if (!summary.empty()) text += " " + summary;
    text += step.node->stage->calls_user() ? " [user code" : " [native";
    if (step.parallel > 0) text += ", at most " + std::to_string(step.parallel) + " at once";
    if (step.meter->waits.load()) text += ", waits";
    return text + "]";
  }

  std::set<const SegmentPlan*> seen_;
  int number_ = 0;
};

std::string describe_seeds(const Plan& plan) {
  std::string seeds;
  for (const CountedNode& counted : plan.counted) {
    const std::optional<ShuffleParams> shuffle = shuffle_params(*counted.node->stage);
    if (!shuffle) continue;
    const uint64_t drawn = plan.seeds.at(counted.node->state.get());
    seeds += (seeds.empty() ? "" : ", ") + counted.node->name + " " +
             (shuffle->seed ? std::to_string(*shuffle->seed) : std::to_string(drawn) + " (drawn)");
  }
  return seeds;
}

}  // namespace

std::string explain(const Plan& plan) {
  Writer writer;
  writer.segment(*plan.root, 0);
  std::string text = std::move(writer.text);
  text += "elements  " + plan.node->spec.describe() + "\n";
  if (plan.list) text += "list      yes: any element can be computed alone, and a checkpoint is a position\n";
  if (const std::string seeds = describe_seeds(plan); !seeds.empty()) text += "seeds     " + seeds + "\n";
  text += "workers   " + std::to_string(Pool::process().workers()) + ", memory at most " +
          bytes_text(Budget::process().limit()) + "\n";
  return text;
}

}  // namespace stoker
