#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/stoker.h"

namespace stoker {

// ---- short-hand of stage tests

using Values = std::vector<int64_t>;
using Sizes = std::vector<int64_t>;

// 0, 1, …, n - 1.
Dataset numbers(int64_t n);
// The elements of one pass as integers: a tuple gives its last component, an
// array its items one after the other. An error fails the test.
Values values(const Dataset& dataset);
// Likewise, with errors as -1 000 000 at their places.
Values values_and_errors(const Dataset& dataset);
// Elements of one pass; an error fails the test.
std::vector<Element> elements(const Dataset& dataset);
// The first dimension of each batch.
Sizes sizes(const Dataset& dataset);
// Everything a loader still gives, an error as its message.
std::vector<std::string> words_of_rest(Loader& loader, int64_t at_most = 1'000'000);
std::vector<std::string> words_of(const Dataset& dataset, LoaderOptions options = {});
// The message of what is wrong with the data set; "" when nothing is.
std::string error_of(const Dataset& dataset);
// The message of the first error that one pass gives; "" when none.
std::string first_error(const Dataset& dataset);

// Sets workers and memory of the process while it lives.
class WithResources {
 public:
  explicit WithResources(Resources resources);
  ~WithResources();

 private:
  Resources previous_;
};

// ---- stages for tests

// Fails the elements whose number is 3 modulo `every`.
struct FailSome {
  static constexpr std::string_view kName = "fail_some";
  static constexpr std::string_view kDoc = "Fails some elements.";
  int64_t every = 7;
  void describe(Fields& f) { f("every", every); }
  Result<Element> apply(Element element, Context&) const;
};

// Takes a different time for each element, by spinning: results arrive out of
// order.
struct Jitter {
  static constexpr std::string_view kName = "jitter";
  static constexpr std::string_view kDoc = "Takes a different time for each element.";
  int64_t seed = 0;
  int64_t most = 2000;  // turns of a loop
  void describe(Fields& f) {
    f("seed", seed);
    f("most", most);
  }
  Result<Element> apply(Element element, Context& context) const;
};

// Adds a random number below 1000: shows that randomness hangs on the element.
struct AddNoise {
  static constexpr std::string_view kName = "add_noise";
  static constexpr std::string_view kDoc = "Adds a random number.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context& context) const;
};

// ---- the laws' list of stages

// One data set that shows a stage at work; the laws run on each.
struct StageExample {
  std::string name;
  std::function<Dataset()> make;
};
std::vector<StageExample>& stage_examples();

struct RegisterExample {
  RegisterExample(std::string name, std::function<Dataset()> make) {
    stage_examples().push_back({std::move(name), std::move(make)});
  }
};

inline std::ostream& operator<<(std::ostream& out, const StageExample& example) { return out << example.name; }

#define STOKER_EXAMPLE_JOIN(a, b) a##b
#define STOKER_EXAMPLE_NAME(line) STOKER_EXAMPLE_JOIN(stoker_stage_example_, line)
// STAGE_EXAMPLE(Take{.count = 3}, numbers(10)): the stage behind an input.
#define STAGE_EXAMPLE(...)                                              \
  static const ::stoker::RegisterExample STOKER_EXAMPLE_NAME(__LINE__)( \
      #__VA_ARGS__, [] { return ::stoker::behind_input(__VA_ARGS__); })
// DATASET_EXAMPLE(numbers(10).zip(…)): a whole data set.
#define DATASET_EXAMPLE(...) \
  static const ::stoker::RegisterExample STOKER_EXAMPLE_NAME(__LINE__)(#__VA_ARGS__, [] { return __VA_ARGS__; })

template <typename T>
Dataset behind_input(T stage, const Dataset& input) {
  return input.then(std::move(stage));
}

}  // namespace stoker
