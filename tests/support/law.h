#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/support.h"
#include "support/watch.h"

namespace stoker {

// A test of a property that every stage has. It runs on each STAGE_EXAMPLE and
// DATASET_EXAMPLE of the program.
class Law : public testing::TestWithParam<StageExample> {
 protected:
  // Builds the example as a program that sets this seed would.
  Dataset made(uint64_t seed = 7) const {
    set_seed(seed);
    return GetParam().make();
  }

 private:
  WatchScope watch_{GetParam().name};
};

// A numbered name for GoogleTest, such as "Take_count_3_numbers_10".
std::string law_name(const testing::TestParamInfo<StageExample>& info);

#define STOKER_LAW(name)                \
  class name : public ::stoker::Law {}; \
  INSTANTIATE_TEST_SUITE_P(Every, name, ::testing::ValuesIn(::stoker::stage_examples()), ::stoker::law_name)

// The resources to run with: several numbers of workers, and budgets that are large
// enough for the elements that the examples hold.
inline const std::vector<Resources>& places() {
  static const auto* all = new std::vector<Resources>{
      {.workers = 0, .memory_bytes = int64_t{1} << 30}, {.workers = 0, .memory_bytes = int64_t{1} << 15},
      {.workers = 1, .memory_bytes = int64_t{1} << 20}, {.workers = 2, .memory_bytes = int64_t{1} << 15},
      {.workers = 2, .memory_bytes = int64_t{1} << 30}, {.workers = 5, .memory_bytes = int64_t{1} << 16}};
  return *all;
}

}  // namespace stoker
