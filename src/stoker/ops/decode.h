#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct JpegOptions;

// Decoders of images: bytes to uint8 of shape [height, width, channels]. Each of them accepts JPEG, PNG, GIF, BMP and
// WebP, regardless of its name. In TensorFlow, each accepts only some of these formats.

// Has the parameters that apply only to JPEG.
struct DecodeJpeg {
  static constexpr std::string_view kName = "decode_jpeg";
  static constexpr std::string_view kDoc = "Decode a JPEG image.";
  static constexpr int kInputs = 1;

  int channels = 0;
  int ratio = 1;
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  double acceptable_fraction = 1;
  std::string dct_method;
  std::string like;
  bool exif_orientation = false;

  void describe(Fields& f) {
    f("channels", channels, "number of channels; 0: as in the file, 1: gray, 3: RGB");
    f("ratio", ratio, "divides height and width by 1, 2, 4 or 8 while decoding, which is faster than resizing");
    f("fancy_upscaling", fancy_upscaling, "interpolate subsampled color channels");
    f("try_recover_truncated", try_recover_truncated, "decode truncated files; missing pixels are gray");
    f("acceptable_fraction", acceptable_fraction,
      "minimum fraction of rows of a truncated image that is accepted; missing rows are black");
    f("dct_method", dct_method,
      "INTEGER_FAST or INTEGER_ACCURATE; empty: INTEGER_FAST, or INTEGER_ACCURATE with like=\"pillow\"");
    f("like", like, "\"pillow\": the pixels of Pillow; empty: those of TensorFlow");
    f("exif_orientation", exif_orientation, "apply the EXIF orientation, which TensorFlow ignores");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // Returns the options for JPEG data.
  Result<JpegOptions> jpeg() const;
  // Fuses the operations after decoding with it (image_chain.h).
  static Chain chain(std::span<const ChainLink> links);
  Contribution contribution() const;
};

struct DecodePng {
  static constexpr std::string_view kName = "decode_png";
  static constexpr std::string_view kDoc = "Decode a PNG image.";
  static constexpr int kInputs = 1;

  int channels = 0;
  DType dtype = DType::kUint8;
  std::string like;
  bool exif_orientation = false;

  void describe(Fields& f) {
    f("channels", channels, "number of channels; 0: as in the file, 1: gray, 2: gray and alpha, 3: RGB, 4: RGBA");
    f("dtype", dtype, "type of the result: uint8 or uint16");
    f("like", like, "\"pillow\": the pixels of Pillow; empty: those of TensorFlow");
    f("exif_orientation", exif_orientation, "apply the EXIF orientation, which TensorFlow ignores");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // Fuses the operations after decoding with it (image_chain.h).
  static Chain chain(std::span<const ChainLink> links);
  Contribution contribution() const;
};

struct DecodeImage {
  static constexpr std::string_view kName = "decode_image";
  static constexpr std::string_view kDoc =
      "Decode a JPEG, PNG, GIF, BMP or WebP image; a GIF or an animation is decoded to its frames.";
  static constexpr int kInputs = 1;

  int channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  std::string like;
  bool exif_orientation = false;
  bool try_recover_truncated = false;

  void describe(Fields& f) {
    f("channels", channels,
      "number of channels; 0: as in the file, 1: gray, 3: RGB, 4: RGBA if the format supports it");
    f("dtype", dtype, "type of the result: uint8, uint16, or float32 from 0 to 1");
    f("expand_animations", expand_animations,
      "decode GIF and animated WebP to [frames, height, width, channels]; false: only the first frame");
    f("like", like, "\"pillow\": the pixels of Pillow; empty: those of TensorFlow");
    f("exif_orientation", exif_orientation, "apply the EXIF orientation, which TensorFlow ignores");
    f("try_recover_truncated", try_recover_truncated,
      "decode truncated files: missing pixels of a JPEG are gray, a GIF has its complete frames");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // Fuses the operations after decoding with it (image_chain.h).
  static Chain chain(std::span<const ChainLink> links);
  Contribution contribution() const;
};

struct DecodeBmp {
  static constexpr std::string_view kName = "decode_bmp";
  static constexpr std::string_view kDoc = "Decode a BMP image.";
  static constexpr int kInputs = 1;

  int channels = 0;

  void describe(Fields& f) {
    f("channels", channels,
      "number of channels; 0: as in the file (a palette of grays is gray, others are RGB), 1: gray, 3: RGB, 4: RGBA");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct DecodeGif {
  static constexpr std::string_view kName = "decode_gif";
  static constexpr std::string_view kDoc = "Decode a GIF to its frames, [frames, height, width, 3].";
  static constexpr int kInputs = 1;

  bool try_recover_truncated = false;

  void describe(Fields& f) {
    f("try_recover_truncated", try_recover_truncated,
      "decode truncated or damaged files to the frames before the damage");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct DecodeWebp {
  static constexpr std::string_view kName = "decode_webp";
  static constexpr std::string_view kDoc =
      "Decode a WebP to its frames, [frames, height, width, channels]; a still image has one frame.";
  static constexpr int kInputs = 1;

  int channels = 0;

  void describe(Fields& f) {
    f("channels", channels, "number of channels; 0: RGB, or RGBA if the file has alpha, 1: gray, 3: RGB, 4: RGBA");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

namespace io {

Value decode_jpeg(Value contents, DecodeJpeg params = {});
Value decode_png(Value contents, DecodePng params = {});
Value decode_image(Value contents, DecodeImage params = {});
Value decode_bmp(Value contents, DecodeBmp params = {});
Value decode_gif(Value contents, DecodeGif params = {});
Value decode_webp(Value contents, DecodeWebp params = {});

}  // namespace io
}  // namespace stoker
