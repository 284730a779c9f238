// `stoker run`: prints the elements of a graph as JSON lines, and saves and
// restores the state of the run.
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/element_json.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/prepare/partial_file.h"

namespace stoker::cli {
namespace {

constexpr size_t kMostListed = 20;

LoaderOptions loader_options(const RunOptions& options) {
  LoaderOptions made;
  if (options.skip_errors) made.on_error = *options.skip_errors ? OnError::kSkip : OnError::kRaise;
  return made;
}

Result<void> restore(Loader& loader, const std::string& path) {
  STOKER_TRY(std::string state, read_text_file(path));
  Result<void> restored = loader.restore(state);
  if (!restored) return Error(restored.error().code(), path + ": " + restored.error().message());
  return {};
}

// Prints elements until the limit, the end, an error, a signal, or until the
// reader of the output is gone.
Result<void> print_elements(Loader& loader, const RunOptions& options) {
  std::string line;
  for (int64_t n = 0; (!options.limit || n < *options.limit) && !interrupted(); ++n) {
    STOKER_TRY(std::optional<Element> element, loader.next());
    if (!element) break;
    if (!options.print) continue;
    line.clear();
    append_json(line, *element);
    print_line(line);
    if (!Output::standard().good()) break;
  }
  Output::standard().flush();
  return {};
}

void say_what_to_try(const Error& error, const RunOptions& options) {
  const std::string& origin = error.place().origin;
  if (origin.empty()) return;
  const bool alone = origin.find_first_of("/(") == std::string::npos && options.graph != "-";
  remark("  try      " + (alone ? fmt::format("stoker replay {} --at {}   or  ", options.graph, origin) : "") +
         "--on-error skip");
}

void list_skipped(Loader& loader) {
  const std::vector<Skipped> skipped = loader.skipped();
  if (skipped.empty()) return;
  const int64_t count = std::max(loader.stats().skipped, std::ssize(skipped));
  remark(fmt::format("{} {} skipped:", grouped(count), count == 1 ? "element was" : "elements were"));
  for (size_t i = 0; i < std::min(skipped.size(), kMostListed); ++i) {
    const Error& error = skipped[i].error;
    const std::string& stage = error.place().stage;
    remark(fmt::format("  {}  {}{}{}", skipped[i].origin, stage, stage.empty() ? "" : ": ", error.message()));
  }
  if (count > static_cast<int64_t>(kMostListed))
    remark(fmt::format("  and {} more", grouped(count - static_cast<int64_t>(kMostListed))));
}

Result<void> save(Loader& loader, const std::string& path) {
  if (Output::standard().reader_gone())
    return Error::precondition(
        "the state was not saved: the reader of the output exited, so the last element that it received is unknown; "
        "stop with --limit instead");
  STOKER_TRY(std::string state, loader.save());
  const Uninterrupted until_done;
  return prepare::write_file(path, state + "\n");
}

int run_on(const Dataset& dataset, const RunOptions& options) {
  if (!options.save.empty())
    if (const Result<void> checked = prepare::check_writable(options.save); !checked) {
      complain(checked.error().message());
      return kWrongUse;
    }
  Loader loader(dataset, loader_options(options));
  if (!options.restore.empty())
    if (const Result<void> restored = restore(loader, options.restore); !restored) {
      complain(restored.error().message());
      return kWrongUse;
    }

  int status = kFine;
  if (const Result<void> printed = print_elements(loader, options); !printed) {
    complain(printed.error());
    say_what_to_try(printed.error(), options);
    status = kBadData;
  }
  list_skipped(loader);
  if (!options.save.empty())
    if (const Result<void> saved = save(loader, options.save); !saved) {
      complain(saved.error().message());
      status = kBadData;
    }
  return interrupted() ? interrupted_status() : status;
}

}  // namespace

int run(const RunOptions& options) {
  return with_graph(options.graph, [&](const Dataset& dataset) { return run_on(dataset, options); });
}

const char* const kRunHelp = R"(
Each element is one line: a value, a list (a tuple or an array), or an object (a
dict). Bytes that are not UTF-8 are printed as {"base64": ...}, and non-finite
numbers as "nan", "inf" or "-inf".

If an element fails, the error and the element's origin are printed on standard
error. With --on-error raise, the run stops there. A state saved then continues
after the failed element. With --on-error skip, the run continues and lists the
skipped elements at the end.

Examples:
  stoker run g.json
  stoker run g.json --limit 100 --save state.json
  stoker run g.json --restore state.json          print the remaining elements
  stoker run g.json --on-error skip > elements.jsonl
  cat g.json | stoker run - --print none          only check that it runs

Exit codes: 0 success, also if elements were skipped; 1 an element failed, or an
output could not be written; 2 the graph or the saved state is missing or
invalid; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
