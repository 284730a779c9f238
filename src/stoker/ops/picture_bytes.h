#pragma once

#include <vector>

#include "stoker/codecs/jpeg.h"
#include "stoker/core/spec.h"
#include "stoker/graph/context.h"

namespace stoker {

// What operations that decode share: pictures from bytes of any format.

// What is made of animations: GIF always is one, WebP may be.
enum class Frames : uint8_t {
  kOne,           // [height, width, channels]; several frames are an error
  kFirst,         // the same, of the first frame
  kOfMoving,      // [frames, height, width, channels] for GIF and for several frames
  kOfEverything,  // for stills, too
};

// What is asked of a picture of any format.
struct PictureWish {
  int channels = 0;
  DType dtype = DType::kUint8;
  JpegOptions jpeg = {};
  Frames frames = Frames::kOne;
  bool exif_orientation = false;
};

// The input that holds the bytes, in words.
inline constexpr std::string_view kPictureBytes = "a picture's bytes";

LeafSpec picture_spec(const PictureWish& wish);
Result<Array> picture_from(Bytes bytes, const PictureWish& wish, Context& context);

// The shape of what picture_from() would give; reads headers alone.
Result<std::vector<int64_t>> picture_shape(Bytes bytes, const PictureWish& wish);

}  // namespace stoker
