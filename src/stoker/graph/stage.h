#pragma once

#include <any>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/element.h"
#include "stoker/graph/context.h"
#include "stoker/graph/engine_stage.h"
#include "stoker/graph/fields.h"
#include "stoker/graph/op.h"

namespace stoker {

class Stage;
struct Node;

// Cardinalities that are not a number, with tf.data's values.
constexpr int64_t kInfinite = -1;
constexpr int64_t kUnknown = -2;
// The engine chooses the number.
constexpr int64_t kAutotune = -1;
// Every length is below this. Inside the engine, an infinite list has this length.
constexpr int64_t kEndless = int64_t{1} << 62;

// A dataset as a parameter: an input of `zip` or `concatenate`, or what a function returns to `flat_map`.
class Graph {
 public:
  Graph() = default;
  // `keeps_alive` is released with the graph.
  Graph(std::shared_ptr<const Node> node, std::shared_ptr<const void> keeps_alive = nullptr)
      : node_(std::move(node)), keeps_alive_(std::move(keeps_alive)) {}
  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  std::shared_ptr<const Node> node_;
  std::shared_ptr<const void> keeps_alive_;
};
template <>
const Codec& plain_codec<Graph>();

enum class Form { kList, kStream, kMap, kFilter, kSelection, kSequence, kEngine };
std::string_view name_of(Form form);

// The properties that all stages of one type share.
struct StageType {
  std::string_view name;
  std::string_view doc;
  Form form{};
  bool waits = false;                  // a source whose calls wait, for example for files; runs on waiting threads
  bool loads = false;                  // a source with load()
  bool continues_after_error = false;  // a stream: next() may be called again after it returned an error
  bool returns_rows = false;           // a stream with next_rows()
  bool opens_datasets = false;         // a sequence that opens a dataset for each element
  bool unbatches = false;              // a sequence that splits batches into their rows
  std::vector<ParamDoc> params;
  Result<std::shared_ptr<const Stage>> (*read)(const Json& params, ReadContext&) = nullptr;

  bool is_source() const { return form == Form::kList || form == Form::kStream; }
};

// The lists of all stages and operations, which only api/ contains.
class Registry {
 public:
  virtual ~Registry() = default;
  virtual std::span<const StageType* const> stages() const = 0;
  virtual std::span<const OpType* const> ops() const = 0;
  const StageType* find_stage(std::string_view name) const;  // null if there is none
  const OpType* find_op(std::string_view name) const;
};

// How a stage uses the number of the pass: not at all, to draw random numbers for elements, or to order them.
enum class PassUse { kNone, kDraws, kOrders };

// The part of the interface that all forms share. A stage is immutable and shared by threads. What changes while it
// runs is in a State, which the runtime owns. StageOf (stage_of.h) derives the interface from a plain struct.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual const StageType& type() const = 0;
  virtual Result<Json> params(WriteContext&) const = 0;
  virtual Result<void> check() const = 0;
  virtual Result<Spec> spec(std::span<const Spec> inputs) const = 0;
  // Returns the length of the output, kInfinite or kUnknown, from those of the inputs and the specs of their elements.
  virtual int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const = 0;
  // Parameters that are datasets. They are inputs, after the dataset that the stage is applied to.
  virtual std::vector<Graph> graphs() const = 0;
  // Datasets that the stage's function captures and may return or build on. They are not inputs.
  virtual std::vector<Graph> captured() const = 0;
  // Describes the function of the stage for explain(), such as "x * 2 + 1". Empty: the name is enough.
  virtual std::string summary() const = 0;
  // Runs user code. The engine cannot know its cost, or whether it waits.
  virtual bool calls_user() const = 0;
  virtual PassUse pass_use() const = 0;
};

// The state of a running stage. It is a value; the runtime copies it into the log for checkpoints.
using State = std::any;

struct Pass {
  int64_t number = 0;
  std::shared_ptr<const Origin> parent;  // in a dataset that an element opened: the origin of that element
};

// A record as errors name it: "record 7 of a.tfrecord", and the path of its file.
struct RecordName {
  std::string name;
  std::string path;
};

class SourceStage : public Stage {
 public:
  // Returns a text that changes when the data that the source reads changes.
  virtual Result<std::string> fingerprint() const = 0;
  // Returns the record of an element, for errors. Without a name, the origin is enough.
  virtual RecordName describe_record(const Origin&) const = 0;
  // Replaces rows that identify records by the records. Only called if type().loads.
  virtual Result<void> load(Run&, Context&) const = 0;
};

// A source whose element i can be read without reading those before it.
class ListStage : public SourceStage {
 public:
  static constexpr Form kForm = Form::kList;
  virtual Result<int64_t> length(Context&) const = 0;
  virtual Result<Run> fetch(std::span<const int64_t> positions, Context&) const = 0;
  // The order of each pass, for a list that shuffles itself; none: by position.
  virtual std::optional<ShuffleParams> order() const = 0;
};

// A source that is read forward.
class StreamStage : public SourceStage {
 public:
  static constexpr Form kForm = Form::kStream;
  virtual State start(const Pass&) const = 0;
  virtual Result<std::optional<Element>> next(State&, Context&) const = 0;
  // Returns what up to `most` calls of next() would return, if each is one array that is already in memory. Returns no
  // rows otherwise; next() must then be called.
  virtual Column next_rows(State&, int64_t most, Context&) const = 0;
  // The same records by position. May have to read all files to find their number. Null if there is no such list.
  virtual std::shared_ptr<const ListStage> listed() const = 0;
  // Whether each pass returns the same elements. If not, the iterator cannot be saved.
  virtual bool repeatable() const = 0;
  // Whether a restored state continues at its position. If not, the stream starts again and skips elements.
  virtual bool resumable() const = 0;
  virtual Result<Json> save(const State&) const = 0;
  virtual Result<State> restore(const Json&) const = 0;
};

// Limits on how the engine calls a map or filter.
struct Hints {
  std::optional<int64_t> parallel_calls;  // maximum of concurrent calls, as the user set it
  bool sequence = false;                  // stages that order or select elements do not move across it
};

// One element to one element, or to none: a map or a filter.
class StepStage : public Stage {
 public:
  virtual Hints hints() const = 0;
  // Whether calls may wait for a file.
  virtual bool waits() const = 0;
};

class MapStage : public StepStage {
 public:
  static constexpr Form kForm = Form::kMap;
  virtual Result<void> apply(Run&, Context&) const = 0;
  // Two maps that have the same result one after the other, of which only the first waits. None: it cannot be split.
  struct Parts {
    std::shared_ptr<const MapStage> reads, rest;
  };
  virtual std::optional<Parts> split() const = 0;
  // Whether the result for a batch is the batch of the results for its items.
  virtual bool by_item() const = 0;
};

class FilterStage : public StepStage {
 public:
  static constexpr Form kForm = Form::kFilter;
  // Returns one value per row: 1 if it is kept.
  virtual Result<std::vector<uint8_t>> keep(Run&, Context&) const = 0;
};

// Selects elements by position alone.
class SelectionStage : public Stage {
 public:
  static constexpr Form kForm = Form::kSelection;
  // The number of selected elements of an input of n elements.
  virtual int64_t length(int64_t n) const = 0;
  // The position in the input of selected element i.
  virtual int64_t at(int64_t i) const = 0;
};

enum class Flow { kMore, kDone };

// Receives the output of a sequence.
class Emit {
 public:
  virtual ~Emit() = default;
  virtual void put(Run run) = 0;
  // If the stage keeps a handle to the element, or emits it twice, the receiver gets a copy.
  void put(Element element, Origin origin) {
    element.freeze_if_shared();
    put(Run::of(std::move(element), std::move(origin)));
  }
  // Opens the dataset that open_graph() returns for the element, in a slot. SequenceStage::input() may then return
  // slot + the number of inputs. After an error, the slot is empty.
  virtual Result<void> open(int slot, Element element, Origin origin) = 0;
};

// Receives elements in order and emits any number of elements for each.
class SequenceStage : public Stage {
 public:
  static constexpr Form kForm = Form::kSequence;
  virtual State start(const Pass&) const = 0;
  virtual Result<Flow> step(State&, Run, Emit&, Context&) const = 0;
  // Called once, after the last step, unless a step returned kDone.
  virtual Result<Flow> finish(State&, Emit&, Context&) const = 0;
  // The input or open dataset (see Emit::open) that the next rows must come from.
  virtual int input(const State&) const = 0;
  // The maximum number of rows that the next step accepts.
  virtual int64_t max_rows(const State&) const = 0;
  // The number of input rows in one row of the output, for a stage that batches; otherwise 0.
  virtual int64_t batch_rows() const = 0;
  // The dataset that an element opens. Only called if type().opens_datasets.
  virtual Result<Graph> open_graph(const Element&) const = 0;
  // Whether the state may be saved now. A batch, for example, is saved only when it holds no rows.
  virtual bool at_rest(const State&) const = 0;
  virtual Result<Json> save(const State&) const = 0;
  virtual Result<State> restore(const Json&) const = 0;
};

// Implemented by the runtime.
class EngineStage : public Stage {
 public:
  static constexpr Form kForm = Form::kEngine;
  virtual EngineParams engine() const = 0;
};

// The stage as one of the forms; null if it is another one.
template <typename Interface>
const Interface* if_form(const Stage& stage) {
  return stage.type().form == Interface::kForm ? static_cast<const Interface*>(&stage) : nullptr;
}
// The stage as the form that it is known to have. Another form is a bug and ends the process.
template <typename Interface>
const Interface& as_form(const Stage& stage) {
  const Interface* form = if_form<Interface>(stage);
  if (!form) std::abort();
  return *form;
}
// Either of two forms that share an interface; null for the others.
const SourceStage* if_source(const Stage& stage);
const StepStage* if_step(const Stage& stage);
// The parameters of a stage that the runtime implements, if it is this one.
template <typename Params>
std::optional<Params> engine_params(const Stage& stage) {
  const EngineStage* engine = if_form<EngineStage>(stage);
  if (!engine) return std::nullopt;
  const EngineParams params = engine->engine();
  const Params* found = std::get_if<Params>(&params);
  return found ? std::optional<Params>(*found) : std::nullopt;
}
template <typename Params>
bool is_engine_stage(const Stage& stage) {
  return engine_params<Params>(stage).has_value();
}

// Where the user's program adds a stage.
struct Location {
  std::string file;
  int line = 0;

  static Location current(std::source_location at = std::source_location::current()) {
    return {at.file_name(), static_cast<int>(at.line())};
  }
  std::string describe() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

}  // namespace stoker
