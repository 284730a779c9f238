// `stoker index`: prints what prepare::index() returns.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/data.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

// How many records have each label.
using LabelCounts = std::map<int64_t, int64_t>;

Json json_of(const LabelCounts& counts) {
  Json json = Json::dict();
  for (const auto& [label, count] : counts) json.set(std::to_string(label), count);
  return json;
}

Json json_of(const prepare::IndexResult& results) {
  Json files = Json::list();
  for (const prepare::IndexedFile& result : results.files) {
    Json one = Json::dict();
    one.set("path", json_text(result.path));
    one.set("bytes", result.bytes);
    if (result.error) {
      one.set("error", json_text(result.error->message()));
    } else {
      one.set("records", result.records);
      one.set("index", json_text(result.index));
      one.set("made", result.created);
      if (result.labels) one.set("labels", json_of(*result.labels));
    }
    files.push(std::move(one));
  }
  Json json = Json::dict();
  json.set("files", std::move(files));
  return json;
}

void print_labels(const prepare::IndexResult& results) {
  LabelCounts all;
  for (const prepare::IndexedFile& result : results.files)
    for (const auto& [label, count] : result.labels.value_or(LabelCounts())) all[label] += count;
  if (all.empty()) return;
  print_line(plural(static_cast<int64_t>(all.size()), "label", "labels") + ":");
  size_t listed = 0;
  for (const auto& [label, count] : all) {
    if (listed++ == kMostListed) return print_line("  …; --json lists all");
    print_line(fmt::format("  {}  {}", label, grouped(count)));
  }
}

void print_summary(const prepare::IndexResult& results, double seconds) {
  int64_t created = 0, known = 0, records = 0, in_cache = 0;
  const prepare::IndexedFile* cached = nullptr;
  for (const prepare::IndexedFile& result : results.files) {
    if (result.error) continue;
    ++(result.created ? created : known);
    records += result.records;
    if (result.next_to_data) continue;
    ++in_cache;
    cached = &result;
  }
  if (created + known > 0)
    print_line(fmt::format("{} in {}, {} indexed now and {} earlier, in {}", plural(records, "record", "records"),
                           plural(created + known, "file", "files"), grouped(created), grouped(known),
                           seconds_text(seconds)));
  if (cached)
    print_line(fmt::format("  {} in the cache folder, because the data folder cannot be written: {}",
                           plural(in_cache, "index is", "indexes are"),
                           std::filesystem::path(cached->index).parent_path().string()));
  print_labels(results);
}

}  // namespace

int index(const prepare::IndexOptions& options, const PrintOptions& how) {
  const Clock::time_point begun = Clock::now();
  ProgressLine progress(how.quiet);
  const Result<prepare::IndexResult> result = prepare::index(options, progress.updates());
  progress.clear();
  if (!result) return refuse(result.error(), options.paths);
  if (how.json)
    print_line(json_of(*result).text(2));
  else if (!how.quiet)
    print_summary(*result, seconds_since(begun));
  int status = kFine;
  for (const prepare::IndexedFile& file : result->files) {
    if (!file.error) continue;
    complain(file.path + ": " + file.error->message());
    status = kBadData;
  }
  return status;
}

const char* const kIndexHelp = R"(
An index lists where each record of a TFRecord file starts. With it, a dataset has
an exact length, shuffles all records without a buffer, shards them evenly, and
reads them in any order. A dataset creates an index when it needs one. If the
index already exists, the first epoch starts without this delay.

The index is stored next to the data, in .stoker/. If that folder cannot be
written, it is stored in the cache folder: $STOKER_CACHE, or 'stoker' in
$XDG_CACHE_HOME or ~/.cache. A file that has changed is indexed again.

DATA is TFRecord files, patterns, or folders, which are searched recursively.
Compressed files are rejected, because they can only be read from the start. They
are listed as errors, and the other files are indexed.

--label reads every record and stores one of its int64 features. The number of
records with each label is printed then, and by every later `stoker index`, which
reads only the index. A record without the feature is an error.

Examples:
  stoker index packed                            all TFRecord files in a folder
  stoker index 'train-*.tfrecord'
  stoker index packed --label label
  stoker index packed --json | jq '[.files[].records] | add'

Exit codes: 0 all files are indexed; 1 some are not; 2 DATA does not exist or has
neither TFRecord files nor images; 130 interrupted by Ctrl-C.)";

}  // namespace stoker::cli
