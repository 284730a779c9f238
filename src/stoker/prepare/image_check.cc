#include "stoker/prepare/image_check.h"

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/ops/image_bytes.h"

namespace stoker::prepare {

Result<ImageNote> decode_to_the_end(Bytes image) {
  ImageNote note;
  Context context;
  STOKER_TRY(image_from(image, {.jpeg = {.note = &note}, .frames = Frames::kOfMoving}, context));
  return note;
}

bool looks_like_image(Bytes bytes) {
  const ImageFormat format = format_of(bytes);
  if (format != ImageFormat::kBmp) return format != ImageFormat::kUnknown;
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
  if (feature.kind == Feature::Kind::kMissing) return Error::corrupt("the record has no feature '", name, "'");
  if (feature.kind != Feature::Kind::kInt64) return Error::corrupt("the feature '", name, "' is not int64");
  STOKER_TRY(const int64_t count, count_values(feature));
  if (count != 1) return Error::corrupt("the feature '", name, "' has ", count, " values, expected one label");
  int64_t label = 0;
  STOKER_TRY(read_values(feature, std::span(&label, 1)));
  return label;
}

void ImageFeatures::learn(Bytes record) {
  ++seen_;
  FeatureWalk walk(record);
  while (true) {
    const Result<bool> any = walk.next();
    if (!any || !*any) return;
    const Result<Feature> feature = walk.feature();
    if (!feature || feature->kind != Feature::Kind::kBytes || has(walk.name())) continue;
    const Result<std::vector<Bytes>> values = strings_in(*feature);
    if (values && !values->empty() && looks_like_image(values->front())) names_.emplace_back(walk.name());
  }
}

bool ImageFeatures::has(Bytes name) const { return std::ranges::find(names_, name) != names_.end(); }

}  // namespace stoker::prepare
