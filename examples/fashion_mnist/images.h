#pragma once

#include <string>

#include "stoker/api/dataset.h"

namespace fashion_mnist {

// Returns the records of the shards `name` ("train" or "test") in a folder written by
// `stoker pack`.
stoker::Dataset records(const std::string& folder, const std::string& name);

// Decodes records to the input of the network: (float32 [1, 28, 28] in [0, 1], label).
stoker::Dataset decoded(const stoker::Dataset& records);

}  // namespace fashion_mnist
