#include "support/model.h"

#include "support/model_streams.h"

namespace stoker::model {

std::string text_of(const Element& element) { return text_of(value_of(element)); }

// Errors of the engine are compared by kind, not by their complete text.
std::string text_of(const Error& error) {
  static constexpr std::pair<std::string_view, std::string_view> kOwn[] = {
      {"cannot stack", "stack"},
      {"the input has more than", "more"},
      {"the input ended after", "fewer"},
      {"component ", "unbatch"},
  };
  for (const auto& [start, name] : kOwn)
    if (error.message().starts_with(start)) return "error: " + std::string(name);
  return "error: " + error.message();
}

// Starts a pass over every stage of a graph. A stage that counts passes takes the next
// number here; stages upstream of a cache take one only once.
StreamPtr open(const Tree& tree, Nodes& nodes, Steps& steps) {
  const Stage& s = *tree;
  if (s.kind == Kind::kRepeat) return repeat_stream(s, nodes, steps);
  if (s.kind == Kind::kCache) {
    std::shared_ptr<Nodes::Cached>& cached = nodes.caches[&s];
    if (!cached) {
      cached = std::make_shared<Nodes::Cached>();
      cached->input = open(s.inputs[0], nodes, steps);
    }
    return cache_stream(cached);
  }
  std::vector<StreamPtr> in;
  for (const Tree& input : s.inputs) in.push_back(open(input, nodes, steps));
  switch (s.kind) {
    case Kind::kRange:
    case Kind::kSlices:
    case Kind::kGenerator:
    case Kind::kRangeOf: return source_stream(s, nodes.opened_by, steps);
    case Kind::kMap:
    case Kind::kFail:
    case Kind::kFilter:
    case Kind::kDoubt:
    case Kind::kWiden: return single_stream(s, std::move(in[0]));
    case Kind::kBatch: return batch_stream(s, std::move(in[0]));
    case Kind::kUnbatch: return unbatch_stream(std::move(in[0]));
    case Kind::kShuffle: return shuffle_stream(s, std::move(in[0]), nodes.passes[&s]++);
    case Kind::kTake:
    case Kind::kSkip:
    case Kind::kShard: return select_stream(s, std::move(in[0]));
    case Kind::kZip: return zip_stream(std::move(in));
    case Kind::kConcatenate: return concatenate_stream(std::move(in));
    case Kind::kEnumerate: return enumerate_stream(s, std::move(in[0]));
    case Kind::kInterleave:
    case Kind::kFlatMap: return interleave_stream(s, std::move(in[0]), steps);
    case Kind::kIgnoreErrors: return ignore_errors_stream(std::move(in[0]));
    case Kind::kAssertCardinality: return assert_stream(s, std::move(in[0]));
    case Kind::kGlobalShuffle: return global_shuffle_stream(std::move(in[0]));
    default: return std::move(in[0]);  // prefetch, and kinds that the model does not implement
  }
}

struct Model::Parts {
  Tree tree;
  Steps steps;
  Nodes nodes;
  StreamPtr stream;
};

namespace {
constexpr int64_t kSteps = 20'000;
}

Model::Model(Tree tree) : parts_(std::make_unique<Parts>()) {
  parts_->tree = std::move(tree);
  begin_epoch();
}
Model::~Model() = default;

void Model::begin_epoch() {
  parts_->steps.left = kSteps;
  parts_->stream = open(parts_->tree, parts_->nodes, parts_->steps);
}

std::optional<std::string> Model::next() {
  MaybeItem item = parts_->stream->next();
  if (!item) return {};
  return item->is_value() ? text_of(item->value) : "error: " + item->error;
}

std::vector<std::string> Model::rest(size_t at_most) {
  std::vector<std::string> all;
  while (all.size() < at_most) {
    std::optional<std::string> word = next();
    if (!word) break;
    all.push_back(*std::move(word));
  }
  return all;
}

}  // namespace stoker::model
