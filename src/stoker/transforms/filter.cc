#include "stoker/transforms/filter.h"

namespace stoker {

Result<Spec> Filter::spec(std::span<const Spec> inputs) const {
  STOKER_TRY(Spec answer, predicate.spec(inputs[0]));
  const bool fits =
      !answer.known() || (answer.leaves.size() == 1 && answer.leaves[0].type.value_or(DType::kBool) == DType::kBool &&
                          (!answer.leaves[0].shape || answer.leaves[0].shape->empty()));
  if (!fits) return Error::invalid("the predicate returns ", answer.describe(), ", expected one bool");
  return inputs[0];
}

Result<std::vector<uint8_t>> Filter::keep(Run& run, Context& context) const {
  Run answers = run;
  STOKER_TRY(predicate.apply(answers, context));
  std::vector<uint8_t> kept(static_cast<size_t>(run.size), 1);
  for (Failure& failure : answers.failed) run.fail(failure.row, failure.error);
  for (int32_t row = 0; row < run.size; ++row) {
    if (!run.failed.empty() && run.failure_of(row)) continue;
    const Array answer = answers.columns.empty() ? Array() : answers.columns[0].row(row);
    if (answers.columns.size() != 1 || answer.type() != DType::kBool || answer.rank() != 0) {
      run.fail(row, Error::invalid("the predicate returned ", answers.element(row).spec().describe(),
                                   ", expected one bool"));
      continue;
    }
    kept[static_cast<size_t>(row)] = answer.scalar<bool>();
  }
  return kept;
}

}  // namespace stoker
