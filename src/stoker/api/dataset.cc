#include "stoker/api/dataset.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "stoker/api/loader.h"
#include "stoker/core/interrupt.h"
#include "stoker/core/mutex.h"
#include "stoker/graph/stage_of.h"
#include "stoker/io/file.h"
#include "stoker/runtime/checkpoint.h"
#include "stoker/runtime/delivery.h"
#include "stoker/runtime/origin_text.h"
#include "stoker/runtime/plan.h"

namespace stoker {
namespace {

// The only element of a run, owned by the caller.
Result<Element> delivered(Run run) {
  STOKER_TRY(make_receivers_own(run));
  Element element = run.element(0);
  for (const Array& leaf : element.leaves) STOKER_TRY(leaf.check_intact());
  return element;
}

Error out_of_range(std::string_view function, std::string_view what, int64_t length, int64_t position) {
  if (length == 0) return Error::out_of_range(function, ": got position ", position, ", but ", what, " is empty");
  return Error::out_of_range(function, ": expected a position from 0 to ", length - 1, ", because ", what, " has ",
                             length, length == 1 ? " element" : " elements", "; got ", position);
}

// A rename puts a file in the place of anything but a folder: of a device or a pipe too.
Result<void> check_replaceable(const std::filesystem::path& file) {
  std::error_code problem;
  const std::filesystem::file_status there = std::filesystem::status(file, problem);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there)) return {};
  return Error::precondition("cannot write a graph to ", file.string(), ": it is a ",
                             std::filesystem::is_directory(there) ? "folder" : "device, pipe or socket",
                             "; expected the path of a file, new or to be replaced")
      .set_path(file.string());
}

Result<void> write_and_rename(const std::string& partial, const std::string& path, const std::string& text) {
  std::ofstream out(partial, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error::io("cannot write ", partial).set_path(partial);
  if (std::rename(partial.c_str(), path.c_str()) != 0) return Error::io("cannot write ", path).set_path(path);
  return {};
}

// Writes a temporary file and renames it, so that `path` never contains part of the text. The name of the temporary
// file is unique: several threads and processes may write to one path.
Result<void> write_whole(const std::string& path, const std::string& text) {
  static std::atomic<int64_t> written_files{0};
  const std::string partial = path + ".partial" + std::to_string(getpid()) + "_" + std::to_string(++written_files);
  Result<void> written = write_and_rename(partial, path, text);
  if (!written) std::remove(partial.c_str());
  return written;
}

}  // namespace

Dataset Dataset::started(std::shared_ptr<const Stage> stage, Location at) {
  Result<std::shared_ptr<const Node>> node = make_node(std::move(stage), nullptr, at);
  if (node) return Dataset(Graph(*std::move(node)));
  Error error = std::move(node).error();
  error.at().written_at = at.describe();
  return Dataset(std::move(error));
}

Dataset Dataset::appended(std::shared_ptr<const Stage> stage, Location at) const {
  if (error_) return *this;
  Result<std::shared_ptr<const Node>> node = make_node(std::move(stage), node_, at);
  if (node) return Dataset(Graph(*std::move(node)));
  Error error = std::move(node).error();
  error.at().written_at = at.describe();
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
  STOKER_TRY(auto plan, lower(node_, meters, Positions::kPreferred));
  if (!plan->list || plan->list->length() >= kEndless)
    return Error::precondition("at: the length is ", plan->list ? "infinite" : "not known before the elements are made",
                               "; only a dataset whose elements have positions can be indexed");
  const int64_t n = plan->list->length();
  if (i < 0 || i >= n) return out_of_range("at", "the dataset", n, i);
  Passes passes;
  Run run =
      MappedList{plan->list, plan->list_steps}.make({i}, {0}, MakeContext{&passes, nullptr, &plan->sources, nullptr});
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
  STOKER_TRY(check_replaceable(file));
  WriteContext context;
  context.folder = file.parent_path().empty() ? "." : file.parent_path().string();
  context.stem = file.stem().string();
  STOKER_TRY(Json json, graph_to_json(*node_, context));
  return write_whole(path, json.text(2) + "\n");
}

Result<Dataset> Dataset::from_json(std::string_view text) {
  STOKER_TRY(Json json, parse_json(text));
  ReadContext context;
  context.registry = &registry();
  STOKER_TRY(auto node, graph_from_json(json, context));
  return Dataset(Graph(std::move(node)));
}

Result<Dataset> Dataset::load_graph(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return Error::precondition(path, " is a folder and not a graph file");
  const Result<std::string> text = read_file(path, kMostGraphBytes);
  if (!text) return text.error();
  Result<Json> json = parse_json(*text);
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

// Whether a selection of infinitely many elements is infinite, too: `skip`, but not `take`.
bool selects_endlessly(const SelectionStage& selection) {
  return selection.length(kEndless) != selection.length(kEndless - (int64_t{1} << 32));
}

// Whether a repeat in the graph may make the dataset infinite. Otherwise, a search of the whole epoch ends.
bool may_be_endless(const Node& last) {
  const Result<int64_t> cardinality = cardinality_of(last, Counting::kAsKnown);
  if (cardinality && *cardinality >= 0) return false;
  std::map<const Node*, bool> endless;
  for (const Node* node : nodes_of(last)) {
    const Stage& stage = *node->stage;
    const auto is_endless = [&](const auto& input) { return endless.at(input.get()); };
    const bool any = std::ranges::any_of(node->inputs, is_endless);
    const std::optional<ShuffleParams> shuffle = shuffle_params(stage);
    if (const std::optional<RepeatParams> repeat = engine_params<RepeatParams>(stage))
      endless[node] = repeat->passes < 0 || (any && repeat->passes > 0);
    else if (is_engine_stage<ZipParams>(stage))
      endless[node] = any && std::ranges::all_of(node->inputs, is_endless);
    else if (const SelectionStage* selection = if_form<SelectionStage>(stage))
      endless[node] = any && selects_endlessly(*selection);
    else
      endless[node] = any && !(shuffle && !shuffle->buffer);  // a shuffle of all elements requires an end
  }
  return endless.at(&last);
}

// Returns the number of elements that a shuffle receives in one pass of the endless repeat upstream, at least.
int64_t elements_of_pass(const Node& shuffle) {
  for (const Node* node = &shuffle; !node->inputs.empty();) {
    const Node* const input = node->inputs[0].get();
    const std::optional<RepeatParams> repeat = engine_params<RepeatParams>(*node->stage);
    if (repeat && repeat->passes < 0) {
      const Result<int64_t> elements = cardinality_of(*input, Counting::kAsKnown);
      return elements ? std::max<int64_t>(1, *elements) : 1;
    }
    const bool keeps_number = node == &shuffle || if_form<MapStage>(*node->stage) ||
                              is_engine_stage<PrefetchParams>(*node->stage) ||
                              is_engine_stage<EnumerateParams>(*node->stage) || shuffle_params(*node->stage);
    if (!keeps_number) return 1;
    node = input;
  }
  return 1;
}

// Returns how many later passes an infinite dataset may deliver between two elements of one pass. Each draw from a
// buffer of B elements leaves an element in it with probability 1 - 1/B. After 32·B draws, it is there with
// probability e^-32.
int64_t mixed_passes(const Node& last) {
  constexpr int64_t kDrawsPerSlot = 32;
  constexpr int64_t kPassesOfOpened = 64;  // that other datasets may return while one waits for its turn
  constexpr int64_t kMost = 1'000'000;
  int64_t passes = 8;
  for (const Node* node : nodes_of(last)) {
    if (node->stage->type().opens_datasets) passes += kPassesOfOpened;
    if (const std::optional<ShuffleParams> shuffle = shuffle_params(*node->stage); shuffle && shuffle->buffer)
      passes += kDrawsPerSlot * std::min(*shuffle->buffer, kMost) / elements_of_pass(*node) + 1;
    passes = std::min(passes, kMost);
  }
  return passes;
}

// Decides when the elements of a pass can no longer appear in an infinite dataset. The numbers of passes have gaps, so
// it counts the later passes that have appeared since the last element of this one or an earlier one.
class PassSearch {
 public:
  // `most`: of later passes; none: the dataset is finite and searched to its end.
  PassSearch(int64_t pass, std::optional<int64_t> most) : pass_(pass), newest_(pass), most_(most) {}

  // Adds the pass of an element. Returns false if the search can end.
  bool continues_after(int64_t pass) {
    if (passes_since(pass_, pass) <= 0) {
      later_ = 0;
    } else if (passes_since(newest_, pass) > 0) {
      newest_ = pass;
      ++later_;
    }
    return !most_ || later_ <= *most_;
  }

 private:
  const int64_t pass_;
  int64_t newest_;
  const std::optional<int64_t> most_;
  int64_t later_ = 0;
};

// Stores the element with one origin, and delivers the pass of each element.
struct KeepOrigin {
  static constexpr std::string_view kName = "keep_origin";
  static constexpr std::string_view kDoc = "Keep the element with one origin.";

  struct Kept {
    Mutex mutex;
    std::optional<Element> element STOKER_GUARDED_BY(mutex);
  };

  std::string origin;
  std::vector<std::string> sources;
  int32_t source = 0;
  std::shared_ptr<Kept> kept = std::make_shared<Kept>();

  void describe(Fields&) {}
  PassUse pass_use() const { return PassUse::kOrders; }  // counts its own passes: other iterators are not affected
  Result<Spec> spec(std::span<const Spec>) const { return Spec::scalar(DType::kInt64); }

  // The pass, or -1 for elements of other sources.
  Result<Element> apply(Element element, Context& context) const {
    const Origin here = context.origin();
    const Origin& first = outermost(here);
    const int64_t pass = first.source == source ? first.pass : -1;
    if (pass >= 0 && origin_text(here, sources) == origin) {
      const MutexLock lock(kept->mutex);
      kept->element = std::move(element);
    }
    return Element(Array::of(pass));
  }

  // Whether the origin in an error message is the requested one.
  bool is_origin(std::string_view text) const {
    const Result<OriginInEpoch> read = origin_from_text(text, sources);
    return read && origin_text(read->origin, sources) == origin;
  }

  std::optional<Element> taken() const {
    const MutexLock lock(kept->mutex);
    return std::exchange(kept->element, std::nullopt);
  }
};

// Returns the element with the origin or its error, or nullopt if the epoch does not deliver it.
std::optional<Result<Element>> search_epoch(Loader& loader, const KeepOrigin& wanted, PassSearch search) {
  while (true) {
    stop_if_interrupted();
    const Result<std::optional<Element>> next = loader.next();
    if (std::optional<Element> element = wanted.taken()) return delivered(Run::of(*std::move(element), Origin()));
    if (next && !*next) return std::nullopt;
    const Error::Place* place = next ? nullptr : &next.error().place();
    if (place && (place->origin.empty() || wanted.is_origin(place->origin)))  // no origin: an error of the loader
      return next.error();
    const bool is_same_source = !place || place->source == wanted.sources[static_cast<size_t>(wanted.source)];
    const int64_t pass = place ? place->pass : (*next)->leaves[0].scalar<int64_t>();
    if (is_same_source && pass >= 0 && !search.continues_after(pass)) return std::nullopt;
  }
}

// Runs the epoch of an element up to the element. Returns nullopt if it is not delivered. If the origin does not name
// the passes of its epoch, the epoch follows from the element's pass.
Result<std::optional<Element>> run_up_to(const Dataset& dataset, const OriginInEpoch& place, const Plan& known) {
  const Origin& origin = place.origin;
  const Origin& first = outermost(origin);
  const bool endless = known.strides[static_cast<size_t>(first.source)] >= kEndless && may_be_endless(*dataset.node());
  const PassSearch search(first.pass, endless ? std::optional(mixed_passes(*dataset.node())) : std::nullopt);
  const KeepOrigin wanted{origin_text(origin, known.sources), known.sources, first.source};
  const Dataset searched = dataset.then(wanted);
  Meters meters;
  STOKER_TRY(const auto plan, lower(searched.node(), meters));
  if (place.passes.empty())
    start_with_epoch(*plan, epoch_of_pass(*plan, first.source, first.pass));
  else
    STOKER_TRY(start_with_passes(*plan, place.passes));
  // Without prefetching the next epoch, which is not used.
  Loader loader(searched, {.on_error = OnError::kRaise, .prefetch_next_epoch = false, .interrupted = &is_interrupted});
  std::optional<Result<Element>> found = search_epoch(loader, wanted, search);
  if (!found) return std::optional<Element>();
  if (!*found) return std::move(*found).error();
  return std::optional<Element>(**std::move(found));
}

// Lowers the graph with access by position, also for sources that are otherwise read
// forward.
Result<std::shared_ptr<const Plan>> lower_by_position(const Dataset& dataset, Meters& meters) {
  Result<std::shared_ptr<const Plan>> plan = lower(dataset.node(), meters, Positions::kPreferred);
  return plan ? plan : lower(dataset.node(), meters);
}

Result<void> check_position(const Plan& plan, const Origin& first) {
  const auto number = static_cast<size_t>(first.source);
  const Stage& source = *plan.source_nodes[number]->stage;
  const StreamStage* stream = if_form<StreamStage>(source);
  const std::shared_ptr<const ListStage> listed = stream ? stream->listed() : nullptr;
  const ListStage* list = stream ? listed.get() : if_form<ListStage>(source);
  if (!list) return {};
  Context context;
  STOKER_TRY(const int64_t length, list->length(context));
  if (first.position < length) return {};
  return out_of_range("replay", plan.sources[number], length, first.position);
}

}  // namespace

Result<Element> Dataset::replay(std::string_view text) const {
  if (error_) return *error_;
  Meters meters;
  STOKER_TRY(const auto plan, lower_by_position(*this, meters));
  STOKER_TRY(const OriginInEpoch place, origin_from_text(text, plan->sources));
  const Origin& origin = place.origin;
  STOKER_TRY(check_position(*plan, outermost(origin)));
  const Passes passes;
  const Recomputed made = recompute(*plan, origin, MakeContext{&passes, nullptr, &plan->sources, nullptr});
  if (made.run.size > 0 && made.run.failure_of(0)) return with_provenance(made.run.failure_of(0)->error, origin, *plan);
  if (made.complete && made.run.size > 0) return delivered(made.run);
  if (!made.complete) {
    STOKER_TRY(std::optional<Element> found, run_up_to(*this, place, *plan));
    if (found) return *std::move(found);
    if (made.run.size > 0 && made.is_batched) return delivered(made.run);
  }
  return Error::not_found("no element is delivered with the origin ", text,
                          made.complete ? ": a filter drops it" : " in its pass");
}

}  // namespace stoker
