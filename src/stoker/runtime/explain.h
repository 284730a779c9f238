#pragma once

#include <cstdint>
#include <string>

#include "stoker/core/spec.h"

namespace stoker {

// Parts of what explain() prints.

// "1.5 MB"
std::string bytes_text(int64_t bytes);
// The size of one element; 0 if its spec does not determine it.
int64_t bytes_of_element(const Spec& spec);

}  // namespace stoker
