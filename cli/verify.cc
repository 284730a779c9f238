// `stoker verify`: every checksum, every picture, and the list of the bad.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/outcomes.h"
#include "cli/picture_check.h"
#include "cli/progress.h"
#include "cli/stretches.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/graph/stage_of.h"
#include "stoker/ops/read_file.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::cli {
namespace {

// What is wrong, and where. A loose picture has neither offset nor record.
struct Finding {
  std::string path;
  std::optional<RecordPlace> place;
  std::string what;
};

struct Findings {
  int64_t records = 0;
  int64_t pictures = 0;
  std::vector<Finding> bad;
  std::vector<Finding> damaged;  // but readable

  void add(Findings more) {
    records += more.records;
    pictures += more.pictures;
    std::ranges::move(more.bad, std::back_inserter(bad));
    std::ranges::move(more.damaged, std::back_inserter(damaged));
  }
};

// Looks at one part of the data after the other, on a worker.
class Checker {
 public:
  Checker(const std::string& path, Findings& findings) : path_(path), findings_(findings) {}

  void picture(const std::optional<RecordPlace>& place, const std::string& before, Bytes bytes) {
    ++findings_.pictures;
    const Result<PictureNote> note = decode_to_the_end(bytes);
    if (!note)
      findings_.bad.push_back({path_, place, before + note.error().message()});
    else if (!note->empty())
      findings_.damaged.push_back({path_, place, before + *note});
  }

  void pictures_of(const RecordPlace& place, Bytes record, const PictureFeatures& features) {
    FeatureWalk walk(record);
    while (true) {
      const Result<bool> any = walk.next();
      if (!any) return bad(place, any.error().message());
      if (!*any) return;
      if (features.has(walk.name())) values_of(place, walk);
    }
  }

  void bad(const RecordPlace& place, const std::string& what) { findings_.bad.push_back({path_, place, what}); }

 private:
  void values_of(const RecordPlace& place, const FeatureWalk& walk) {
    const std::string before = fmt::format("feature '{}': ", walk.name());
    const Result<std::vector<Bytes>> values = values_in(walk);
    if (!values) return bad(place, before + values.error().message());
    for (const Bytes value : *values) picture(place, before, value);
  }

  static Result<std::vector<Bytes>> values_in(const FeatureWalk& walk) {
    STOKER_TRY(const Feature feature, walk.feature());
    if (feature.kind == Feature::Kind::kMissing) return std::vector<Bytes>();
    if (feature.kind != Feature::Kind::kBytes) return Error::corrupt("it holds numbers, in other records pictures");
    return strings_in(feature);
  }

  const std::string& path_;
  Findings& findings_;
};

// From the first records of a plain file, for all its stretches.
PictureFeatures features_of(RecordFiles& files, int64_t file) {
  using Kind = RecordParser::Step::Kind;
  PictureFeatures features;
  const auto mapped = files.open(file);
  if (!mapped) return features;
  RecordParser parser;
  Bytes rest = (*mapped)->bytes();
  while (features.wants_more()) {
    const RecordParser::Step step = parser.step(rest, static_cast<int64_t>(rest.size()));
    if (step.kind == Kind::kEnd) break;
    if (step.kind == Kind::kRecord) features.learn(step.payload);
    rest.remove_prefix(step.consumed);
  }
  return features;
}

Findings check_stretch(RecordFiles& files, const Stretch& stretch, bool pictures) {
  Findings findings;
  Checker checker(files.at(stretch.file).path, findings);
  PictureFeatures features = pictures && stretch.end >= 0 ? features_of(files, stretch.file) : PictureFeatures();
  const auto record = [&](const RecordPlace& place, Bytes payload) {
    ++findings.records;
    if (!pictures) return;
    if (stretch.end < 0 && features.wants_more()) features.learn(payload);
    if (!features.empty()) checker.pictures_of(place, payload, features);
  };
  const auto damage = [&](const RecordPlace& place, const Error& error) { checker.bad(place, error.message()); };
  visit(files, stretch, {record, damage});
  return findings;
}

std::vector<InputFile> of_kind(const Inputs& inputs, InputFile::Kind kind) {
  std::vector<InputFile> files;
  std::ranges::copy_if(inputs.files, std::back_inserter(files),
                       [&](const InputFile& file) { return file.kind == kind; });
  return files;
}

Result<void> check_records(std::vector<InputFile> list, bool pictures, Findings& findings, Progress& progress) {
  const auto files = std::make_shared<RecordFiles>(std::move(list));
  using Key = std::pair<int64_t, int64_t>;
  Outcomes<Key, Findings> outcomes;
  const Dataset work = Dataset::from(RecordStretches{files})
                           .map({.map_func = [&](int64_t file, int64_t begin, int64_t end, int64_t record) {
                             outcomes.put({file, begin}, check_stretch(*files, {file, begin, end, record}, pictures));
                             return std::tuple(file, begin, end);
                           }});
  Loader loader(work, {.interrupted = [] { return interrupted(); }});
  while (true) {
    STOKER_TRY(const std::optional<Element> done, loader.next());
    if (!done) return {};
    const auto file = done->leaves[0].scalar<int64_t>(), begin = done->leaves[1].scalar<int64_t>(),
               end = done->leaves[2].scalar<int64_t>();
    Findings found = outcomes.take({file, begin});
    progress.advance(found.records, end < 0 ? files->at(file).bytes : end - begin);
    findings.add(std::move(found));
  }
}

// Files are read ahead by the engine's waiting threads, and decoded by its workers.
Result<void> check_pictures(const std::vector<InputFile>& files, Findings& findings, Progress& progress) {
  const auto count = static_cast<int64_t>(files.size());
  Outcomes<int64_t, Findings> outcomes;
  const auto path_of = [&](int64_t i) { return files[static_cast<size_t>(i)].path; };
  const Dataset work = Dataset::range({.stop = count})
                           .map({.map_func = [&](int64_t i) { return std::tuple(i, path_of(i)); }})
                           .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
                           .map({.map_func = [&](int64_t i, const Array& bytes) {
                             Findings found;
                             Checker(path_of(i), found).picture(std::nullopt, "", bytes.bytes());
                             outcomes.put(i, std::move(found));
                             return i;
                           }});
  Loader loader(work, {.interrupted = [] { return interrupted(); }});
  for (int64_t i = 0; i < count; ++i) {
    const Result<std::optional<Element>> done = loader.next();
    if (interrupted()) return Error::cancelled();
    if (done)
      findings.add(outcomes.take(i));
    else
      findings.bad.push_back({path_of(i), std::nullopt, done.error().message()});
    progress.advance(1, files[static_cast<size_t>(i)].bytes);
  }
  return {};
}

Result<Findings> check(const VerifyOptions& options, const Inputs& inputs) {
  int64_t bytes = 0;
  for (const InputFile& file : inputs.files) bytes += file.bytes;
  const std::vector<InputFile> records = of_kind(inputs, InputFile::Kind::kRecords);
  const std::vector<InputFile> pictures = of_kind(inputs, InputFile::Kind::kPicture);
  Progress progress({records.empty() ? "pictures" : "records", bytes, Progress::By::kBytes, options.quiet});
  Findings findings;
  if (!records.empty()) STOKER_TRY(check_records(records, options.pictures, findings, progress));
  if (!pictures.empty() && options.pictures) STOKER_TRY(check_pictures(pictures, findings, progress));
  if (interrupted()) return Error::cancelled();
  return findings;
}

// ---- telling

Json json_of(const std::vector<Finding>& findings, const char* key) {
  Json list = Json::list();
  for (const Finding& finding : findings) {
    Json one = Json::dict();
    one.set("path", json_text(finding.path));
    if (finding.place) {
      one.set("offset", finding.place->offset);
      one.set("record", finding.place->record);
    }
    one.set(key, json_text(finding.what));
    list.push(std::move(one));
  }
  return list;
}

Json json_of(const Findings& findings, const Inputs& inputs, int64_t bytes) {
  Json json = Json::dict();
  json.set("files", static_cast<int64_t>(inputs.files.size()));
  json.set("bytes", bytes);
  json.set("records", findings.records);
  json.set("pictures", findings.pictures);
  json.set("left_out", inputs.left_out);
  json.set("bad", json_of(findings.bad, "error"));
  json.set("damaged", json_of(findings.damaged, "note"));
  return json;
}

void list(const std::vector<Finding>& findings, const char* heading) {
  if (findings.empty()) return;
  print_line(fmt::format("{} {}:", grouped(static_cast<int64_t>(findings.size())), heading));
  for (const Finding& finding : findings) {
    const std::string place =
        finding.place ? fmt::format(", record {} at byte {}", finding.place->record, finding.place->offset) : "";
    print_line("  " + harmless(finding.path + place + ": " + finding.what));
  }
}

void say_what_was_found(const Findings& findings, const Inputs& inputs, int64_t bytes, double seconds) {
  list(findings.bad, "bad");
  list(findings.damaged, "damaged but readable");
  const std::string rate = bytes_words(static_cast<double>(bytes) / seconds);
  print_line(fmt::format("{}, {}, {}, {} in {}, {}/s", plural(findings.records, "record", "records"),
                         plural(findings.pictures, "picture", "pictures"),
                         plural(static_cast<int64_t>(inputs.files.size()), "file", "files"),
                         bytes_words(static_cast<double>(bytes)), seconds_words(seconds), rate));
  if (inputs.left_out > 0)
    print_line(fmt::format("  {} left out: hidden, or neither records nor pictures",
                           plural(inputs.left_out, "file was", "files were")));
  if (findings.bad.empty()) print_line(findings.damaged.empty() ? "all is well" : "nothing is bad");
}

}  // namespace

int verify(const VerifyOptions& options) {
  const Clock::time_point begun = Clock::now();
  const Result<Inputs> inputs = find_inputs(options.paths);
  if (!inputs) return refuse(inputs.error());
  const Result<Findings> findings = check(options, *inputs);
  if (!findings) return refuse(findings.error());
  int64_t bytes = 0;
  for (const InputFile& file : inputs->files) bytes += file.bytes;
  if (options.json)
    print_line(json_of(*findings, *inputs, bytes).text(2));
  else
    say_what_was_found(*findings, *inputs, bytes, seconds_since(begun));
  return findings->bad.empty() ? kFine : kBadData;
}

}  // namespace stoker::cli
