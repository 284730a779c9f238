#pragma once

#include <span>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

// Reads a whole file. Errors of downstream operations on the bytes name the file.
struct ReadFile {
  static constexpr std::string_view kName = "read_file";
  static constexpr std::string_view kDoc = "Read a whole file and return its bytes.";
  static constexpr int kInputs = 1;
  static constexpr bool kWaits = true;

  void describe(Fields&) {}
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace io {

Value read_file(Value filename);

}  // namespace io
}  // namespace stoker
