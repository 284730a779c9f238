#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct JpegOptions;

// Pictures from their bytes: uint8 of shape [height, width, channels]. Each takes
// JPEG, PNG, GIF, BMP and WebP alike, whatever its name; TensorFlow's take some.

// With the parameters that only JPEG has.
struct DecodeJpeg {
  static constexpr std::string_view kName = "decode_jpeg";
  static constexpr std::string_view kDoc = "The picture in the bytes of a JPEG.";
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
    f("channels", channels, "0: as in the file; 1: grey; 3: RGB");
    f("ratio", ratio, "1, 2, 4 or 8: so many times smaller, which is faster than resizing");
    f("fancy_upscaling", fancy_upscaling, "smooth colours that were stored with fewer samples");
    f("try_recover_truncated", try_recover_truncated, "what is missing is grey, and no error");
    f("acceptable_fraction", acceptable_fraction,
      "share of the rows after which a cut picture is taken, the rest black");
    f("dct_method", dct_method, "INTEGER_FAST or INTEGER_ACCURATE; empty: fast, or as `like` says");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
    f("exif_orientation", exif_orientation, "turn the picture as its EXIF notes say; TensorFlow does not");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // How JPEG among them is decoded.
  Result<JpegOptions> jpeg() const;
  // Decoding with what follows it (picture_chain.h).
  static Chain chain(std::span<const ChainLink> links);
};

struct DecodePng {
  static constexpr std::string_view kName = "decode_png";
  static constexpr std::string_view kDoc = "The picture in the bytes of a PNG.";
  static constexpr int kInputs = 1;

  int channels = 0;
  DType dtype = DType::kUint8;
  std::string like;
  bool exif_orientation = false;

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 2: grey and alpha; 3: RGB; 4: RGBA");
    f("dtype", dtype, "uint8 or uint16");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
    f("exif_orientation", exif_orientation, "turn the picture as its EXIF notes say; TensorFlow does not");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // How JPEG among them is decoded.
  Result<JpegOptions> jpeg() const;
  // Decoding with what follows it (picture_chain.h).
  static Chain chain(std::span<const ChainLink> links);
};

struct DecodeImage {
  static constexpr std::string_view kName = "decode_image";
  static constexpr std::string_view kDoc =
      "The picture in bytes of JPEG, PNG, GIF, BMP or WebP; of a GIF or an animation, its frames.";
  static constexpr int kInputs = 1;

  int channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  std::string like;
  bool exif_orientation = false;
  bool try_recover_truncated = false;

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 3: RGB; 4: RGBA, for formats that have it");
    f("dtype", dtype, "uint8; uint16; or float32, from 0 to 1");
    f("expand_animations", expand_animations,
      "GIF and animated WebP as [frames, height, width, channels]; false: the first frame");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
    f("exif_orientation", exif_orientation, "turn the picture as its EXIF notes say; TensorFlow does not");
    f("try_recover_truncated", try_recover_truncated,
      "of a cut JPEG what is missing is grey, of a cut GIF the whole frames");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // How JPEG among them is decoded.
  Result<JpegOptions> jpeg() const;
  // Decoding with what follows it (picture_chain.h).
  static Chain chain(std::span<const ChainLink> links);
};

struct DecodeBmp {
  static constexpr std::string_view kName = "decode_bmp";
  static constexpr std::string_view kDoc = "The picture in the bytes of a BMP.";
  static constexpr int kInputs = 1;

  int channels = 0;

  void describe(Fields& f) {
    f("channels", channels,
      "0: as in the file, a palette of greys becoming grey, others RGB; 1: grey; 3: RGB; 4: RGBA");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct DecodeGif {
  static constexpr std::string_view kName = "decode_gif";
  static constexpr std::string_view kDoc = "The frames in the bytes of a GIF, [frames, height, width, 3].";
  static constexpr int kInputs = 1;

  bool try_recover_truncated = false;

  void describe(Fields& f) {
    f("try_recover_truncated", try_recover_truncated, "of a file that is cut or damaged, the frames before");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct DecodeWebp {
  static constexpr std::string_view kName = "decode_webp";
  static constexpr std::string_view kDoc =
      "The frames in the bytes of a WebP, [frames, height, width, channels]; a still one has one.";
  static constexpr int kInputs = 1;

  int channels = 0;

  void describe(Fields& f) {
    f("channels", channels, "0: RGB, or RGBA where the file has alpha; 1: grey; 3: RGB; 4: RGBA");
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
