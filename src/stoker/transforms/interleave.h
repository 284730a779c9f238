#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Returns the spec of the datasets that a function opens. It is known for stages written as JSON whose input are paths:
// the spec of a reader does not depend on the path. Unknown for other functions.
Spec spec_of_opened(const GraphFunction& function, const Spec& input);

// Opens a dataset for each element and takes elements from cycle_length of them in turn, block_length at a time. The
// order depends only on these two numbers.
struct Interleave {
  static constexpr std::string_view kName = "interleave";
  static constexpr std::string_view kDoc =
      "Open a dataset for each element and take elements from several of them in turn.";
  // The default. tf.data's default is the number of cores, which makes the order depend on the machine.
  static constexpr int64_t kCycleLength = 16;

  GraphFunction map_func;
  std::optional<int64_t> cycle_length;
  std::optional<int64_t> block_length;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  struct State {
    std::vector<int64_t> open;  // for each slot, 1 if a dataset is open in it
    int64_t slot = 0;
    int64_t in_block = 0;
    bool exhausted = false;
    void describe(Fields& f) {
      f("open", open);
      f("slot", slot);
      f("in_block", in_block);
      f("exhausted", exhausted);
    }
  };

  void describe(Fields& f) {
    f.required("map_func", map_func, "function from an element to a dataset");
    f("cycle_length", cycle_length, "number of datasets that are open at the same time; null or -1: 16");
    f("block_length", block_length, "number of consecutive elements from one dataset; null: 1");
    f("num_parallel_calls", num_parallel_calls,
      "accepted for compatibility with tf.data and ignored; open datasets always run in parallel");
    f("deterministic", deterministic, "accepted for compatibility with tf.data and ignored");
  }

  Result<void> check() const;
  bool calls_user() const { return !map_func.written(); }
  PassUse pass_use() const { return map_func.pass_use(); }
  std::vector<Graph> captured() const { return map_func.captured(); }
  State start(const Pass&) const;
  // A state from a damaged checkpoint can contain any numbers.
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec> inputs) const { return spec_of_opened(map_func, inputs[0]); }
  Result<Graph> open_graph(const Element& element) const { return map_func.open(element); }
  int input(const State& state) const;
  int64_t max_rows(const State& state) const;
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const;
  Result<Flow> finish(State& state, Emit& out, Context& context) const;

 private:
  int64_t cycle() const { return cycle_length && *cycle_length > 0 ? *cycle_length : kCycleLength; }
  int64_t block() const { return block_length.value_or(1); }
  void next_slot(State& state) const;
};

}  // namespace stoker
