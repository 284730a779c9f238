#include "cli/picture_check.h"

#include <algorithm>

#include "stoker/codecs/example.h"
#include "stoker/codecs/jpeg.h"
#include "stoker/graph/context.h"
#include "stoker/ops/decode.h"

namespace stoker::cli {
namespace {

// The memory of one picture is used for the next.
Result<PictureNote> decode_jpeg_to_the_end(Bytes picture) {
  thread_local std::vector<std::byte> pixels;
  PictureNote note;
  const auto place = [](const PictureInfo& info) -> Result<PixelRows> {
    const int64_t stride = info.width * info.channels;
    pixels.resize(std::max(pixels.size(), static_cast<size_t>(info.height * stride)));
    return PixelRows{pixels.data(), stride};
  };
  STOKER_TRY(decode_jpeg(picture, {.note = &note}, place));
  return note;
}

}  // namespace

Result<PictureNote> decode_to_the_end(Bytes picture) {
  if (format_of(picture) == PictureFormat::kJpeg) return decode_jpeg_to_the_end(picture);
  const Array bytes = Array::of_bytes(picture);
  Context context;
  STOKER_TRY(DecodeImage{}.apply(std::span(&bytes, 1), context));
  return PictureNote();
}

bool looks_like_picture(Bytes bytes) {
  const PictureFormat format = format_of(bytes);
  if (format != PictureFormat::kBmp) return format != PictureFormat::kUnknown;
  return bytes.size() >= 26 && bytes.substr(6, 4) == Bytes("\0\0\0\0", 4);
}

void PictureFeatures::learn(Bytes record) {
  ++seen_;
  FeatureWalk walk(record);
  while (true) {
    const Result<bool> any = walk.next();
    if (!any || !*any) return;
    const Result<Feature> feature = walk.feature();
    if (!feature || feature->kind != Feature::Kind::kBytes || has(walk.name())) continue;
    const Result<int64_t> count = count_values(*feature);
    if (!count || *count < 1) continue;
    std::vector<Bytes> values(static_cast<size_t>(*count));
    if (read_values(*feature, values) && looks_like_picture(values[0])) names_.emplace_back(walk.name());
  }
}

bool PictureFeatures::has(Bytes name) const { return std::ranges::find(names_, name) != names_.end(); }

}  // namespace stoker::cli
