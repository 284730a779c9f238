#pragma once

#include <string>
#include <vector>

#include "stoker/core/error.h"
#include "stoker/graph/json.h"

// What the commands that read data files (pack, index, verify, inspect) have in common.
namespace stoker::cli {

// The number of entries that a text lists; --json lists all.
constexpr size_t kMostListed = 20;

// Returns a text as JSON; {"base64": …} if it is not UTF-8.
Json json_text(const std::string& text);

// Prints the error and returns its exit code; `paths` are those of the command line. After a signal, prints nothing and
// returns the signal's exit code.
int refuse(const Error& error, const std::vector<std::string>& paths);

}  // namespace stoker::cli
