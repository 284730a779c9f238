#include "cli/picture_check.h"

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/ops/picture_bytes.h"

namespace stoker::cli {

Result<PictureNote> decode_to_the_end(Bytes picture) {
  PictureNote note;
  Context context;
  STOKER_TRY(picture_from(picture, {.jpeg = {.note = &note}, .frames = Frames::kOfMoving}, context));
  return note;
}

bool looks_like_picture(Bytes bytes) {
  const PictureFormat format = format_of(bytes);
  if (format != PictureFormat::kBmp) return format != PictureFormat::kUnknown;
  return bytes.size() >= 26 && bytes.substr(6, 4) == Bytes("\0\0\0\0", 4);
}

Result<std::vector<Bytes>> strings_in(const Feature& feature) {
  STOKER_TRY(const int64_t count, count_values(feature));
  std::vector<Bytes> values(static_cast<size_t>(count));
  STOKER_TRY(read_values(feature, values));
  return values;
}

Result<int64_t> label_in(Bytes record, const std::string& name) {
  STOKER_TRY(const Feature feature, find_feature(record, name));
  if (feature.kind == Feature::Kind::kMissing) return Error::corrupt("it has no feature '", name, "'");
  if (feature.kind != Feature::Kind::kInt64) return Error::corrupt("its feature '", name, "' is not int64");
  STOKER_TRY(const int64_t count, count_values(feature));
  if (count != 1) return Error::corrupt("its feature '", name, "' has ", count, " values, a label is one");
  int64_t label = 0;
  STOKER_TRY(read_values(feature, std::span(&label, 1)));
  return label;
}

void PictureFeatures::learn(Bytes record) {
  ++seen_;
  FeatureWalk walk(record);
  while (true) {
    const Result<bool> any = walk.next();
    if (!any || !*any) return;
    const Result<Feature> feature = walk.feature();
    if (!feature || feature->kind != Feature::Kind::kBytes || has(walk.name())) continue;
    const Result<std::vector<Bytes>> values = strings_in(*feature);
    if (values && !values->empty() && looks_like_picture(values->front())) names_.emplace_back(walk.name());
  }
}

bool PictureFeatures::has(Bytes name) const { return std::ranges::find(names_, name) != names_.end(); }

}  // namespace stoker::cli
