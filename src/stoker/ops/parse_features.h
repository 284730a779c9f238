#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "stoker/ops/parse_example.h"
#include "stoker/ops/ragged_feature.h"
#include "stoker/ops/sequence_feature.h"
#include "stoker/ops/sparse_features.h"

namespace stoker {

// The features to parse, by the keys of the result. The parser sets `at`, `part` and `steps` of each, and `key` if it
// is empty.
using ExampleFeature =
    std::variant<FixedLenFeature, FixedLenSequenceFeature, VarLenFeature, SparseFeature, RaggedFeature>;
using ExampleSchema = std::vector<std::pair<std::string, ExampleFeature>>;

namespace io {

// Returns a dict of the features of one serialized tf.train.Example, or of a vector of them. Features of varying length
// are sparse or ragged values, which are dicts themselves.
Value parse_single_example(Value serialized, ExampleSchema features);
Value parse_example(Value serialized, ExampleSchema features);

// Returns a tuple of two such dicts: the context and the feature lists of a SequenceExample. For a vector, the tuple
// has a third dict: the lengths of the lists of fixed shape.
Value parse_single_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists);
Value parse_sequence_example(Value serialized, ExampleSchema context, ExampleSchema lists);

}  // namespace io
}  // namespace stoker
