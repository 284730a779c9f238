// `stoker explain`: prints the segments a graph is divided into, without running it.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"

namespace stoker::cli {
namespace {

Json length_json(int64_t cardinality) {
  if (cardinality == kInfinite) return Json("infinite");
  if (cardinality == kUnknown) return Json("unknown");
  return Json(cardinality);
}

std::string length_text(int64_t cardinality) {
  if (cardinality == kInfinite) return "infinite";
  if (cardinality == kUnknown) return "unknown before the graph has run";
  return grouped(cardinality) + (cardinality == 1 ? " element" : " elements");
}

int explain_on(const Dataset& dataset, const ExplainOptions& options) {
  const Result<std::string> words = dataset.explain();
  const Result<int64_t> length = words ? dataset.cardinality() : Result<int64_t>(words.error());
  if (!length) {
    complain(length.error());
    return kBadData;
  }
  if (!options.json) {
    print(*words);
    print_line("length    " + length_text(*length));
    return kFine;
  }
  Json lines = Json::list();
  for (size_t at = 0; at < words->size();) {
    const size_t end = std::min(words->find('\n', at), words->size());
    lines.push(words->substr(at, end - at));
    at = end + 1;
  }
  Json json = Json::dict();
  json.set("length", length_json(*length));
  json.set("elements", dataset.element_spec().describe());
  json.set("memory_bytes", memory_use().budget);
  json.set("lines", std::move(lines));
  print_line(json.text(2));
  return kFine;
}

}  // namespace

int explain(const ExplainOptions& options) {
  return with_graph(options.graph, [&](const Dataset& dataset) { return explain_on(dataset, options); });
}

const char* const kExplainHelp = R"(
Prints the segments that a graph is divided into (a line that identifies elements
in order, a span of maps that run in parallel, a window that delivers results in
order), which maps are native, how many elements a shuffle holds, the drawn
seeds, and the length.

Examples:
  stoker explain g.json
  stoker explain g.json --json

Exit codes: 0 success; 1 the files that the graph names are missing or damaged;
2 the graph is missing or invalid.)";

}  // namespace stoker::cli
