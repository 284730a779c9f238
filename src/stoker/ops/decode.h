#pragma once

#include <span>
#include <string>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct JpegOptions;

// Pictures from their bytes: uint8 of shape [height, width, channels]. As in
// TensorFlow each takes JPEG and PNG alike, whatever its name.

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

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 3: RGB");
    f("ratio", ratio, "1, 2, 4 or 8: so many times smaller, which is faster than resizing");
    f("fancy_upscaling", fancy_upscaling, "smooth colours that were stored with fewer samples");
    f("try_recover_truncated", try_recover_truncated, "what is missing is grey, and no error");
    f("acceptable_fraction", acceptable_fraction,
      "share of the rows after which a cut picture is taken, the rest black");
    f("dct_method", dct_method, "INTEGER_FAST or INTEGER_ACCURATE; empty: fast, or as `like` says");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
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

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 2: grey and alpha; 3: RGB; 4: RGBA");
    f("dtype", dtype, "uint8 or uint16");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
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
  static constexpr std::string_view kDoc = "The picture in bytes of any format that is known.";
  static constexpr int kInputs = 1;

  int channels = 0;
  DType dtype = DType::kUint8;
  bool expand_animations = true;
  std::string like;

  void describe(Fields& f) {
    f("channels", channels, "0: as in the file; 1: grey; 3: RGB; 4: RGBA, for formats that have it");
    f("dtype", dtype, "uint8; uint16; or float32, from 0 to 1");
    f("expand_animations", expand_animations, "false: of an animation, the first picture");
    f("like", like, "\"pillow\": Pillow's pixels; empty: TensorFlow's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;

  // How JPEG among them is decoded.
  Result<JpegOptions> jpeg() const;
  // Decoding with what follows it (picture_chain.h).
  static Chain chain(std::span<const ChainLink> links);
};

namespace io {

Value decode_jpeg(Value contents, DecodeJpeg params = {});
Value decode_png(Value contents, DecodePng params = {});
Value decode_image(Value contents, DecodeImage params = {});

}  // namespace io
}  // namespace stoker
