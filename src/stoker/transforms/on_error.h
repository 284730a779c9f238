#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// What happens to an element that cannot be made.
struct ErrorPolicy {
  static constexpr std::string_view kName = "on_error";
  static constexpr std::string_view kDoc = "Raise the errors of elements, or skip them up to a share.";

  std::string policy = "raise";
  double at_most = 1.0;

  void describe(Fields& f) {
    f.required("policy", policy, "\"raise\" or \"skip\"");
    f("at_most", at_most, "with \"skip\": the share of elements that may fail");
  }

  Result<void> check() const {
    if (policy != "raise" && policy != "skip")
      return Error::invalid("policy must be \"raise\" or \"skip\", found \"", policy, "\"");
    if (!(at_most >= 0 && at_most <= 1)) return Error::invalid("at_most must be from 0 to 1, found ", at_most);
    return {};
  }
  int64_t cardinality(std::span<const int64_t> inputs) const { return inputs[0]; }
  EngineParams engine() const {
    EngineParams params{.kind = EngineKind::kOnError};
    params.skip = policy == "skip";
    params.at_most = at_most;
    return params;
  }
};

}  // namespace stoker
