// `stoker replay`: recomputes one element, from the origin in an error message.
#include "cli/commands.h"
#include "cli/element_json.h"
#include "cli/files.h"
#include "cli/terminal.h"
#include "stoker/api/dataset.h"

namespace stoker::cli {
namespace {

// True if computing the element failed; false if the origin is invalid.
bool is_of_element(const Error& error) { return !error.place().stage.empty(); }

int replay_on(const Dataset& dataset, const ReplayOptions& options) {
  const Result<Element> element = dataset.replay(options.at);
  if (!element && !is_of_element(element.error())) {
    complain(element.error().message());
    return kWrongUse;
  }
  if (!options.json) {
    if (!element) {
      complain(element.error());
      return kBadData;
    }
    std::string line;
    append_json(line, *element);
    print_line(line);
    return kFine;
  }
  std::string line = "{\"origin\":" + Json(options.at).text();
  if (element) {
    line += ",\"type\":" + Json(element->spec().describe()).text() + ",\"element\":";
    append_json(line, *element);
  } else {
    line += ",\"error\":" + error_to_json(element.error()).text();
  }
  print_line(line + "}");
  return element ? kFine : kBadData;
}

}  // namespace

int replay(const ReplayOptions& options) {
  return with_graph(options.graph, [&](const Dataset& dataset) { return replay_on(dataset, options); });
}

const char* const kReplayHelp = R"(
An ORIGIN is source:position, as errors print it. In passes after the first,
@pass follows: range:18204@2. If possible, only the source and the maps run, for
that one position. A debugger then stops at the failure. Random numbers are the
same as in the run that failed.

Prints the element as `stoker run` does, or the error. --json prints an object
with 'origin', and 'type' and 'element', or 'error'.

Examples:
  stoker replay g.json --at range:17
  stoker replay g.json --at train:18204@2 --json
  gdb --args stoker --workers 0 replay g.json --at range:17

Exit codes: 0 success; 1 the element failed; 2 the graph or the origin is
invalid, or there is no element of that origin.)";

}  // namespace stoker::cli
