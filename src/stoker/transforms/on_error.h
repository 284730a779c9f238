#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Sets what happens to elements that fail: `next` returns their errors, or they are skipped.
struct ErrorPolicy {
  static constexpr std::string_view kName = "on_error";
  static constexpr std::string_view kDoc =
      "Raise the errors of failed elements, or skip these elements up to a fraction.";

  std::string policy = "raise";
  double at_most = 1.0;

  void describe(Fields& f) {
    f.required("policy", policy, "\"raise\" or \"skip\"");
    f("at_most", at_most, "with \"skip\": maximum fraction of elements that may fail, 0 to 1");
  }

  Result<void> check() const {
    if (policy != "raise" && policy != "skip")
      return Error::invalid("policy must be \"raise\" or \"skip\", got \"", policy, "\"");
    if (!(at_most >= 0 && at_most <= 1)) return Error::invalid("at_most must be from 0 to 1, got ", at_most);
    return {};
  }
  // With "skip", how many elements remain is unknown in advance. An infinite input stays infinite.
  int64_t cardinality(std::span<const int64_t> inputs) const {
    return policy == "skip" && inputs[0] >= 0 ? kUnknown : inputs[0];
  }
  ErrorPolicyParams engine() const { return {.skip = policy == "skip", .at_most = at_most}; }
};

}  // namespace stoker
