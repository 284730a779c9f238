#pragma once

#include "stoker/codecs/image.h"
#include "stoker/codecs/jpeg_layout.h"

namespace stoker {

// How the inverse DCT is computed. Fast saves about 4 % of the time and differs from accurate by up
// to 21 gray levels on photographs.
enum class JpegDct : uint8_t { kIntegerFast, kIntegerAccurate };

struct JpegOptions {
  int channels = 0;                    // 0: as in the file, with CMYK as RGB; 1: gray; 3: RGB
  int ratio = 1;                       // 1, 2, 4, 8: divides the size by this, rounded up
  bool fancy_upscaling = true;         // interpolates subsampled chroma
  bool try_recover_truncated = false;  // missing pixels are gray and not an error
  float acceptable_fraction = 1;  // below 1: truncation after this share of the rows is not an error; the rest is black
  JpegDct dct = JpegDct::kIntegerFast;  // as in TensorFlow; Pillow uses the accurate one
  std::string* note = nullptr;          // receives the first warning of libjpeg that was ignored, if any
};

// Returns the size and channels that decode_jpeg() produces. Reads only the header.
Result<ImageInfo> jpeg_info(Bytes bytes, const JpegOptions& options = {});

// Decodes 8-bit JPEG of any kind, color space and sampling into the rows that `place` returns.
// Never reads beyond `bytes`. An image that ends early is DataLoss. If data is damaged before its
// end, the pixels are those that libjpeg produces. Bytes after the last scan are ignored. The EXIF
// orientation is not applied.
Result<void> decode_jpeg(Bytes bytes, const JpegOptions& options, const PixelPlace& place);

// Reads the rows of a window as they are decoded, from top to bottom.
class JpegRows {
 public:
  virtual ~JpegRows() = default;
  // Returns rows [y, y + n) of the window, n at most 4, valid until the next call. Later calls must
  // not request rows before `y`.
  virtual Result<void> rows(int64_t y, int n, const void** rows) = 0;
  // The number of bytes from one pixel to the next: 3 channels may be padded to 4.
  int pixel() const { return pixel_; }

 protected:
  int pixel_ = 0;
};

// Decodes the same pixels without memory for the whole image. Calls `choose` for the window when
// the size is known, then `use`, which reads the rows of the window. If the data turns out to be
// damaged, `use` is called again and starts at the first row. Decodes little outside the window. A
// file without an end marker is an error for every window; damage outside the window may not be
// detected. Does not support the recovery of truncated files.
struct JpegWindowed {
  std::function<Result<ImageRegion>(const ImageInfo&)> choose;
  std::function<Result<void>(const ImageInfo&, JpegRows&)> use;
};
Result<void> decode_jpeg_rows(Bytes bytes, const JpegOptions& options, const JpegWindowed& windowed);

}  // namespace stoker
