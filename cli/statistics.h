#pragma once

#include <string>

#include "stoker/graph/json.h"

namespace stoker::cli {

// The seconds that all stages together were busy, from Loader::stats().
double busy_seconds(const Json& stats);

// The stages of Loader::stats(), a row each, with their share of the busy time.
std::string stage_table(const Json& stats);

double number_of(const Json& json, std::string_view key);
std::string text_of(const Json& json, std::string_view key);

}  // namespace stoker::cli
