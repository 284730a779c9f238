#include "cli/statistics.h"

#include <algorithm>

#include "cli/terminal.h"

namespace stoker::cli {
double busy_seconds(const LoaderStats& stats) {
  double busy = 0;
  for (const StageStats& stage : stats.stages) busy += stage.busy_seconds;
  return busy;
}

std::string stage_table(const LoaderStats& stats) {
  const double busy = std::max(busy_seconds(stats), 1e-12);
  Table table({"stage", "elements", "bytes", "each", "busy", "share", "working", "starved", "blocked"});
  for (const StageStats& stage : stats.stages)
    table.add({stage.stage, count_text(static_cast<double>(stage.elements)),
               bytes_text(static_cast<double>(stage.bytes)), seconds_text(stage.mean_ns * 1e-9),
               seconds_text(stage.busy_seconds), percent_text(stage.busy_seconds / busy), percent_text(stage.working),
               percent_text(stage.starved), percent_text(stage.blocked)});
  return table.text();
}

}  // namespace stoker::cli
