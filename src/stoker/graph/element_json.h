#pragma once

#include "stoker/core/element.h"
#include "stoker/graph/json.h"

namespace stoker {

// The structure and types of elements in checkpoints: {"nest": structure, "dtypes": ["int64", …]}. A structure is "x"
// for an array, a list for a tuple, and a dict.

Json nest_to_json(const Nest& nest);
// Fails with InvalidArgument if the JSON is not a structure.
Result<const Nest*> nest_from_json(const Json& json);

Json type_to_json(const ElementType& type);
// Fails with InvalidArgument if the JSON is not the type of an element.
Result<ElementType> type_from_json(const Json& json);

}  // namespace stoker
