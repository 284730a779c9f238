#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stoker/graph/graph.h"
#include "stoker/runtime/meter.h"

namespace stoker {

class ListPlan;
struct SegmentPlan;

// One step of a span.
struct StepPlan {
  enum class Kind { kFetch, kLoad, kMap, kFilter };
  Kind kind{};
  std::shared_ptr<const Node> node;      // null for kFetch
  std::shared_ptr<const ListPlan> list;  // kFetch
  uint64_t seed = 0;                     // of the source below
  uint64_t key = 0;                      // maps between it and the source
  int64_t parallel = 0;                  // calls at once at most; 0: no bound
  bool user = false;                     // runs the user's code, or waits: not on the consumer's thread
  // One call at a time, in order, and once for each element: what a function with
  // a state of its own expects.
  bool serial() const { return user && parallel == 1; }
  Meter* meter = nullptr;
};

// A node that counts passes, at one of the places where a graph has it.
struct Counted {
  std::shared_ptr<const Node> node;
  int place = 0;        // 0 for the first from the left
  bool cached = false;  // below a cache: always in its pass 0, and counts none
  int32_t source = 0;   // the source it reads from, and how many passes of it
  int64_t stride = 1;   // one of its own begins
  int64_t unit = 1;     // passes that origins have for one of those: see in_running_pass
};

// The pass each counted node's iterator started from.
class Passes {
 public:
  int64_t base(const Node& node, int place) const {
    auto found = bases_.find({node.state.get(), place});
    return found == bases_.end() ? 0 : found->second;
  }
  void set(const Node& node, int place, int64_t base) { bases_[{node.state.get(), place}] = base; }

 private:
  std::map<std::pair<const NodeState*, int>, int64_t> bases_;
};

// What making elements needs beside their position.
struct MakeContext {
  const Passes* passes = nullptr;
  std::shared_ptr<const Origin> parent;               // in a child
  const std::vector<std::string>* sources = nullptr;  // names, of the outermost graph
  const std::atomic<bool>* stopped = nullptr;
};

// An element that was made again from its origin. No row: a filter dropped it,
// or there is no way to it by position. Incomplete: made up to the first stage
// that needs more than this one element.
struct Remade {
  Run run;
  bool complete = true;
};

// A data set whose element i can be made without making those before it.
class ListPlan {
 public:
  virtual ~ListPlan() = default;
  virtual int64_t length() const = 0;  // kEndless when there is no end
  virtual bool calls_user() const { return false; }
  // The least number of calls at once that a function inside it allows; 0: any number.
  virtual int64_t most_calls() const { return 0; }
  virtual Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const = 0;
  // Whether elements of this source are in it.
  virtual bool reads(int32_t source) const = 0;
  // The element with this origin, in whatever order and pass it came.
  virtual Remade remake(const Origin& origin, const MakeContext& context) const = 0;
};

// A list and the maps over it, run in one go where it stands inside another.
struct Listed {
  std::shared_ptr<const ListPlan> list;
  std::vector<StepPlan> steps;
  bool calls_user() const { return list->calls_user() || std::ranges::any_of(steps, &StepPlan::user); }
  int64_t most_calls() const;
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const;
  Remade remake(const Origin& origin, const MakeContext& context) const;
};

// The stricter of two bounds on calls at once, of which 0 is none.
constexpr int64_t stricter(int64_t a, int64_t b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

// Rows side by side: a tuple, in which one member's failure is the row's.
Run joined(Runs parts);

// Runs one step that is no fetch; failures are the rows', never the run's.
struct StepView {
  RowTarget* target = nullptr;          // where results belong
  std::atomic<int32_t>* row = nullptr;  // shows which one it has come to
  ElementType* like = nullptr;          // what results must be like, or were like
};
void run_step(const StepPlan& step, Run& run, const MakeContext& context, const StepView& view = {});

// Takes an element on through the steps behind a list or a window, up to the
// one that drops it or fails.
Remade stepped(Remade made, const std::vector<StepPlan>& steps, const MakeContext& context);

// One place of a line: what names elements, one step at a time and in order.
struct LinePlan {
  enum class Kind {
    kList,
    kStream,
    kSequence,
    kSelect,
    kShuffle,
    kRepeat,
    kCache,
    kZip,
    kConcatenate,
    kEnumerate,
    kPort
  };
  Kind kind{};
  std::shared_ptr<const Node> node;  // null for kList, kPort
  uint64_t seed = 0;                 // what the node drew
  int32_t source = 0;                // kStream: its number; kCache: of the first source below
  int64_t stride = 1;                // kCache: passes of the sources below in one of its own
  int place = 0;                     // of the node, where it counts passes
  bool is_inline = false;            // kRepeat: starts its input anew instead of opening a child
  std::vector<std::shared_ptr<const LinePlan>> inputs;
  std::shared_ptr<const ListPlan> list;        // kList
  std::shared_ptr<const SegmentPlan> segment;  // kPort
  std::shared_ptr<const SegmentPlan> child;    // kRepeat, kCache: the input, opened for each pass
  std::string path;                            // for meters and children
  Meter* meter = nullptr;
};

// A line, the span behind it and the window that closes both.
struct SegmentPlan {
  std::shared_ptr<const LinePlan> line;
  std::vector<StepPlan> steps;
  bool filters = false;
  bool names = false;       // the line gives names: results can be dropped and made again
  bool line_waits = false;  // the line's source waits
  bool line_user = false;   // it calls functions of the user's
  int64_t rows = 0;         // of the batch that follows
  int64_t at_least = 0;     // prefetch
  std::string words;        // "range → map → filter", for explain
  Meter* meter = nullptr;   // of the line: where its own time goes
};

// What nodes drew, by their state.
using Seeds = std::map<const NodeState*, uint64_t>;

// What must be the same for a checkpoint to fit: made when one is first saved.
struct Fingerprint {
  std::once_flag once;
  Json graph = Json::list();
  Json files = Json::list();
};

// The node that counts the passes of a dataset that ends with `last`, for every
// dataset built on that node: its nearest shuffle; without one, the first stage
// that draws random numbers. Iterating a dataset that shares neither changes
// nothing here; one that is built again for each epoch on a shuffle of before
// gets the next order. What uses no passes counts them for itself.
const Node& counting_node(const Node& last);

struct Plan {
  std::shared_ptr<Fingerprint> fingerprint = std::make_shared<Fingerprint>();
  std::shared_ptr<const Node> node;
  Seeds seeds;
  std::shared_ptr<const SegmentPlan> root;
  std::shared_ptr<const ListPlan> list;  // where the data set is a list: for at() and replay
  std::vector<StepPlan> list_steps;
  std::vector<Counted> counted;                     // from left to right
  std::vector<std::shared_ptr<const Node>> caches;  // the outermost ones
  std::vector<std::string> sources;                 // names by number
  std::vector<int64_t> strides;                     // of each source: passes that one epoch begins, at most
  std::vector<std::shared_ptr<const Node>> source_nodes;
  EngineParams on_error;  // kind kOnError where the user said so
  int64_t prefetch = 0;
  bool calls_user = false;  // anywhere: what it does besides is not known
};

// Cuts a graph into segments. Streams that can be had by position are, where
// a stage asks for it (a shuffle of everything, a shard) or the caller does.
// `prefix` is the path of the node that opens a child. The plan keeps the seeds
// that the nodes have now, or those in `seeds`: one that runs does not change when
// a restore changes theirs.
enum class Positions { kAsAsked, kWanted };
Result<std::shared_ptr<const Plan>> lower(std::shared_ptr<const Node> node, Meters& meters,
                                          Positions positions = Positions::kAsAsked, const std::string& prefix = {},
                                          const Seeds* seeds = nullptr);

// The element of a plan that has this origin.
Remade remake(const Plan& plan, const Origin& origin, const MakeContext& context);

// The segments, what is native, what is held, in lines of text.
std::string explain(const Plan& plan);

// The parameters of a shuffle, or of a list's own order.
EngineParams shuffle_params(const Node& node);
// The seeds of one pass of a shuffle, given or drawn.
SeedPair shuffle_seeds(const Node& node, uint64_t drawn, int64_t pass, const std::shared_ptr<const Origin>& parent);

// Fills in what the runtime knows of a failure: stage, source, position.
void annotate(Error& error, const Node& node, const Origin& origin, const std::vector<std::string>* sources);

// The same error with the files of the records that the element was made of, where
// they can be had by position and the error does not name one.
Error with_files(Error error, const Origin& origin, const Plan& plan);

}  // namespace stoker
