#pragma once

#include <string>

#include "stoker/api/dataset.h"

namespace fashion_mnist {

// The records of a folder that `stoker pack` has written: "train" or "test".
stoker::Dataset records(const std::string& folder, const std::string& name);

// From records to what the network takes: (float32 [1, 28, 28] from 0 to 1, label).
stoker::Dataset decoded(const stoker::Dataset& records);

}  // namespace fashion_mnist
