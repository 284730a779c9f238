// `stoker inspect`: prints what prepare::inspect() returns.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/commands.h"
#include "cli/data.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace stoker::cli {
namespace {

Json json_of(const prepare::Spread& spread) {
  Json json = Json::dict();
  json.set("min", spread.least);
  json.set("mean", spread.mean());
  json.set("max", spread.most);
  return json;
}

Json json_of(const prepare::ImageFacts& facts) {
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

Json json_of(const prepare::FeatureFacts& facts) {
  Json json = Json::dict(), kinds = Json::dict();
  for (const auto& [name, count] : facts.kinds) kinds.set(name, count);
  json.set("kinds", std::move(kinds));
  if (facts.values.count > 0) json.set("values", json_of(facts.values));
  if (facts.sizes.count > 0) json.set("bytes", json_of(facts.sizes));
  if (facts.numbers.count > 0) json.set("numbers", json_of(facts.numbers));
  if (!facts.images.formats.empty()) json.set("images", json_of(facts.images));
  return json;
}

Json json_of(const prepare::LabelFacts& labels) {
  Json json = Json::dict(), counts = Json::list();
  for (const prepare::LabelCount& count : labels.counts) {
    Json one = Json::dict();
    one.set("label", count.label);
    if (labels.named) one.set("class", json_text(count.class_name));
    one.set("records", count.records);
    counts.push(std::move(one));
  }
  json.set("feature", json_text(labels.feature));
  json.set("counts", std::move(counts));
  return json;
}

Json json_of(const prepare::DamagedPlace& damage) {
  Json json = Json::dict();
  json.set("path", json_text(damage.path));
  json.set("offset", damage.place.offset);
  json.set("record", damage.place.record);
  json.set("error", json_text(damage.message));
  return json;
}

Json json_of(const prepare::InspectResult& facts) {
  Json json = Json::dict();
  json.set("files", facts.record_files + facts.image_files);
  json.set("bytes", facts.bytes);
  json.set("left_out", facts.left_out);
  if (facts.record_files > 0) {
    json.set("records", facts.data.records.count);
    if (facts.data.records.count > 0) json.set("record_bytes", json_of(facts.data.records));
    json.set("examples", facts.data.examples);
    Json features = Json::dict();
    for (const auto& [name, feature] : facts.data.features)
      features.set(is_utf8(name) ? name : to_base64(name), json_of(feature));
    json.set("features", std::move(features));
    json.set("labels", facts.labels ? json_of(*facts.labels) : Json(nullptr));
    json.set("damaged", facts.data.damaged);
    json.set("first_damage", facts.first_damage ? json_of(*facts.first_damage) : Json(nullptr));
  }
  if (facts.image_files > 0) {
    json.set("images", json_of(facts.images));
    Json folders = Json::list();
    for (const auto& [name, count] : facts.folders) {
      Json one = Json::dict();
      one.set("folder", json_text(name));
      one.set("images", count);
      folders.push(std::move(one));
    }
    json.set("folders", std::move(folders));
  }
  return json;
}

// "3", or "1 to 7, 2.5 on average"
std::string text_of(const prepare::Spread& spread) {
  if (spread.least == spread.most) return grouped(spread.least);
  return fmt::format("{} to {}, {:.1f} on average", grouped(spread.least), grouped(spread.most), spread.mean());
}

std::string bytes_of(const prepare::Spread& spread) {
  const auto words = [](auto bytes) { return bytes_text(static_cast<double>(bytes)); };
  if (spread.least == spread.most) return words(spread.least);
  return fmt::format("{} to {}, {} on average", words(spread.least), words(spread.most), words(spread.mean()));
}

std::string text_of(const prepare::ImageFacts& facts) {
  std::string words;
  for (const auto& [name, count] : facts.formats)
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", grouped(count), name);
  if (facts.heights.count > 0)
    words += fmt::format("; height {}; width {}", text_of(facts.heights), text_of(facts.widths));
  if (facts.unreadable > 0)
    words += fmt::format("; {} unreadable, listed by `stoker verify`", grouped(facts.unreadable));
  return words;
}

void print_feature(const std::string& name, const prepare::FeatureFacts& facts, int64_t examples) {
  std::string kinds;
  int64_t present = 0;
  for (const auto& [kind, count] : facts.kinds) {
    kinds += (kinds.empty() ? "" : " or ") + kind;
    present += count;
  }
  std::string line = fmt::format("  {}: {}", name, kinds.empty() ? "no values" : kinds);
  if (facts.values.count > 0 && (facts.values.least != 1 || facts.values.most != 1))
    line += ", values per record: " + text_of(facts.values);
  if (present < examples) line += fmt::format(", in {} of {} records", grouped(present), grouped(examples));
  print_line(harmless(line));
  if (facts.sizes.count > 0) print_line("    " + bytes_of(facts.sizes));
  if (facts.numbers.count > 0) print_line("    " + text_of(facts.numbers));
  if (!facts.images.formats.empty()) print_line("    images: " + text_of(facts.images));
}

void print_counts(const std::string& heading, const std::vector<std::pair<std::string, int64_t>>& counts) {
  print_line(harmless(heading));
  for (const auto& [name, count] : std::span(counts).first(std::min(counts.size(), kMostListed)))
    print_line(fmt::format("  {}  {}", harmless(name), grouped(count)));
  if (counts.size() > kMostListed)
    print_line(fmt::format("  and {} more; --json lists all", counts.size() - kMostListed));
}

void print_labels(const prepare::LabelFacts& labels) {
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const prepare::LabelCount& count : labels.counts) counts.emplace_back(count.class_name, count.records);
  const std::string classes = plural(static_cast<int64_t>(counts.size()), "class", "classes");
  print_counts(fmt::format("{} of '{}':", classes, labels.feature), counts);
}

void print_records(const prepare::InspectResult& facts) {
  const prepare::DataFacts& data = facts.data;
  print_line(fmt::format("{} in {}, {}", plural(data.records.count, "record", "records"),
                         plural(facts.record_files, "TFRecord file", "TFRecord files"),
                         bytes_text(static_cast<double>(facts.bytes))));
  if (data.records.count > 0) print_line("  " + bytes_of(data.records));
  if (data.examples > 0)
    print_line(fmt::format("features of {}:", data.examples == data.records.count
                                                  ? "all records, which are tf.train.Example"
                                                  : grouped(data.examples) + " records that are tf.train.Example"));
  for (const auto& [name, feature] : data.features) print_feature(name, feature, data.examples);
  if (facts.labels) print_labels(*facts.labels);
  if (facts.first_damage)
    print_line(fmt::format("{}, the first in {}, record {} at byte {}: {}",
                           plural(data.damaged, "damaged place", "damaged places"), harmless(facts.first_damage->path),
                           facts.first_damage->place.record, facts.first_damage->place.offset,
                           harmless(facts.first_damage->message)));
}

void print_summary(const prepare::InspectResult& facts) {
  if (facts.record_files > 0) print_records(facts);
  if (facts.image_files > 0) {
    print_line(plural(facts.image_files, "image file", "image files") + ", " +
               bytes_text(static_cast<double>(facts.bytes)));
    print_line("  " + text_of(facts.images));
    print_counts("image files per folder:", {facts.folders.begin(), facts.folders.end()});
  }
  if (facts.left_out > 0)
    print_line(fmt::format("{} skipped: hidden, or neither records nor images",
                           plural(facts.left_out, "file was", "files were")));
}

}  // namespace

int inspect(const prepare::InspectOptions& options, const PrintOptions& how) {
  ProgressLine progress(how.quiet);
  const Result<prepare::InspectResult> result = prepare::inspect(options, progress.updates());
  progress.clear();
  if (!result) return refuse(result.error(), options.paths);
  if (how.json)
    print_line(json_of(*result).text(2));
  else
    print_summary(*result);
  return kFine;
}

const char* const kInspectHelp = R"(
For records, prints their number and sizes, the features of tf.train.Example
records with their types, lengths and values, the formats and sizes of images in
them, the number of records per label, and the first damage. The label is a
feature named label or .../label; labels.txt next to the data names the classes.
For image files, prints formats, sizes, and the number of files per folder. Pixels
are not decoded; `stoker verify` does that.

--sheet writes a contact sheet: thumbnails, sampled evenly from the data, with
their EXIF orientation applied. An HTML sheet also shows labels and paths.

Examples:
  stoker inspect packed
  stoker inspect packed --sheet sheet.html
  stoker inspect photos --sheet sheet.png --limit 200
  stoker inspect train.tfrecord --json | jq .features

Exit codes: 0 success, also if records are damaged; 1 the sheet could not be
written; 2 DATA does not exist or has neither records nor images; 130 interrupted
by Ctrl-C.)";

}  // namespace stoker::cli
