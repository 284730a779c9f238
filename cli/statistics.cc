#include "cli/statistics.h"

#include <algorithm>

#include "cli/terminal.h"

namespace stoker::cli {
namespace {

const Json::List& stages_of(const Json& stats) {
  static const Json::List none;
  const Json* stages = stats.find("stages");
  const Json::List* list = stages ? stages->as<Json::List>() : nullptr;
  return list ? *list : none;
}

}  // namespace

double number_of(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  if (!found) return 0;
  if (const auto* whole = found->as<int64_t>()) return static_cast<double>(*whole);
  const auto* number = found->as<double>();
  return number ? *number : 0;
}

std::string text_of(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  const auto* text = found ? found->as<std::string>() : nullptr;
  return text ? *text : "";
}

double busy_seconds(const Json& stats) {
  double busy = 0;
  for (const Json& stage : stages_of(stats)) busy += number_of(stage, "busy_seconds");
  return busy;
}

std::string stage_table(const Json& stats) {
  const double busy = std::max(busy_seconds(stats), 1e-12);
  Table table({"stage", "elements", "bytes", "each", "busy", "share", "working", "starved", "blocked"});
  for (const Json& stage : stages_of(stats)) {
    const double own = number_of(stage, "busy_seconds");
    table.add({text_of(stage, "stage"), count_words(number_of(stage, "elements")),
               bytes_words(number_of(stage, "bytes")), seconds_words(number_of(stage, "mean_ns") * 1e-9),
               seconds_words(own), percent_words(own / busy), percent_words(number_of(stage, "working")),
               percent_words(number_of(stage, "starved")), percent_words(number_of(stage, "blocked"))});
  }
  return table.text();
}

}  // namespace stoker::cli
