// The table of all stages and operations, from stages.def and ops.def.
#include "stoker/api/dataset.h"

namespace stoker {

#define SOURCE(method, Type) const StageType& stage_type_##method();
#define JOIN SOURCE
#define STAGE SOURCE
#define ENGINE SOURCE
#include "stoker/api/stages.def"
#undef SOURCE
#undef JOIN
#undef STAGE
#undef ENGINE

#define OP(name, ...) const OpType& op_type_##name();
#include "stoker/api/ops.def"
#undef OP

namespace {

class AllStages final : public Registry {
 public:
  AllStages() {
#define SOURCE(method, Type) stages_.push_back(&stage_type_##method());
#define JOIN SOURCE
#define STAGE SOURCE
#define ENGINE SOURCE
#include "stoker/api/stages.def"
#undef SOURCE
#undef JOIN
#undef STAGE
#undef ENGINE
#define OP(name, ...) ops_.push_back(&op_type_##name());
#include "stoker/api/ops.def"
#undef OP
  }
  std::span<const StageType* const> stages() const override { return stages_; }
  std::span<const OpType* const> ops() const override { return ops_; }

 private:
  std::vector<const StageType*> stages_;
  std::vector<const OpType*> ops_;
};

}  // namespace

const Registry& registry() {
  static const auto* all = new AllStages;
  return *all;
}

}  // namespace stoker
