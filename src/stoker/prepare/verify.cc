#include "stoker/prepare/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/api/loader.h"
#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/core/interrupt.h"
#include "stoker/graph/stage_of.h"
#include "stoker/ops/read_file.h"
#include "stoker/prepare/image_check.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/outcomes.h"
#include "stoker/prepare/stretches.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

// Adds what one worker found.
void add(VerifyResult& all, VerifyResult more) {
  all.records += more.records;
  all.images += more.images;
  std::ranges::move(more.bad, std::back_inserter(all.bad));
  std::ranges::move(more.damaged, std::back_inserter(all.damaged));
}

// Checks the images of one file or stretch, on a worker, and adds to the findings.
class Checker {
 public:
  Checker(const std::string& path, VerifyResult& findings) : path_(path), findings_(findings) {}

  void image(const std::optional<RecordPlace>& place, const std::string& before, Bytes bytes) {
    ++findings_.images;
    const Result<ImageNote> note = decode_to_the_end(bytes);
    if (!note)
      findings_.bad.push_back({path_, place, before + note.error().message()});
    else if (!note->empty())
      findings_.damaged.push_back({path_, place, before + *note});
  }

  void images_of(const RecordPlace& place, Bytes record, const ImageFeatures& features) {
    FeatureWalk walk(record);
    while (true) {
      const Result<bool> any = walk.next();
      if (!any) return bad(place, any.error().message());
      if (!*any) return;
      if (features.has(walk.name())) values_of(place, walk);
    }
  }

  void bad(const RecordPlace& place, const std::string& message) { findings_.bad.push_back({path_, place, message}); }

 private:
  void values_of(const RecordPlace& place, const FeatureWalk& walk) {
    const std::string before = fmt::format("feature '{}': ", walk.name());
    const Result<std::vector<Bytes>> values = values_in(walk);
    if (!values) return bad(place, before + values.error().message());
    for (const Bytes value : *values) image(place, before, value);
  }

  static Result<std::vector<Bytes>> values_in(const FeatureWalk& walk) {
    STOKER_TRY(const Feature feature, walk.feature());
    if (feature.kind == Feature::Kind::kMissing) return std::vector<Bytes>();
    if (feature.kind != Feature::Kind::kBytes)
      return Error::corrupt("contains numbers, expected an image as in other records");
    return strings_in(feature);
  }

  const std::string& path_;
  VerifyResult& findings_;
};

// The features with images, from the first records of a plain file. All stretches
// of the file get the same ones.
ImageFeatures features_of(RecordFiles& files, int64_t file) {
  using Kind = RecordParser::Step::Kind;
  ImageFeatures features;
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

VerifyResult check_stretch(RecordFiles& files, const Stretch& stretch, bool images) {
  VerifyResult findings;
  Checker checker(files.at(stretch.file).path, findings);
  ImageFeatures features = images && stretch.end >= 0 ? features_of(files, stretch.file) : ImageFeatures();
  const auto record = [&](const RecordPlace& place, Bytes payload) {
    ++findings.records;
    if (!images) return;
    if (stretch.end < 0 && features.wants_more()) features.learn(payload);
    if (!features.empty()) checker.images_of(place, payload, features);
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

Result<void> check_records(std::vector<InputFile> list, bool images, VerifyResult& findings, Reporter& progress) {
  const auto files = std::make_shared<RecordFiles>(std::move(list));
  using Found = Outcomes<std::pair<int64_t, int64_t>, VerifyResult>;
  const auto outcomes = std::make_shared<Found>();
  const auto check = [files, outcomes, images](int64_t file, int64_t begin, int64_t end, int64_t record) {
    outcomes->compute({file, begin}, [&] { return check_stretch(*files, {file, begin, end, record}, images); });
    return std::tuple(file, begin, end);
  };
  Loader loader(Dataset::from(RecordStretches{files}).map({.map_func = check}), {.interrupted = &is_interrupted});
  const Found::Stop stop(*outcomes);
  while (true) {
    STOKER_TRY(const std::optional<Element> done, loader.next());
    if (is_interrupted()) return Error::cancelled();
    if (!done) return {};
    const auto file = done->leaves[0].scalar<int64_t>(), begin = done->leaves[1].scalar<int64_t>(),
               end = done->leaves[2].scalar<int64_t>();
    VerifyResult found = outcomes->take({file, begin});
    progress.advance(found.records, end < 0 ? files->at(file).bytes : end - begin);
    add(findings, std::move(found));
  }
}

VerifyResult check_image(const std::string& path, const Array& bytes) {
  VerifyResult found;
  Checker(path, found).image(std::nullopt, "", bytes.bytes());
  return found;
}

// The engine's waiting threads prefetch the files; its workers decode them.
Result<void> check_images(std::vector<InputFile> list, VerifyResult& findings, Reporter& progress) {
  const auto count = static_cast<int64_t>(list.size());
  const auto files = std::make_shared<const std::vector<InputFile>>(std::move(list));
  using Found = Outcomes<int64_t, VerifyResult>;
  const auto outcomes = std::make_shared<Found>();
  const auto path_of = [files](int64_t i) { return (*files)[static_cast<size_t>(i)].path; };
  const Dataset work = Dataset::range({.stop = count})
                           .map({.map_func = [path_of](int64_t i) { return std::tuple(i, path_of(i)); }})
                           .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
                           .map({.map_func = [path_of, outcomes](int64_t i, const Array& bytes) {
                             outcomes->compute(i, [&] { return check_image(path_of(i), bytes); });
                             return i;
                           }});
  Loader loader(work, {.interrupted = &is_interrupted});
  const Found::Stop stop(*outcomes);
  for (int64_t i = 0; i < count; ++i) {
    const Result<std::optional<Element>> done = loader.next();
    if (is_interrupted()) return Error::cancelled();
    if (done)
      add(findings, outcomes->take(i));
    else
      findings.bad.push_back({path_of(i), std::nullopt, done.error().message()});
    progress.advance(1, (*files)[static_cast<size_t>(i)].bytes);
  }
  return {};
}

Result<VerifyResult> check(const VerifyOptions& options, const Inputs& inputs, const OnProgress& on_progress) {
  VerifyResult result;
  result.files = static_cast<int64_t>(inputs.files.size());
  result.left_out = inputs.left_out;
  for (const InputFile& file : inputs.files) result.bytes += file.bytes;
  std::vector<InputFile> records = of_kind(inputs, InputFile::Kind::kRecords);
  std::vector<InputFile> images = of_kind(inputs, InputFile::Kind::kImage);
  Reporter progress(on_progress, {.phase = Phase::kRead,
                                  .unit = Unit::kBytes,
                                  .total = result.bytes,
                                  .item_unit = records.empty() ? Unit::kImages : Unit::kRecords});
  if (!records.empty()) STOKER_TRY(check_records(std::move(records), options.images, result, progress));
  if (!images.empty() && options.images) STOKER_TRY(check_images(std::move(images), result, progress));
  progress.finish();
  return result;
}

}  // namespace

Result<VerifyResult> verify(const VerifyOptions& options, const OnProgress& on_progress) {
  return returned([&]() -> Result<VerifyResult> {
    const Reporter finding(on_progress, {.phase = Phase::kFind});
    STOKER_TRY(const Inputs inputs, find_inputs(options.paths));
    return check(options, inputs, on_progress);
  });
}

}  // namespace stoker::prepare
