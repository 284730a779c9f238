#pragma once

#include <span>
#include <vector>

#include "stoker/graph/stage.h"

namespace stoker {

#define OP(name, ...) const OpType& op_type_##name();
#include "stoker/api/ops.def"
#undef OP

// A table of the operations without stages, for tests that need no stages.
class OpsRegistry final : public Registry {
 public:
  OpsRegistry() {
#define OP(name, ...) ops_.push_back(&op_type_##name());
#include "stoker/api/ops.def"
#undef OP
  }
  std::span<const StageType* const> stages() const override { return {}; }
  std::span<const OpType* const> ops() const override { return ops_; }

 private:
  std::vector<const OpType*> ops_;
};

}  // namespace stoker
