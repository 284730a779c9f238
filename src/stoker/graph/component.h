#pragma once

#include "stoker/core/array.h"
#include "stoker/graph/json.h"

namespace stoker {

struct Element;
struct ReadContext;

// {"element": path} in a nested graph: a component of the element that the nested graph is built for. The path is the
// keys that lead to it, joined by "/"; without a path, it is the whole element.

bool is_component(const Json& json);

// Each fails with InvalidArgument if the graph is not nested or the element has no such component.
Result<Element> component_of(const Json& json, const ReadContext& context);
// Fails also if the component is a tuple or a dict.
Result<Array> array_component_of(const Json& json, const ReadContext& context);

// Returns the JSON of the component's values; any other value unchanged.
Result<Json> with_component(const Json& json, const ReadContext& context);

}  // namespace stoker
