#pragma once

#include <vector>

#include "stoker/codecs/jpeg.h"
#include "stoker/core/spec.h"
#include "stoker/graph/context.h"

namespace stoker {

// Shared by the operations that decode: images from bytes of any format.

// How animations are returned. A GIF is always an animation, a WebP may be one.
enum class Frames : uint8_t {
  kOne,           // [height, width, channels]; several frames are an error
  kFirst,         // the same, of the first frame
  kOfMoving,      // [frames, height, width, channels] for GIF and for several frames, without the first axis otherwise
  kOfEverything,  // always [frames, height, width, channels]
};

// The requested form of an image of any format.
struct ImageRequest {
  int channels = 0;
  DType dtype = DType::kUint8;
  JpegOptions jpeg = {};
  Frames frames = Frames::kOne;
  bool exif_orientation = false;
};

// The name of the input in error messages.
inline constexpr std::string_view kImageBytes = "the encoded image";

LeafSpec image_spec(const ImageRequest& wish);
Result<Array> image_from(Bytes bytes, const ImageRequest& wish, Context& context);

// Returns the shape of the result of image_from(). Reads only headers.
Result<std::vector<int64_t>> image_shape(Bytes bytes, const ImageRequest& wish);

}  // namespace stoker
