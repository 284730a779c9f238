// `stoker index`: where the records of TFRecord files begin, kept beside them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/outcomes.h"
#include "cli/picture_check.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/io/file.h"
#include "stoker/sources/range.h"
#include "stoker/sources/record_index.h"
#include "stoker/transforms/map.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 20;

// How many records have each label.
using LabelCounts = std::map<int64_t, int64_t>;

// What became of one file.
struct Indexed {
  std::string path;
  int64_t bytes = 0;
  int64_t records = 0;
  std::string index;  // where it is kept
  bool beside = true;
  bool fresh = false;                      // made now
  std::optional<LabelCounts> labels = {};  // where the index has them
  std::optional<Error> error = {};
};

Result<std::vector<int64_t>> labels_of(Bytes file, const std::vector<int64_t>& places, const std::string& name) {
  std::vector<int64_t> labels;
  for (const int64_t place : places) {
    if (interrupted()) return Error::cancelled();
    const Bytes rest = file.substr(static_cast<size_t>(place));
    const RecordParser::Step step = RecordParser(place).step(rest, static_cast<int64_t>(rest.size()));
    if (step.error) return *step.error;
    const Result<int64_t> label = label_in(step.payload, name);
    if (!label) return Error::corrupt("record ", labels.size(), " at byte ", place, ": ", label.error().message());
    labels.push_back(*label);
  }
  return labels;
}

Result<FileIndex> labelled(const std::string& path, const std::string& name) {
  STOKER_TRY(const MappedFile file, MappedFile::open(path));
  const std::vector<int64_t> places = places_of_records(file.bytes());
  STOKER_TRY(const std::vector<int64_t> labels, labels_of(file.bytes(), places, name));
  if (file.was_cut()) return Error::corrupt("it was cut short while it was read");
  return FileIndex::of(path, static_cast<int64_t>(file.bytes().size()), places, labels);
}

Result<void> check_kind(const InputFile& file) {
  if (file.unreadable) return *file.unreadable;
  if (file.kind == InputFile::Kind::kPicture) return Error::invalid("it is a picture, not a TFRecord file");
  if (file.compression == Compression::kNone) return {};
  return Error::invalid(
      "it is compressed, and a compressed file can only be read from its front; unpack it, or "
      "write it again without compression");
}

// One stretch of damage from the first byte to the last is no TFRecord file.
Result<void> check_records(const InputFile& file, const FileIndex& index) {
  if (index.view().records() != 1) return {};
  STOKER_TRY(const MappedFile mapped, MappedFile::open(file.path));
  if (mapped.bytes().size() >= kRecordHeaderBytes && record_length(mapped.bytes())) return {};
  return Error::corrupt("no whole record was found in it: it is no TFRecord file");
}

Result<void> keep(const FileIndex& index, Indexed& result) {
  const std::vector<std::string> places = index_paths_of(result.path);
  result.index = places[0];
  Result<void> beside = index.keep_beside(result.path);
  if (beside) return {};
  result.beside = false;
  if (places.size() < 2) return beside;
  result.index = places[1];
  return index.keep_in_cache(result.path);
}

std::optional<LabelCounts> counted(const IndexView& index) {
  if (!index.has_labels()) return std::nullopt;
  LabelCounts counts;
  for (int64_t record = 0; record < index.records(); ++record) ++counts[index.label(record)];
  return counts;
}

Result<void> index_file(const InputFile& file, const std::string& label, Indexed& result) {
  STOKER_TRY(check_kind(file));
  std::optional<FileIndex> index = label.empty() ? FileIndex::kept(file.path) : std::nullopt;
  result.fresh = !index;
  if (!index) {
    STOKER_TRY(index, label.empty() ? FileIndex::made(file.path) : labelled(file.path, label));
    STOKER_TRY(check_records(file, *index));
  }
  result.records = index->view().records();
  result.labels = counted(index->view());
  result.index = index_paths_of(file.path)[0];
  if (!result.fresh && fs::exists(result.index)) return {};
  return keep(*index, result);
}

Result<std::vector<Indexed>> index_all(const IndexOptions& options, const Inputs& inputs) {
  const auto count = static_cast<int64_t>(inputs.files.size());
  Outcomes<int64_t, Indexed> outcomes;
  const Dataset work = Dataset::range({.stop = count}).map({.map_func = [&](int64_t i) {
    const InputFile& file = inputs.files[static_cast<size_t>(i)];
    Indexed result{file.path, file.bytes};
    if (const Result<void> done = index_file(file, options.label, result); !done) result.error = done.error();
    outcomes.put(i, std::move(result));
    return i;
  }});
  Loader loader(work, {.interrupted = [] { return interrupted(); }});
  Progress progress({"files", count, Progress::By::kThings, options.quiet});
  std::vector<Indexed> results;
  for (int64_t i = 0; i < count; ++i) {
    STOKER_TRY(loader.next());
    results.push_back(outcomes.take(i));
    progress.advance(1, results.back().bytes);
  }
  return results;
}

Json json_of(const LabelCounts& counts) {
  Json json = Json::dict();
  for (const auto& [label, count] : counts) json.set(std::to_string(label), count);
  return json;
}

Json json_of(const std::vector<Indexed>& results) {
  Json files = Json::list();
  for (const Indexed& result : results) {
    Json one = Json::dict();
    one.set("path", json_text(result.path));
    one.set("bytes", result.bytes);
    if (result.error) {
      one.set("error", json_text(result.error->message()));
    } else {
      one.set("records", result.records);
      one.set("index", json_text(result.index));
      one.set("made", result.fresh);
      if (result.labels) one.set("labels", json_of(*result.labels));
    }
    files.push(std::move(one));
  }
  Json json = Json::dict();
  json.set("files", std::move(files));
  return json;
}

void say_labels(const std::vector<Indexed>& results) {
  LabelCounts all;
  for (const Indexed& result : results)
    for (const auto& [label, count] : result.labels.value_or(LabelCounts())) all[label] += count;
  if (all.empty()) return;
  print_line(plural(static_cast<int64_t>(all.size()), "label", "labels") + ":");
  size_t listed = 0;
  for (const auto& [label, count] : all) {
    if (listed++ == kMostListed) return print_line("  …; --json has all");
    print_line(fmt::format("  {}  {}", label, grouped(count)));
  }
}

void say_what_was_done(const std::vector<Indexed>& results, double seconds) {
  int64_t fresh = 0, known = 0, records = 0, in_cache = 0;
  const Indexed* cached = nullptr;
  for (const Indexed& result : results) {
    if (result.error) continue;
    ++(result.fresh ? fresh : known);
    records += result.records;
    if (result.beside) continue;
    ++in_cache;
    cached = &result;
  }
  if (fresh + known > 0)
    print_line(fmt::format("{} in {}, {} indexed now and {} before, in {}", plural(records, "record", "records"),
                           plural(fresh + known, "file", "files"), grouped(fresh), grouped(known),
                           seconds_words(seconds)));
  if (cached)
    print_line(fmt::format("  {} in the cache folder, as the data folder cannot be written: {}",
                           plural(in_cache, "index lies", "indexes lie"),
                           fs::path(cached->index).parent_path().string()));
  say_labels(results);
}

}  // namespace

int index(const IndexOptions& options) {
  const Clock::time_point begun = Clock::now();
  const Result<Inputs> inputs = find_inputs(options.paths);
  if (!inputs) return refuse(inputs.error());
  const Result<std::vector<Indexed>> results = index_all(options, *inputs);
  if (!results) return refuse(results.error());
  if (options.json)
    print_line(json_of(*results).text(2));
  else if (!options.quiet)
    say_what_was_done(*results, seconds_since(begun));
  for (const Indexed& result : *results)
    if (result.error) complain(result.path + ": " + result.error->message());
  const bool failed = std::ranges::any_of(*results, [](const Indexed& result) { return result.error.has_value(); });
  return failed ? kBadData : kFine;
}

}  // namespace stoker::cli
