// Which graphs and files a checkpoint fits.

#include "stoker/runtime/checkpoint.h"

#include <gtest/gtest.h>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

std::string saved_from(const Dataset& dataset) {
  Loader loader(dataset);
  (void)loader.next();
  return loader.save().value();
}

// The error of restoring the checkpoint of one dataset into another; "" if it is accepted.
std::string refusal(const Dataset& saved, const Dataset& other) {
  Loader loader(other);
  const Result<void> restored = loader.restore(saved_from(saved));
  if (restored) return "";
  EXPECT_EQ(restored.error().code(), Code::kFailedPrecondition) << restored.error().describe();
  return restored.error().message();
}

Dataset plus(const Array& constant) {
  return numbers(9).map({.map_func = [constant](Value x) { return cast(x, DType::kFloat64) + Value(constant); }});
}

TEST(CheckpointFit, EveryValueOfALargeConstantIsCompared) {
  std::vector<double> values(5000, 0.0);
  const Array zeros = Array::from(values);
  values[4000] = 7;
  EXPECT_EQ(refusal(plus(zeros), plus(zeros)), "");
  EXPECT_NE(refusal(plus(zeros), plus(Array::from(values))).find("map"), std::string::npos);
}

TEST(CheckpointFit, ParametersOfASourceOfFilesAreComparedAndItsFolderIsNot) {
  const TempDir here, there;
  const auto csv = [](const TempDir& folder, const std::string& delimiter) {
    return Dataset::csv({.filenames = {folder.write("a.csv", "1,2;3\n4,5;6\n7,8;9\n")},
                         .record_defaults = {Array::of_bytes(""), Array::of_bytes("")},
                         .field_delim = delimiter});
  };
  EXPECT_EQ(refusal(csv(here, ","), csv(there, ",")), "");
  EXPECT_NE(refusal(csv(here, ","), csv(here, ";")).find("field_delim"), std::string::npos);
  // A dataset that is a parameter of a stage is no different.
  EXPECT_EQ(refusal(Dataset::zip({.datasets = {numbers(3), csv(here, ",")}}),
                    Dataset::zip({.datasets = {numbers(3), csv(there, ",")}})),
            "");
}

TEST(CheckpointFit, DatasetsThatAFunctionCapturedAreCompared) {
  const auto children = [](const Dataset& inner) {
    const GraphFunction function = [inner](const Element&) { return inner; };
    return numbers(3).flat_map({.map_func = function.identified("gives one dataset", {inner})});
  };
  EXPECT_EQ(refusal(children(numbers(4)), children(numbers(4))), "");
  EXPECT_NE(refusal(children(numbers(4)), children(numbers(5))).find("range"), std::string::npos);
}

}  // namespace
}  // namespace stoker
