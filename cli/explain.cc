// `stoker explain`: what a graph is cut into, before it runs.
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

std::string length_words(int64_t cardinality) {
  if (cardinality == kInfinite) return "without end";
  if (cardinality == kUnknown) return "not known before it has run";
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
    print_line("length    " + length_words(*length));
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
  json.set("elements", dataset.element_spec().words());
  json.set("memory_bytes", memory_use().budget);
  json.set("lines", std::move(lines));
  print_line(json.text(2));
  return kFine;
}

}  // namespace

int explain(const ExplainOptions& options) {
  return with_graph(options.graph, [&](const Dataset& dataset) { return explain_on(dataset, options); });
}

}  // namespace stoker::cli
