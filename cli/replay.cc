// `stoker replay`: makes one element again, from the origin an error named.
#include "cli/commands.h"
#include "cli/element_json.h"
#include "cli/files.h"
#include "cli/terminal.h"
#include "stoker/api/dataset.h"

namespace stoker::cli {
namespace {

// The element's own failure, and not one of asking for it.
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
    line += ",\"type\":" + Json(element->spec().words()).text() + ",\"element\":";
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

}  // namespace stoker::cli
