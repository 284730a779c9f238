#pragma once

#include <string>
#include <vector>

#include "stoker/graph/json.h"

namespace stoker {

class Fields;

// A parameter as the reference pages, `stoker stages` and the Python signatures show it.
struct ParamDoc {
  std::string name, type, doc;
  bool required = false;
  Json default_value;  // null if the parameter is required
};

// Returns the documentation of each field, in order. The fields must have their default values.
std::vector<ParamDoc> documented(const Fields& fields);

}  // namespace stoker
