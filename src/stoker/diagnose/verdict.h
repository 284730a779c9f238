#pragma once

#include <string>
#include <vector>

#include "stoker/diagnose/facts.h"
#include "stoker/graph/json.h"

namespace stoker {

enum class Severity { kNote, kModerate, kSevere };
std::string_view name_of(Severity severity);

// A finding is certain if two independent measurements agree, and probable if
// there is only one.
enum class Confidence { kProbable, kCertain };

// One finding: what is wrong, the measurements that show it, and what to change.
struct Verdict {
  std::string code;   // stable: "INPUT_STAGE", "GIL", …
  std::string about;  // the stage, component or file; may be empty
  Severity severity = Severity::kNote;
  Confidence confidence = Confidence::kCertain;
  std::string headline;
  std::vector<std::string> because;
  std::string fix;
  double lost_share = 0;  // of a step; the fix speeds training up by at most 1 / (1 - lost_share)
  bool speed = false;     // based on the times of one interval: report it only if the next interval agrees
};

// The number of iterators dropped after one batch from which on a loop is assumed
// to create an iterator in every step.
constexpr int64_t kIteratorsRecreated = 5;

// Thresholds for reporting a finding.
struct Gates {
  int64_t steps = 20;           // minimum for findings about speed
  double seconds = 10;          // minimum for findings about speed
  double shown = 0.05;          // minimum share of a step that is spent waiting
  double severe = 0.20;         // share from which on a finding is severe
  double silence_seconds = 30;  // time without a first batch
};

// Returns the findings, the most costly first; empty if nothing is wrong. Pure
// function, safe from any thread.
std::vector<Verdict> judge(const RunFacts& facts, const Gates& gates = {});

// Several lines for a terminal: headline, reasons, fix, maximum speedup.
std::string describe(const Verdict& verdict);
Json to_json(const Verdict& verdict);

}  // namespace stoker
