#pragma once

#include "stoker/graph/stage.h"

namespace stoker {

// Drops failed elements of its input. Extra errors, which no element stands for, stay.
struct IgnoreErrors {
  static constexpr std::string_view kName = "ignore_errors";
  static constexpr std::string_view kDoc = "Drop elements that failed upstream.";

  bool log_warning = false;

  struct State {
    void describe(Fields&) {}
  };

  void describe(Fields& f) {
    f("log_warning", log_warning,
      "accepted for compatibility with tf.data and ignored; the statistics count dropped elements");
  }

  Result<Flow> step(State&, Run run, Emit& out, Context&) const {
    if (run.failed.empty()) {
      out.put(std::move(run));
      return Flow::kMore;
    }
    std::vector<int32_t> kept;
    for (int32_t row = 0; row < run.size; ++row)
      if (const Failure* failure = run.failure_of(row); !failure || stays(failure->error)) kept.push_back(row);
    if (!kept.empty()) out.put(run.select(kept));
    return Flow::kMore;
  }

 private:
  static bool stays(const Error& error) { return error.ends_program() || error.is_extra(); }
};

}  // namespace stoker
