#include <set>

#include "stoker/runtime/budget.h"
#include "stoker/runtime/plan.h"
#include "stoker/runtime/pool.h"

namespace stoker {
namespace {

std::string bytes_words(int64_t bytes) {
  char text[32];
  if (bytes >= int64_t{1} << 30)
    std::snprintf(text, sizeof(text), "%.1f GB", static_cast<double>(bytes) / static_cast<double>(1 << 30));
  else if (bytes >= 1 << 20)
    std::snprintf(text, sizeof(text), "%.1f MB", static_cast<double>(bytes) / (1 << 20));
  else
    std::snprintf(text, sizeof(text), "%lld bytes", static_cast<long long>(bytes));
  return text;
}

// Bytes of one element where its spec tells; 0 where it does not.
int64_t bytes_of(const Spec& spec) {
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

class Writer {
 public:
  std::string text;

  void segment(const SegmentPlan& plan, int depth) {
    if (!seen_.insert(&plan).second) return;
    line_parts(*plan.line, depth);
    text += indent(depth) + "segment " + std::to_string(++number_) + ": " + plan.words + "\n";
    text += indent(depth) + "  line    " + line_words(*plan.line) + "\n";
    if (!plan.steps.empty()) {
      text += indent(depth) + "  span    ";
      for (size_t i = 0; i < plan.steps.size(); ++i) text += (i ? ", " : "") + step_words(plan.steps[i]);
      text += "\n";
    }
    if (plan.rows > 0) text += indent(depth) + "  rows    written into batches of " + std::to_string(plan.rows) + "\n";
    if (plan.at_least > 0) text += indent(depth) + "  window  at least " + std::to_string(plan.at_least) + " ahead\n";
  }

 private:
  static std::string indent(int depth) { return std::string(static_cast<size_t>(depth) * 2, ' '); }

  void line_parts(const LinePlan& line, int depth) {
    for (const auto& input : line.inputs) line_parts(*input, depth);
    if (line.segment) segment(*line.segment, depth);
    if (line.child) segment(*line.child, depth + 1);
  }

  std::string line_words(const LinePlan& line) {
    switch (line.kind) {
      case LinePlan::Kind::kList: {
        const int64_t n = line.list->length();
        return "positions, " + (n >= kEndless ? std::string("without end") : std::to_string(n));
      }
      case LinePlan::Kind::kPort: return "the window of another segment";
      case LinePlan::Kind::kShuffle: return shuffle_words(line);
      default: break;
    }
    std::string words = line.node->name;
    for (size_t i = 0; i < line.inputs.size(); ++i) words += (i ? " and " : " over ") + line_words(*line.inputs[i]);
    if (line.child) words += " over the segment above, opened for each pass";
    return words;
  }

  std::string shuffle_words(const LinePlan& line) {
    const EngineParams params = shuffle_params(*line.node);
    bool names = true;
    for (const LinePlan* at = line.inputs[0].get(); at; at = at->inputs.empty() ? nullptr : at->inputs[0].get())
      names &= at->kind != LinePlan::Kind::kPort && at->kind != LinePlan::Kind::kStream &&
               at->kind != LinePlan::Kind::kSequence;
    std::string words =
        line.node->name + " of " + (params.buffer ? std::to_string(*params.buffer) : std::string("everything"));
    if (names) return words + " names, before they are loaded, over " + line_words(*line.inputs[0]);
    const int64_t each = bytes_of(line.node->spec);
    words += " made elements";
    if (each > 0 && params.buffer) words += ", " + bytes_words(each * *params.buffer) + " held";
    return words + ", over " + line_words(*line.inputs[0]);
  }

  static std::string step_words(const StepPlan& step) {
    switch (step.kind) {
      case StepPlan::Kind::kFetch: return "fetch";
      case StepPlan::Kind::kLoad: return "load (waits)";
      default: break;
    }
    std::string words = step.node->name;
    const std::string what = step.node->stage->words();
    if (!what.empty()) words += " " + what;
    words += step.node->stage->calls_user() ? " [user code" : " [native";
    if (step.parallel > 0) words += ", at most " + std::to_string(step.parallel) + " at once";
    if (step.meter->waits.load()) words += ", waits";
    return words + "]";
  }

  std::set<const SegmentPlan*> seen_;
  int number_ = 0;
};

}  // namespace

std::string explain(const Plan& plan) {
  Writer writer;
  writer.segment(*plan.root, 0);
  std::string text = std::move(writer.text);
  text += "elements  " + plan.node->spec.words() + "\n";
  if (plan.list) text += "list      yes: any element can be made alone, and a checkpoint is a position\n";
  std::string seeds;
  for (const Counted& counted : plan.counted) {
    const EngineParams params = shuffle_params(*counted.node);
    if (params.kind != EngineKind::kShuffle) continue;
    const uint64_t drawn = plan.seeds.at(counted.node->state.get());
    seeds += (seeds.empty() ? "" : ", ") + counted.node->name + " " +
             (params.seed ? std::to_string(*params.seed) : std::to_string(drawn) + " (drawn)");
  }
  if (!seeds.empty()) text += "seeds     " + seeds + "\n";
  text += "workers   " + std::to_string(Pool::process().workers()) + ", memory at most " +
          bytes_words(Budget::process().limit()) + "\n";
  return text;
}

}  // namespace stoker
