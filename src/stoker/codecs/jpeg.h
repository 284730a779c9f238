#pragma once

#include "stoker/codecs/jpeg_layout.h"
#include "stoker/codecs/picture.h"

namespace stoker {

// How the inverse DCT is computed. Fast saves some 4 % of the time and differs
// from accurate by up to 21 grey levels on photographs.
enum class JpegDct : uint8_t { kIntegerFast, kIntegerAccurate };

struct JpegOptions {
  int channels = 0;                    // 0: as in the file, CMYK becoming RGB; 1: grey; 3: RGB
  int ratio = 1;                       // 1, 2, 4, 8: gives a picture so many times smaller, rounded up
  bool fancy_upscaling = true;         // smooths chroma that has fewer samples
  bool try_recover_truncated = false;  // what is missing is grey, and no error
  float acceptable_fraction = 1;       // below 1: a picture cut after this share of its rows is none, the rest is black
  JpegDct dct = JpegDct::kIntegerFast;  // as TensorFlow; accurate is as Pillow
  std::string* note = nullptr;          // gets the first of libjpeg's warnings that were passed over, if there are any
};

// What decode_jpeg() would give; reads the header alone.
Result<PictureInfo> jpeg_info(Bytes bytes, const JpegOptions& options = {});

// Decodes 8-bit JPEG of any kind, colour and sampling into the rows that
// `place` gives. Reads no further than `bytes`. A picture that ends early is
// DataLoss; of data that is damaged before its end the pixels are what libjpeg
// makes of it. Which bytes follow the last scan does not matter. Orientation is
// left to others.
Result<void> decode_jpeg(Bytes bytes, const JpegOptions& options, const PixelPlace& place);

// Rows of a window as they are decoded, from the top.
class JpegRows {
 public:
  virtual ~JpegRows() = default;
  // Rows [y, y + n) of the window, n at most 4, good until the next call. No row
  // before `y` is asked for any more.
  virtual Result<void> rows(int64_t y, int n, const void** rows) = 0;
  // Bytes from one pixel to the next: some are filled up to four.
  int pixel() const { return pixel_; }

 protected:
  int pixel_ = 0;
};

// The same pixels without a place for all of them. `choose` is asked which
// window is wanted when the size is known, then `use` reads its rows, once more
// from the first where they turn out to be damaged. Little is decoded that is not in the window; a file without its end
// is an error whatever the window, and damage outside of it may stay unseen. Not for what is to be recovered from cut
// files.
struct JpegWindowed {
  std::function<Result<PictureWindow>(const PictureInfo&)> choose;
  std::function<Result<void>(const PictureInfo&, JpegRows&)> use;
};
Result<void> decode_jpeg_rows(Bytes bytes, const JpegOptions& options, const JpegWindowed& windowed);

}  // namespace stoker
