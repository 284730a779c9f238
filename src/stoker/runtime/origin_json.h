#pragma once

#include "stoker/core/element.h"
#include "stoker/graph/json.h"

namespace stoker {

Json origin_to_json(const Origin& origin);
Result<Origin> origin_from_json(const Json& json);

// A run of one row with its values, as a checkpoint stores an element.
Result<Json> row_to_json(const Run& run);
Result<Run> row_from_json(const Json& json);

}  // namespace stoker
