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
#include "stoker/graph/fields.h"
#include "stoker/graph/op.h"

namespace stoker {

class Stage;
struct Node;

// Cardinalities that are no number (tf.data's values).
constexpr int64_t kInfinite = -1;
constexpr int64_t kUnknown = -2;
// Stands for "let the engine choose" where a number is expected.
constexpr int64_t kAutotune = -1;
// Lengths are below this; an endless list has this length inside the engine.
constexpr int64_t kEndless = int64_t{1} << 62;

// A data set as a parameter: the graph below `zip`, `concatenate`, or what a
// function gives to `flat_map`.
class Graph {
 public:
  Graph() = default;
  Graph(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  const std::shared_ptr<const Node>& node() const { return node_; }

 private:
  std::shared_ptr<const Node> node_;
};
template <>
const Codec& plain_codec<Graph>();

enum class Form { kList, kStream, kMap, kFilter, kSelection, kSequence, kEngine };
std::string_view name_of(Form form);

// Nodes that the runtime knows by kind.
enum class EngineKind { kRepeat, kCache, kPrefetch, kShuffle, kZip, kConcatenate, kEnumerate, kOnError };

struct EngineParams {
  EngineKind kind{};
  int64_t count = 0;              // repeat: passes, negative for ever; prefetch: at least; enumerate: start
  std::optional<int64_t> buffer;  // shuffle: nothing means all
  std::optional<int64_t> seed;    // shuffle
  bool each_pass = true;          // shuffle: another order in each pass
  bool skip = false;              // on_error
  double at_most = 1.0;           // on_error: the share that may be skipped
};

// What the table knows of a stage.
struct StageType {
  std::string_view name;
  std::string_view doc;
  Form form{};
  bool sees_failures = false;  // gets failed rows too (ignore_errors)
  bool waits = false;          // runs on a waiting thread
  bool repeatable = true;
  bool opens = false;    // children, for elements of its first input
  bool goes_on = false;  // a stream that goes on behind an error of `next`
  bool in_rows = false;  // a stream that has `next_rows`
  bool loads = false;
  std::vector<ParamDoc> params;
  Result<std::shared_ptr<const Stage>> (*read)(const Json& params, ReadContext&) = nullptr;
};

// The list of stages and operations, which only the api has in full.
class Registry {
 public:
  virtual ~Registry() = default;
  virtual std::span<const StageType* const> stages() const = 0;
  virtual std::span<const OpType* const> ops() const = 0;
  const StageType* find_stage(std::string_view name) const;
  const OpType* find_op(std::string_view name) const;
};

enum class Flow { kMore, kDone };

// What changes while a stage runs: a value, copied into the checkpoint's log.
using State = std::any;

// One pass over a stage, as its start sees it.
struct Pass {
  int64_t number = 0;
  std::shared_ptr<const Origin> parent;  // in a child: the element that opened it
};

// Where a sequence puts what it makes.
class Emit {
 public:
  virtual ~Emit() = default;
  virtual void put(Run run) = 0;
  // What the stage keeps a handle to, or puts twice, stays its own: the receiver gets a copy.
  void put(Element element, Origin origin) {
    element.freeze_if_shared();
    put(Run::of(std::move(element), std::move(origin)));
  }
  // Opens the data set that `open_graph` gives for an element in a slot; `input`
  // may then name slot + the number of inputs. After an error it is closed.
  virtual Result<void> open(int slot, Element element, Origin origin) = 0;
};

// How the user bounded a map.
struct Hints {
  std::optional<int64_t> parallel_calls;
  bool ordered = true;
  bool sequence = false;  // stages that order or select stay on their side of it
};

// What a stage does with the number of the pass: nothing, random numbers of
// elements, or an order of its own.
enum class PassUse { kNone, kDraws, kOrders };

// What the runtime sees of any stage. Immutable and shared; everything that
// changes while it runs lives in a State, which the runtime owns. Each form
// implements its own part; the rest is never called.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual const StageType& type() const = 0;
  virtual Result<Json> params(WriteContext&) const = 0;
  virtual Result<Spec> spec(std::span<const Spec> inputs) const = 0;
  // Parameters that are data sets, in order: inputs behind the first.
  virtual std::vector<Graph> graphs() const { return {}; }
  virtual Result<void> check() const { return {}; }
  virtual Hints hints() const { return {}; }
  // "x * 2 + 1"; "a C++ function": for explain. Empty: nothing to say.
  virtual std::string words() const { return {}; }
  // Runs code of the user's, whose cost and waiting nobody knows before.
  virtual bool calls_user() const { return false; }
  virtual PassUse pass_use() const { return PassUse::kNone; }
  // map, filter: calls may wait for a file.
  virtual bool waits() const { return type().waits; }
  // map: two that do the same one after the other, of which only the first waits.
  struct Parts {
    std::shared_ptr<const Stage> reads, rest;
  };
  virtual std::optional<Parts> cut() const { return std::nullopt; }
  // map: what it makes of a batch is the batch of what it makes of the items.
  virtual bool by_item() const { return false; }
  // Elements in a batch this stage makes from single rows; 0: it makes none.
  virtual int64_t rows() const { return 0; }
  // Of the output, from the inputs' and what is known of their elements.
  virtual int64_t cardinality(std::span<const int64_t> inputs, std::span<const Spec> specs) const;
  // A word that changes when the files below a source change.
  virtual Result<std::string> fingerprint() const { return std::string(); }
  // The record in words; empty when the origin says enough.
  virtual std::string record_words(const Origin&) const { return {}; }

  // list
  virtual Result<int64_t> length(Context&) const;
  virtual Result<Run> fetch(std::span<const int64_t> positions, Context&) const;
  // list, stream
  virtual Result<void> load(Run&, Context&) const { return {}; }
  // selection
  virtual int64_t select_length(int64_t) const { return 0; }
  virtual int64_t select(int64_t i) const { return i; }
  // map
  virtual Result<void> apply(Run&, Context&) const;
  // filter: which rows stay
  virtual Result<std::vector<uint8_t>> keep(Run&, Context&) const;
  // list: its own order in each pass, as `list_files` has; kind kShuffle
  virtual std::optional<EngineParams> order() const { return std::nullopt; }
  // engine
  virtual EngineParams engine() const { return {}; }
  // stream: whether the same pass gives the same again
  virtual bool repeatable() const { return type().repeatable; }
  // stream: the same records by position, for whoever needs that: a list that may
  // have to look at all files before it knows its length. Null where there is none.
  virtual std::shared_ptr<const Stage> listed() const { return nullptr; }
  // stream: whether a saved state goes on where it was; else it starts anew and skips
  virtual bool resumable() const { return false; }
  // sequence: the data set that an element opens, for one that opens children
  virtual Result<Graph> open_graph(const Element&) const { return Error::internal("a stage that opens nothing"); }
  // stream, sequence
  virtual State start(const Pass&) const { return {}; }
  virtual Result<std::optional<Element>> next(State&, Context&) const;
  // stream: what `next` would give if it were called up to `most` times, where
  // that is one array each and lies ready; no rows: `next` must be asked.
  virtual Column next_rows(State&, int64_t, Context&) const { return {}; }
  virtual int input(const State&) const { return 0; }
  // How many rows it wants next at most.
  virtual int64_t appetite(const State&) const { return kEndless; }
  virtual Result<Flow> step(State&, Run, Emit&, Context&) const;
  virtual Result<Flow> finish(State&, Emit&, Context&) const { return Flow::kDone; }
  // Whether nothing is begun: only then is the state kept for a checkpoint.
  virtual bool at_rest(const State&) const { return true; }
  virtual Result<Json> save(const State&) const { return Json::dict(); }
  virtual Result<State> restore(const Json&) const { return State{}; }
};

// Where in the user's program a stage was written.
struct Location {
  std::string file;
  int line = 0;

  static Location current(std::source_location at = std::source_location::current()) {
    return {at.file_name(), static_cast<int>(at.line())};
  }
  std::string words() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

}  // namespace stoker
