#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/stoker.h"

// A simple model of tf.data's semantics: one thread that pulls one element at a time
// from the end of the graph, without prefetching, runs or windows. The engine must
// agree with it. It implements the rules of tf.data and of docs/design/engine.md, and
// shares no code with the engine.
namespace stoker::model {

// The kinds of stages, each with the parameters that it uses.
enum class Kind {
  kRange,      // count, start
  kSlices,     // count rows of width numbers
  kGenerator,  // count numbers, read forward
  kRangeOf,    // in a child: the opening element determines the number of elements, below limit
  kMap,        // x * factor + offset; form
  kFail,       // fails one element in one_in, by its value; salt, throws
  kFilter,     // drops one element in one_in, by its value; salt
  kDoubt,      // a filter that fails on one in one_in and drops one in three; salt
  kWiden,      // an element becomes an array of width numbers
  kBatch,      // batch_size, drop_remainder
  kUnbatch,
  kShuffle,  // buffer_size, seed, same_order
  kRepeat,   // count; negative: infinite
  kTake,     // count; negative: all
  kSkip,     // count; negative: all
  kShard,    // num_shards, index
  kZip,
  kConcatenate,
  kEnumerate,  // start
  kCache,
  kPrefetch,    // buffer_size
  kInterleave,  // cycle_length, block_length, fails_one_in
  kFlatMap,     // fails_one_in
  kIgnoreErrors,
  kAssertCardinality,  // count
  // The model does not implement these; the tests compare runs of the engine.
  kNoise,
  kDrawnShuffle,   // buffer_size, no seed
  kGlobalShuffle,  // seed
};

// How the function of a kMap is written.
enum class MapForm { kStage, kExpression, kTypedFunction };

// The parameters of all kinds. A stage uses those that its kind names.
struct Params {
  int64_t count = 0;
  int64_t start = 0;
  int64_t width = 0;
  int64_t limit = 1;
  int64_t factor = 1;
  int64_t offset = 0;
  MapForm form = MapForm::kStage;
  int64_t one_in = 1;
  int64_t salt = 0;
  bool throws = false;  // an exception instead of an Error
  int64_t batch_size = 1;
  bool drop_remainder = false;
  int64_t buffer_size = 0;
  int64_t seed = 0;
  bool same_order = false;  // in each pass
  int64_t num_shards = 1;
  int64_t index = 0;
  int64_t cycle_length = 1;
  int64_t block_length = 1;
  int64_t fails_one_in = 0;  // one in so many elements fails instead of opening a child; 0: none
};

// How a failing case gets smaller: a size is halved or decremented, and a detail gets
// its default.
enum class Shrink { kSize, kDetail };

// Calls see(name, value, default, shrink) for each parameter.
template <typename AnyParams, typename See>
void visit(AnyParams& p, See&& see) {
  constexpr Params kDefault;
  see("count", p.count, kDefault.count, Shrink::kSize);
  see("start", p.start, kDefault.start, Shrink::kDetail);
  see("width", p.width, kDefault.width, Shrink::kSize);
  see("limit", p.limit, kDefault.limit, Shrink::kSize);
  see("factor", p.factor, kDefault.factor, Shrink::kSize);
  see("offset", p.offset, kDefault.offset, Shrink::kDetail);
  see("form", p.form, kDefault.form, Shrink::kDetail);
  see("one_in", p.one_in, kDefault.one_in, Shrink::kSize);
  see("salt", p.salt, kDefault.salt, Shrink::kDetail);
  see("throws", p.throws, kDefault.throws, Shrink::kDetail);
  see("batch_size", p.batch_size, kDefault.batch_size, Shrink::kSize);
  see("drop_remainder", p.drop_remainder, kDefault.drop_remainder, Shrink::kDetail);
  see("buffer_size", p.buffer_size, kDefault.buffer_size, Shrink::kSize);
  see("seed", p.seed, kDefault.seed, Shrink::kDetail);
  see("same_order", p.same_order, kDefault.same_order, Shrink::kDetail);
  see("num_shards", p.num_shards, kDefault.num_shards, Shrink::kSize);
  see("index", p.index, kDefault.index, Shrink::kDetail);
  see("cycle_length", p.cycle_length, kDefault.cycle_length, Shrink::kSize);
  see("block_length", p.block_length, kDefault.block_length, Shrink::kSize);
  see("fails_one_in", p.fails_one_in, kDefault.fails_one_in, Shrink::kDetail);
}

// A graph as a tree of stages with small parameters.
struct Stage {
  Kind kind{};
  Params params;
  std::vector<std::shared_ptr<Stage>> inputs;
  std::shared_ptr<Stage> child;  // the nested graph of kInterleave and kFlatMap
};
using Tree = std::shared_ptr<Stage>;

Tree stage(Kind kind, std::vector<Tree> inputs = {}, Params params = {}, Tree child = {});
Tree copy_of(const Tree& tree);
std::string text_of(const Tree& tree);
// Whether the model implements all stages of the graph.
bool answered(const Tree& tree);
// Whether a repeat is upstream of another. Each outer pass then reserves numbers for all passes of the inner repeat in
// the engine, also for those that a stage between them does not read; the model numbers only passes that start.
bool repeats_are_nested(const Tree& tree);
// Whether every pass that is started delivers an element. The engine counts delivered
// passes; the model counts started ones. These may be one more if a stage reads more
// input than it delivers, and more if a pass delivers nothing.
bool passes_are_delivered(const Tree& tree);

// The same graph for the engine.
Dataset build(const Tree& tree);

// The text of an element, such as "(x, x) [] 3 [2] 1 2", or "error: …".
std::string text_of(const Element& element);
std::string text_of(const Error& error);
inline bool is_error(const std::string& words) { return words.starts_with("error: "); }

// Thrown if an element takes too many steps, for example if a filter drops every
// element of an infinite input.
struct TooLong {};

// A dataset with the state of its nodes: started passes and caches.
class Model {
 public:
  explicit Model(Tree tree);
  ~Model();

  // The text of the iterator's next element; nullopt at the end.
  std::optional<std::string> next();
  void begin_epoch();
  std::vector<std::string> rest(size_t at_most);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker::model
