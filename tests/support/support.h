#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "stoker/stoker.h"

namespace stoker {

// ---- shorthand for stage tests

using Values = std::vector<int64_t>;
using Sizes = std::vector<int64_t>;

// 0, 1, …, n - 1.
Dataset numbers(int64_t n);
// The elements of one pass as integers: the last component of a tuple, and the items
// of an array. An error fails the test.
Values values(const Dataset& dataset);
// The same, with -1,000,000 in place of an error.
Values values_and_errors(const Dataset& dataset);
// The elements of one pass; an error fails the test.
std::vector<Element> elements(const Dataset& dataset);
// The first dimension of each batch.
Sizes sizes(const Dataset& dataset);
// The remaining elements of a loader as text; an error as its message.
std::vector<std::string> text_of_rest(Loader& loader, int64_t at_most = 1'000'000);
std::vector<std::string> text_of(const Dataset& dataset, LoaderOptions options = {});
// The message of the dataset's error; "" if it has none.
std::string error_of(const Dataset& dataset);
// The message of the first error of one pass; "" if there is none.
std::string first_error(const Dataset& dataset);

// Sets the workers and the memory budget of the process during its lifetime.
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

// Spins for a different time for each element, so that results arrive out of order.
struct Jitter {
  static constexpr std::string_view kName = "jitter";
  static constexpr std::string_view kDoc = "Takes a different time for each element.";
  int64_t seed = 0;
  int64_t most = 2000;  // maximum number of loop iterations
  void describe(Fields& f) {
    f("seed", seed);
    f("most", most);
  }
  Result<Element> apply(Element element, Context& context) const;
};

// Adds a random number below 1000, to show that random numbers belong to the element.
struct AddNoise {
  static constexpr std::string_view kName = "add_noise";
  static constexpr std::string_view kDoc = "Adds a random number.";
  void describe(Fields&) {}
  Result<Element> apply(Element element, Context& context) const;
};

// ---- the stages that the laws run on

// A dataset that uses a stage. The laws run on each example.
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
// STAGE_EXAMPLE(Take{.count = 3}, numbers(10)): the stage applied to an input.
#define STAGE_EXAMPLE(...)                                              \
  static const ::stoker::RegisterExample STOKER_EXAMPLE_NAME(__LINE__)( \
      #__VA_ARGS__, [] { return ::stoker::behind_input(__VA_ARGS__); })
// DATASET_EXAMPLE(numbers(10).zip(…)): a complete dataset.
#define DATASET_EXAMPLE(...) \
  static const ::stoker::RegisterExample STOKER_EXAMPLE_NAME(__LINE__)(#__VA_ARGS__, [] { return __VA_ARGS__; })

template <typename T>
Dataset behind_input(T stage, const Dataset& input) {
  return input.then(std::move(stage));
}

}  // namespace stoker
