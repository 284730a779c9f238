// `stoker inspect`: what records and pictures are like, and a sheet of them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands.h"
#include "cli/data_facts.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/outcomes.h"
#include "cli/picture_check.h"
#include "cli/progress.h"
#include "cli/sheet.h"
#include "cli/stretches.h"
#include "cli/terminal.h"
#include "stoker/api/loader.h"
#include "stoker/graph/stage_of.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostListed = 20;

struct Facts {
  std::vector<InputFile> record_files;
  std::vector<InputFile> picture_files;
  int64_t left_out = 0;
  int64_t bytes = 0;
  DataFacts data;
  std::vector<int64_t> records_in;         // of each record file
  PictureFacts loose;                      // of picture files
  std::map<std::string, int64_t> folders;  // picture files in each
  std::vector<std::string> classes;        // by label, from labels.txt
};

// ---- finding out

Result<void> look_at_records(Facts& facts, Progress& progress) {
  const auto files = std::make_shared<RecordFiles>(facts.record_files);
  using Key = std::pair<int64_t, int64_t>;
  Outcomes<Key, DataFacts> outcomes;
  const Dataset work = Dataset::from(RecordStretches{files})
                           .map({.map_func = [&](int64_t file, int64_t begin, int64_t end, int64_t record) {
                             outcomes.put({file, begin}, facts_of(*files, {file, begin, end, record}));
                             return std::tuple(file, begin, end);
                           }});
  Loader loader(work, {.interrupted = [] { return interrupted(); }});
  facts.records_in.resize(facts.record_files.size());
  while (true) {
    STOKER_TRY(const std::optional<Element> done, loader.next());
    if (!done) return {};
    const auto file = done->leaves[0].scalar<int64_t>(), begin = done->leaves[1].scalar<int64_t>(),
               end = done->leaves[2].scalar<int64_t>();
    DataFacts found = outcomes.take({file, begin});
    facts.records_in[static_cast<size_t>(file)] += found.records.count + found.damaged;
    progress.advance(found.records.count, end < 0 ? files->at(file).bytes : end - begin);
    facts.data.add(std::move(found));
  }
}

// Of the file's header alone.
PictureFacts facts_of(const InputFile& file) {
  PictureFacts facts;
  const Result<MappedFile> mapped = MappedFile::open(file.path);
  if (mapped)
    facts.add(mapped->bytes());
  else
    ++facts.unreadable;
  return facts;
}

Result<void> look_at_pictures(Facts& facts, Progress& progress) {
  const auto count = static_cast<int64_t>(facts.picture_files.size());
  Outcomes<int64_t, PictureFacts> outcomes;
  const Dataset work = Dataset::range({.stop = count}).map({.map_func = [&](int64_t i) {
    outcomes.put(i, facts_of(facts.picture_files[static_cast<size_t>(i)]));
    return i;
  }});
  Loader loader(work, {.interrupted = [] { return interrupted(); }});
  for (int64_t i = 0; i < count; ++i) {
    STOKER_TRY(loader.next());
    facts.loose.add(outcomes.take(i));
    const InputFile& file = facts.picture_files[static_cast<size_t>(i)];
    ++facts.folders[fs::path(file.path).parent_path().filename().string()];
    progress.advance(1, file.bytes);
  }
  return {};
}

std::vector<std::string> classes_beside(const std::string& file) {
  const Result<std::string> text = read_text_file((fs::path(file).parent_path() / "labels.txt").string());
  std::vector<std::string> classes;
  if (!text) return classes;
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    classes.push_back(text->substr(at, end - at));
    at = end + 1;
  }
  return classes;
}

Result<Facts> look_at(const InspectOptions& options) {
  STOKER_TRY(Inputs inputs, find_inputs(options.paths));
  Facts facts;
  facts.left_out = inputs.left_out;
  for (InputFile& file : inputs.files) {
    facts.bytes += file.bytes;
    (file.kind == InputFile::Kind::kRecords ? facts.record_files : facts.picture_files).push_back(std::move(file));
  }
  const char* things = facts.record_files.empty() ? "pictures" : "records";
  Progress progress({things, facts.bytes, Progress::By::kBytes, options.quiet});
  if (!facts.record_files.empty()) {
    facts.classes = classes_beside(facts.record_files[0].path);
    STOKER_TRY(look_at_records(facts, progress));
  }
  if (!facts.picture_files.empty()) STOKER_TRY(look_at_pictures(facts, progress));
  if (interrupted()) return Error::cancelled();
  return facts;
}

// The feature that is the class of a record: "label", "image/class/label".
const std::pair<const std::string, FeatureFacts>* label_feature(const Facts& facts) {
  for (const auto& feature : facts.data.features)
    if (feature.first.ends_with("label") && !feature.second.counts.empty()) return &feature;
  return nullptr;
}

std::string class_of(const Facts& facts, int64_t label) {
  const auto place = static_cast<size_t>(label);
  return label >= 0 && place < facts.classes.size() ? facts.classes[place] : std::to_string(label);
}

// ---- the sheet

// Which of `total` things are shown, evenly spread.
std::vector<int64_t> spread_over(int64_t total, int64_t wanted) {
  std::vector<int64_t> places;
  const int64_t count = std::min(total, wanted);
  for (int64_t i = 0; i < count; ++i)
    places.push_back(
        static_cast<int64_t>(static_cast<double>(i) * static_cast<double>(total) / static_cast<double>(count)));
  return places;
}

std::optional<Bytes> first_string(Bytes record, Bytes name) {
  const Result<Feature> feature = find_feature(record, name);
  if (!feature || feature->kind != Feature::Kind::kBytes) return std::nullopt;
  const Result<std::vector<Bytes>> values = strings_in(*feature);
  return values && !values->empty() ? std::optional(values->front()) : std::nullopt;
}

std::string caption_of(const Facts& facts, Bytes record, const std::string& otherwise) {
  std::string caption(first_string(record, "path").value_or(otherwise));
  const auto* label = label_feature(facts);
  if (!label) return caption;
  const Result<Feature> feature = find_feature(record, label->first);
  int64_t number = 0;
  if (!feature || !read_values(*feature, std::span(&number, 1))) return caption;
  return class_of(facts, number) + ": " + caption;
}

std::string picture_feature(const Facts& facts) {
  for (const auto& [name, feature] : facts.data.features)
    if (!feature.pictures.formats.empty()) return name;
  return "";
}

void add_records(const Facts& facts, int64_t wanted, Sheet& sheet) {
  const std::string name = picture_feature(facts);
  if (name.empty()) return;
  int64_t total = 0;
  for (const int64_t records : facts.records_in) total += records;
  const std::vector<int64_t> places = spread_over(total, wanted);
  auto next = places.begin();
  RecordFiles files(facts.record_files);
  int64_t before = 0;
  for (size_t file = 0; file < facts.record_files.size() && next != places.end(); ++file) {
    const int64_t here = facts.records_in[file];
    const std::string& path = facts.record_files[file].path;
    const auto show = [&](const RecordPlace& place, Bytes record) {
      if (next == places.end() || before + place.record < *next) return;
      ++next;
      const std::string otherwise = fmt::format("{} record {}", fs::path(path).filename().string(), place.record);
      if (const std::optional<Bytes> picture = first_string(record, name))
        sheet.add(*picture, caption_of(facts, record, otherwise));
    };
    const bool compressed = facts.record_files[file].compression != Compression::kNone;
    const Stretch all{static_cast<int64_t>(file), 0, compressed ? -1 : facts.record_files[file].bytes, 0};
    if (*next < before + here) visit(files, all, {show, [](const RecordPlace&, const Error&) {}});
    before += here;
  }
}

void add_loose(const Facts& facts, int64_t wanted, Sheet& sheet) {
  for (const int64_t place : spread_over(static_cast<int64_t>(facts.picture_files.size()), wanted)) {
    const std::string& path = facts.picture_files[static_cast<size_t>(place)].path;
    const fs::path whole(path);
    const Result<MappedFile> mapped = MappedFile::open(path);
    sheet.add(mapped ? mapped->bytes() : Bytes(), (whole.parent_path().filename() / whole.filename()).string());
  }
}

Result<void> write_sheet(const InspectOptions& options, SheetKind kind, const Facts& facts) {
  Sheet sheet;
  add_records(facts, options.limit, sheet);
  add_loose(facts, options.limit, sheet);
  if (sheet.empty()) return Error::corrupt("there are no pictures for --sheet in ", options.paths[0]);
  STOKER_TRY(const std::string bytes, sheet.encoded(kind, options.paths[0]));
  return write_file(options.sheet, bytes);
}

// ---- telling

Json json_of(const Spread& spread) {
  Json json = Json::dict();
  json.set("min", spread.least);
  json.set("mean", spread.mean());
  json.set("max", spread.most);
  return json;
}

Json json_of(const PictureFacts& facts) {
  Json json = Json::dict(), formats = Json::dict(), channels = Json::dict();
  for (const auto& [name, count] : facts.formats) formats.set(name, count);
  for (const auto& [number, count] : facts.channels) channels.set(std::to_string(number), count);
  json.set("formats", std::move(formats));
  if (facts.heights.count > 0) {
    json.set("height", json_of(facts.heights));
    json.set("width", json_of(facts.widths));
    json.set("channels", std::move(channels));
  }
  json.set("unreadable", facts.unreadable);
  return json;
}

Json json_of(const FeatureFacts& facts) {
  Json json = Json::dict(), kinds = Json::dict();
  for (const auto& [name, count] : facts.kinds) kinds.set(name, count);
  json.set("kinds", std::move(kinds));
  if (facts.values.count > 0) json.set("values", json_of(facts.values));
  if (facts.sizes.count > 0) json.set("bytes", json_of(facts.sizes));
  if (facts.numbers.count > 0) json.set("numbers", json_of(facts.numbers));
  if (!facts.pictures.formats.empty()) json.set("pictures", json_of(facts.pictures));
  return json;
}

Json labels_json(const Facts& facts) {
  const auto* label = label_feature(facts);
  if (!label) return nullptr;
  Json json = Json::dict(), counts = Json::list();
  for (const auto& [number, count] : label->second.counts) {
    Json one = Json::dict();
    one.set("label", number);
    if (!facts.classes.empty()) one.set("class", json_text(class_of(facts, number)));
    one.set("records", count);
    counts.push(std::move(one));
  }
  json.set("feature", json_text(label->first));
  json.set("counts", std::move(counts));
  return json;
}

Json damage_json(const Facts& facts) {
  const std::optional<Damage>& damage = facts.data.first_damage;
  if (!damage) return nullptr;
  Json json = Json::dict();
  json.set("path", json_text(facts.record_files[static_cast<size_t>(damage->file)].path));
  json.set("offset", damage->place.offset);
  json.set("record", damage->place.record);
  json.set("error", json_text(damage->what));
  return json;
}

Json json_of(const Facts& facts) {
  Json json = Json::dict();
  json.set("files", static_cast<int64_t>(facts.record_files.size() + facts.picture_files.size()));
  json.set("bytes", facts.bytes);
  json.set("left_out", facts.left_out);
  if (!facts.record_files.empty()) {
    json.set("records", facts.data.records.count);
    if (facts.data.records.count > 0) json.set("record_bytes", json_of(facts.data.records));
    json.set("examples", facts.data.examples);
    Json features = Json::dict();
    for (const auto& [name, feature] : facts.data.features)
      features.set(is_utf8(name) ? name : to_base64(name), json_of(feature));
    json.set("features", std::move(features));
    json.set("labels", labels_json(facts));
    json.set("damaged", facts.data.damaged);
    json.set("first_damage", damage_json(facts));
  }
  if (!facts.picture_files.empty()) {
    json.set("pictures", json_of(facts.loose));
    Json folders = Json::list();
    for (const auto& [name, count] : facts.folders) {
      Json one = Json::dict();
      one.set("folder", json_text(name));
      one.set("pictures", count);
      folders.push(std::move(one));
    }
    json.set("folders", std::move(folders));
  }
  return json;
}

// "3", or "1 to 7, 2.5 on average"
std::string words_of(const Spread& spread) {
  if (spread.least == spread.most) return grouped(spread.least);
  return fmt::format("{} to {}, {:.1f} on average", grouped(spread.least), grouped(spread.most), spread.mean());
}

std::string bytes_of(const Spread& spread) {
  const auto words = [](auto bytes) { return bytes_words(static_cast<double>(bytes)); };
  if (spread.least == spread.most) return words(spread.least);
  return fmt::format("{} to {}, {} on average", words(spread.least), words(spread.most), words(spread.mean()));
}

std::string words_of(const PictureFacts& facts) {
  std::string words;
  for (const auto& [name, count] : facts.formats)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", grouped(count), name);
  if (facts.heights.count > 0)
    words += fmt::format("; height {}; width {}", words_of(facts.heights), words_of(facts.widths));
  if (facts.unreadable > 0)
    words += fmt::format("; {} unreadable, which stoker verify lists", grouped(facts.unreadable));
  return words;
}

void say_feature(const std::string& name, const FeatureFacts& facts, int64_t examples) {
  std::string kinds;
  int64_t present = 0;
  for (const auto& [kind, count] : facts.kinds) {
    kinds += (kinds.empty() ? "" : " or ") + kind;
    present += count;
  }
  std::string line = fmt::format("  {}: {}", name, kinds.empty() ? "no values" : kinds);
  if (facts.values.count > 0 && (facts.values.least != 1 || facts.values.most != 1))
    line += ", values in a record: " + words_of(facts.values);
  if (present < examples) line += fmt::format(", in {} of {} records", grouped(present), grouped(examples));
  print_line(harmless(line));
  if (facts.sizes.count > 0) print_line("    " + bytes_of(facts.sizes));
  if (facts.numbers.count > 0) print_line("    " + words_of(facts.numbers));
  if (!facts.pictures.formats.empty()) print_line("    pictures: " + words_of(facts.pictures));
}

void say_counts(const std::string& heading, const std::vector<std::pair<std::string, int64_t>>& counts) {
  print_line(harmless(heading));
  for (const auto& [name, count] : std::span(counts).first(std::min(counts.size(), kMostListed)))
    print_line(fmt::format("  {}  {}", harmless(name), grouped(count)));
  if (counts.size() > kMostListed)
    print_line(fmt::format("  and {} more; --json lists all", counts.size() - kMostListed));
}

void say_records(const Facts& facts) {
  const DataFacts& data = facts.data;
  print_line(fmt::format("{} in {}, {}", plural(data.records.count, "record", "records"),
                         plural(static_cast<int64_t>(facts.record_files.size()), "TFRecord file", "TFRecord files"),
                         bytes_words(static_cast<double>(facts.bytes))));
  if (data.records.count > 0) print_line("  " + bytes_of(data.records));
  if (data.examples > 0)
    print_line(fmt::format("features of {}:", data.examples == data.records.count
                                                  ? "all, which are tf.train.Example"
                                                  : grouped(data.examples) + " that are tf.train.Example"));
  for (const auto& [name, feature] : data.features) say_feature(name, feature, data.examples);
  if (const auto* label = label_feature(facts)) {
    std::vector<std::pair<std::string, int64_t>> counts;
    for (const auto& [number, count] : label->second.counts) counts.emplace_back(class_of(facts, number), count);
    say_counts(
        fmt::format("{} of '{}':", plural(static_cast<int64_t>(counts.size()), "class", "classes"), label->first),
        counts);
  }
  if (data.first_damage)
    print_line(fmt::format(
        "{}, the first in {}, record {} at byte {}: {}", plural(data.damaged, "damaged place", "damaged places"),
        harmless(facts.record_files[static_cast<size_t>(data.first_damage->file)].path),
        data.first_damage->place.record, data.first_damage->place.offset, harmless(data.first_damage->what)));
}

void say_what_there_is(const Facts& facts) {
  if (!facts.record_files.empty()) say_records(facts);
  if (!facts.picture_files.empty()) {
    print_line(plural(static_cast<int64_t>(facts.picture_files.size()), "picture file", "picture files") + ", " +
               bytes_words(static_cast<double>(facts.bytes)));
    print_line("  " + words_of(facts.loose));
    say_counts("in folders:", {facts.folders.begin(), facts.folders.end()});
  }
  if (facts.left_out > 0)
    print_line(fmt::format("{} left out: hidden, or neither records nor pictures",
                           plural(facts.left_out, "file was", "files were")));
}

}  // namespace

int inspect(const InspectOptions& options) {
  SheetKind kind{};
  if (!options.sheet.empty()) {
    const Result<SheetKind> chosen = sheet_kind_of(options.sheet);
    if (!chosen) return refuse(chosen.error());
    kind = *chosen;
    if (const Result<void> writable = check_writable(options.sheet); !writable) return refuse(writable.error());
  }
  const Result<Facts> facts = look_at(options);
  if (!facts) return refuse(facts.error());
  if (!options.sheet.empty())
    if (const Result<void> written = write_sheet(options, kind, *facts); !written) return refuse(written.error());
  if (options.json)
    print_line(json_of(*facts).text(2));
  else
    say_what_there_is(*facts);
  return kFine;
}

}  // namespace stoker::cli
