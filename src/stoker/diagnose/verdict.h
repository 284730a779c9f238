#pragma once

#include <string>
#include <vector>

#include "stoker/diagnose/facts.h"
#include "stoker/graph/json.h"

namespace stoker {

enum class Severity { kNote, kModerate, kSevere };
std::string_view name_of(Severity severity);

// Two signals that do not depend on one another make "because"; one, "probably".
enum class Confidence { kProbable, kCertain };

// One finding: a sentence with its numbers, why, and what to do.
struct Verdict {
  std::string code;   // stable: "INPUT_STAGE", "GIL", …
  std::string about;  // the stage, component or file; may be empty
  Severity severity = Severity::kNote;
  Confidence confidence = Confidence::kCertain;
  std::string headline;
  std::vector<std::string> because;
  std::string fix;
  double lost_share = 0;  // of the step; the fix can give 1 / (1 - this) at most
  bool speed = false;     // from the times of one window: to be told when the next agrees
};

// So many iterators dropped after one batch are a loop that makes one at every step.
constexpr int64_t kIteratorsRecreated = 5;

// When something is said. A cause costs `shown` of the step at least.
struct Gates {
  int64_t steps = 20;   // nothing about speed before so many
  double seconds = 10;  // and so long
  double shown = 0.05;
  double severe = 0.20;
  double silence_seconds = 30;  // with no batch at all
};

// What is wrong, the costliest first; empty when nothing is.
std::vector<Verdict> judge(const RunFacts& facts, const Gates& gates = {});

// For a terminal: headline, because, what to do.
std::string words_of(const Verdict& verdict);
Json to_json(const Verdict& verdict);

}  // namespace stoker
