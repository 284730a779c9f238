#pragma once

#include <functional>
#include <string>

#include "stoker/api/dataset.h"

// The files that a command reads: graphs and saved states.
namespace stoker::cli {

// Calls `body` with the dataset of a graph file ("-" is standard input) and
// returns its result. Prints an error and returns kWrongUse if the graph is
// missing or invalid, and kBadData if files that it names are missing or damaged.
int with_graph(const std::string& path, const std::function<int(const Dataset&)>& body);

// Reads a whole file, which may be a pipe.
Result<std::string> read_text_file(const std::string& path);

}  // namespace stoker::cli
