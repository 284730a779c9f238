#pragma once

#include "stoker/graph/function.h"

namespace stoker {

// Opens a data set for each element and takes from cycle_length of them in
// turn, block_length elements at a time. The order depends on these numbers
// alone.
struct Interleave {
  static constexpr std::string_view kName = "interleave";
  static constexpr std::string_view kDoc = "Open a data set for each element and take from several in turn.";
  static constexpr bool kSeesFailures = true;
  // What is open at once when the user does not say; tf.data takes the number
  // of cores, which makes the order depend on the machine.
  static constexpr int64_t kCycleLength = 16;

  GraphFunction map_func;
  std::optional<int64_t> cycle_length;
  std::optional<int64_t> block_length;
  std::optional<int64_t> num_parallel_calls;
  std::optional<bool> deterministic;

  struct State {
    std::vector<int64_t> open;  // by slot: 1 when a data set is open there
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
    f.required("map_func", map_func, "from an element to a data set");
    f("cycle_length", cycle_length, "how many are open at once; null or -1: 16");
    f("block_length", block_length, "how many elements from one before the next; null: 1");
    f("num_parallel_calls", num_parallel_calls, "taken for tf.data's sake; open data sets run in parallel anyway");
    f("deterministic", deterministic, "taken for tf.data's sake");
  }

  Result<void> check() const;
  bool calls_user() const { return !map_func.written(); }
  State start(const Pass&) const;
  // What a checkpoint brought may be anything.
  Result<void> check_state(const State& state) const;
  Result<Spec> spec(std::span<const Spec>) const { return Spec::unknown(); }
  Result<Graph> open_graph(const Element& element) const { return map_func.open(element); }
  int input(const State& state) const;
  int64_t appetite(const State& state) const;
  Result<Flow> step(State& state, Run run, Emit& out, Context& context) const;
  Result<Flow> finish(State& state, Emit& out, Context& context) const;

 private:
  int64_t cycle() const { return cycle_length && *cycle_length > 0 ? *cycle_length : kCycleLength; }
  int64_t block() const { return block_length.value_or(1); }
  void next_slot(State& state) const;
};

}  // namespace stoker
