#include "stoker/prepare/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stoker/api/loader.h"
#include "stoker/core/interrupt.h"
#include "stoker/graph/stage_of.h"
#include "stoker/prepare/image_check.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/outcomes.h"
#include "stoker/prepare/partial_file.h"
#include "stoker/prepare/sheet.h"
#include "stoker/prepare/stretches.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostOnSheet = 10000;

// What is known about the files, and the result.
struct Data {
  std::vector<InputFile> record_files;
  std::vector<InputFile> image_files;
  std::vector<int64_t> records_in;   // number of records per record file
  std::vector<std::string> classes;  // by label, from labels.txt
  InspectResult result;
};

// ---- collecting

// What one worker found in a stretch.
struct StretchFacts {
  DataFacts data;
  std::optional<DamagedPlace> first_damage;
};

StretchFacts facts_of(RecordFiles& files, const Stretch& stretch) {
  StretchFacts facts;
  const auto damage = [&](const RecordPlace& place, const Error& error) {
    ++facts.data.damaged;
    if (!facts.first_damage) facts.first_damage = DamagedPlace{files.at(stretch.file).path, place, error.message()};
  };
  visit(files, stretch, {[&](const RecordPlace&, Bytes record) { facts.data.add(record); }, damage});
  return facts;
}

Result<void> look_at_records(Data& data, Reporter& progress) {
  const auto files = std::make_shared<RecordFiles>(data.record_files);
  using Found = Outcomes<std::pair<int64_t, int64_t>, StretchFacts>;
  const auto outcomes = std::make_shared<Found>();
  const auto look = [files, outcomes](int64_t file, int64_t begin, int64_t end, int64_t record) {
    outcomes->compute({file, begin}, [&] { return facts_of(*files, {file, begin, end, record}); });
    return std::tuple(file, begin, end);
  };
  Loader loader(Dataset::from(RecordStretches{files}).map({.map_func = look}), {.interrupted = &is_interrupted});
  const Found::Stop stop(*outcomes);
  data.records_in.resize(data.record_files.size());
  while (true) {
    STOKER_TRY(const std::optional<Element> done, loader.next());
    if (is_interrupted()) return Error::cancelled();
    if (!done) return {};
    const auto file = done->leaves[0].scalar<int64_t>(), begin = done->leaves[1].scalar<int64_t>(),
               end = done->leaves[2].scalar<int64_t>();
    StretchFacts found = outcomes->take({file, begin});
    data.records_in[static_cast<size_t>(file)] += found.data.records.count + found.data.damaged;
    progress.advance(found.data.records.count, end < 0 ? files->at(file).bytes : end - begin);
    data.result.data.add(found.data);
    if (!data.result.first_damage) data.result.first_damage = std::move(found.first_damage);
  }
}

// Reads only the header of the file.
ImageFacts facts_of(const InputFile& file) {
  ImageFacts facts;
  const Result<MappedFile> mapped = MappedFile::open(file.path);
  if (mapped)
    facts.add(mapped->bytes());
  else
    ++facts.unreadable;
  return facts;
}

Result<void> look_at_images(Data& data, Reporter& progress) {
  const auto count = static_cast<int64_t>(data.image_files.size());
  const auto files = std::make_shared<const std::vector<InputFile>>(data.image_files);
  using Found = Outcomes<int64_t, ImageFacts>;
  const auto outcomes = std::make_shared<Found>();
  const Dataset work = Dataset::range({.stop = count}).map({.map_func = [files, outcomes](int64_t i) {
    outcomes->compute(i, [&] { return facts_of((*files)[static_cast<size_t>(i)]); });
    return i;
  }});
  Loader loader(work, {.interrupted = &is_interrupted});
  const Found::Stop stop(*outcomes);
  for (int64_t i = 0; i < count; ++i) {
    STOKER_TRY(loader.next());
    if (is_interrupted()) return Error::cancelled();
    data.result.images.add(outcomes->take(i));
    const InputFile& file = (*files)[static_cast<size_t>(i)];
    ++data.result.folders[fs::path(file.path).parent_path().filename().string()];
    progress.advance(1, file.bytes);
  }
  return {};
}

std::string class_of(const Data& data, int64_t label) {
  const auto place = static_cast<size_t>(label);
  return label >= 0 && place < data.classes.size() ? data.classes[place] : std::to_string(label);
}

std::optional<LabelFacts> labels_of(const Data& data) {
  for (const auto& [name, feature] : data.result.data.features) {
    if (!name.ends_with("label") || feature.counts.empty()) continue;
    LabelFacts labels{name, !data.classes.empty(), {}};
    for (const auto& [label, records] : feature.counts)
      labels.counts.push_back({label, class_of(data, label), records});
    return labels;
  }
  return std::nullopt;
}

Result<Data> look_at(const InspectOptions& options, const OnProgress& on_progress) {
  const Reporter finding(on_progress, {.phase = Phase::kFind});
  STOKER_TRY(Inputs inputs, find_inputs(options.paths));
  Data data;
  data.result.left_out = inputs.left_out;
  for (InputFile& file : inputs.files) {
    data.result.bytes += file.bytes;
    (file.kind == InputFile::Kind::kRecords ? data.record_files : data.image_files).push_back(std::move(file));
  }
  data.result.record_files = static_cast<int64_t>(data.record_files.size());
  data.result.image_files = static_cast<int64_t>(data.image_files.size());
  Reporter progress(on_progress, {.phase = Phase::kRead,
                                  .unit = Unit::kBytes,
                                  .total = data.result.bytes,
                                  .item_unit = data.record_files.empty() ? Unit::kImages : Unit::kRecords});
  if (!data.record_files.empty()) {
    data.classes = classes_next_to(data.record_files[0].path);
    STOKER_TRY(look_at_records(data, progress));
    data.result.labels = labels_of(data);
  }
  if (!data.image_files.empty()) STOKER_TRY(look_at_images(data, progress));
  progress.finish();
  return data;
}

// ---- the sheet

// Positions of `wanted` things among `total`, evenly spaced.
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

std::string caption_of(const Data& data, Bytes record, const std::string& otherwise) {
  std::string caption(first_string(record, "path").value_or(otherwise));
  if (!data.result.labels) return caption;
  const Result<Feature> feature = find_feature(record, data.result.labels->feature);
  int64_t number = 0;
  if (!feature || !read_values(*feature, std::span(&number, 1))) return caption;
  return class_of(data, number) + ": " + caption;
}

std::string feature_with_image(const Data& data) {
  for (const auto& [name, feature] : data.result.data.features)
    if (!feature.images.formats.empty()) return name;
  return "";
}

void add_records(const Data& data, int64_t wanted, Sheet& sheet) {
  const std::string name = feature_with_image(data);
  if (name.empty()) return;
  int64_t total = 0;
  for (const int64_t records : data.records_in) total += records;
  const std::vector<int64_t> places = spread_over(total, wanted);
  auto next = places.begin();
  RecordFiles files(data.record_files);
  int64_t before = 0;
  for (size_t file = 0; file < data.record_files.size() && next != places.end(); ++file) {
    const int64_t here = data.records_in[file];
    const std::string& path = data.record_files[file].path;
    const auto show = [&](const RecordPlace& place, Bytes record) {
      if (next == places.end() || before + place.record < *next) return;
      ++next;
      const std::string otherwise = fmt::format("{} record {}", fs::path(path).filename().string(), place.record);
      if (const std::optional<Bytes> image = first_string(record, name))
        sheet.add(*image, caption_of(data, record, otherwise));
    };
    const bool compressed = data.record_files[file].compression != Compression::kNone;
    const Stretch all{static_cast<int64_t>(file), 0, compressed ? -1 : data.record_files[file].bytes, 0};
    if (*next < before + here) visit(files, all, {show, [](const RecordPlace&, const Error&) {}});
    before += here;
  }
}

void add_loose(const Data& data, int64_t wanted, Sheet& sheet) {
  for (const int64_t place : spread_over(static_cast<int64_t>(data.image_files.size()), wanted)) {
    if (is_interrupted()) return;
    const std::string& path = data.image_files[static_cast<size_t>(place)].path;
    const fs::path whole(path);
    const Result<MappedFile> mapped = MappedFile::open(path);
    sheet.add(mapped ? mapped->bytes() : Bytes(), (whole.parent_path().filename() / whole.filename()).string());
  }
}

Result<void> write_sheet(const InspectOptions& options, SheetKind kind, const Data& data,
                         const OnProgress& on_progress) {
  Sheet sheet;
  add_records(data, options.limit, sheet);
  add_loose(data, options.limit, sheet);
  if (is_interrupted()) return Error::cancelled();
  if (sheet.empty())
    return Error::corrupt("no images for ", option_name(options.option_names, "sheet"), " found in ", options.paths[0]);
  STOKER_TRY(const std::string bytes, sheet.encoded(kind, options.paths[0]));
  Reporter progress(on_progress, {.phase = Phase::kWrite, .total = 1});
  STOKER_TRY(write_file(options.sheet, bytes));
  progress.advance(1, static_cast<int64_t>(bytes.size()));
  progress.finish();
  return {};
}

Result<SheetKind> check_sheet(const InspectOptions& options) {
  STOKER_TRY(const SheetKind kind, sheet_kind_of(options.sheet, options.option_names));
  if (options.limit < 1 || options.limit > kMostOnSheet)
    return Error::precondition(option_name(options.option_names, "limit"), " is ", options.limit, ", expected 1 to ",
                               kMostOnSheet);
  STOKER_TRY(check_writable(options.sheet));
  return kind;
}

}  // namespace

Result<InspectResult> inspect(const InspectOptions& options, const OnProgress& on_progress) {
  return returned([&]() -> Result<InspectResult> {
    SheetKind kind{};
    if (!options.sheet.empty()) {
      STOKER_TRY(kind, check_sheet(options));
    }
    STOKER_TRY(Data data, look_at(options, on_progress));
    if (!options.sheet.empty()) STOKER_TRY(write_sheet(options, kind, data, on_progress));
    return std::move(data.result);
  });
}

}  // namespace stoker::prepare
