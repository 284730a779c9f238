#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stoker/stoker.h"

// What tf.data means, as plainly as it can be said: one thread that pulls from
// the end, one element at a time, with nothing ahead, no runs and no windows.
// The engine must agree with it. Written from tf.data's rules and those of
// docs/design/engine.md, and sharing no code with the engine.
namespace stoker::model {

enum class Kind {
  kRange,      // a numbers from b on
  kSlices,     // a rows of b numbers
  kGenerator,  // a numbers, read forward
  kRangeOf,    // in a child: as many numbers as the opening element says, below a
  kMap,        // x * a + b; c chooses how it is written
  kFail,       // fails one element in a, by its value; b is a salt; c throws
  kFilter,     // drops one element in a, by its value; b is a salt
  kDoubt,      // a filter that fails on one in a and drops one in three
  kWiden,      // a number becomes an array of a numbers
  kBatch,      // a; b: drop_remainder
  kUnbatch,
  kShuffle,  // buffer a, seed b; c: the same order in each pass
  kRepeat,   // a; negative: without end
  kTake,     // a
  kSkip,     // a
  kShard,    // a parts, number b
  kZip,
  kConcatenate,
  kEnumerate,  // from a
  kCache,
  kPrefetch,    // a
  kInterleave,  // cycle a, block b; c: one in c elements opens nothing and fails
  kFlatMap,     // c as above
  kIgnoreErrors,
  kAssertCardinality,  // a
  // The model knows no answer for these; runs are compared with one another.
  kNoise,
  kDrawnShuffle,   // buffer a, no seed
  kGlobalShuffle,  // seed a
};

// A graph as a tree of stages and small numbers.
struct Stage {
  Kind kind{};
  int64_t a = 0, b = 0, c = 0;
  std::vector<std::shared_ptr<Stage>> inputs;
  std::shared_ptr<Stage> child;  // what kInterleave and kFlatMap open
};
using Tree = std::shared_ptr<Stage>;

Tree stage(Kind kind, std::vector<Tree> inputs = {}, int64_t a = 0, int64_t b = 0, int64_t c = 0, Tree child = {});
Tree copy_of(const Tree& tree);
std::string words_of(const Tree& tree);
// Whether the model knows what it gives.
bool answered(const Tree& tree);
// Whether every pass that it begins shows in what is delivered. The engine's
// counters rise by delivered passes; the model's by those begun, which may be
// one further where a stage reads ahead of what it gives, and more where a
// pass gives nothing.
bool passes_are_delivered(const Tree& tree);

// The same graph for the engine.
Dataset build(const Tree& tree);

// What a consumer sees: "(x, x) [] 3 [2] 1 2", or "error: …".
std::string words_of(const Element& element);
std::string words_of(const Error& error);
inline bool is_error(const std::string& words) { return words.starts_with("error: "); }

// Thrown where an answer takes too many steps, as where a filter drops
// everything of an endless input.
struct TooLong {};

// One data set with what belongs to its nodes: passes begun and caches.
class Model {
 public:
  explicit Model(Tree tree);
  ~Model();

  // An iterator's next word; nothing at the end.
  std::optional<std::string> next();
  void begin_epoch();
  std::vector<std::string> rest(size_t at_most);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoker::model
