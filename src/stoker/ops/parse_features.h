#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/ops/parse_example.h"
#include "stoker/ops/ragged_feature.h"
#include "stoker/ops/sparse_features.h"

namespace stoker {

// The features that are wanted, by the names they get. Of each, `at`, `part` and
// `steps` are filled in here, and `key` where it is empty.
using ExampleFeature =
    std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, SparseFeature, RaggedFeature>;
using ExampleSchema = std::vector<std::pair<std::string, ExampleFeature>>;

// A dict of the features of one serialized tf.train.Example, or of a vector of
// them. Values of varying length are sparse or ragged: dicts themselves.
Value parse_single_example(Value serialized, ExampleSchema features);
Value parse_example(Value serialized, ExampleSchema features);

// A tuple of two such dicts, for the context of a SequenceExample and for its
// lists. Of a vector of them a third: the lengths of the lists of fixed shapes.
Value parse_single_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists);
Value parse_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists);

}  // namespace stoker
