#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/codecs/image.h"

namespace stoker {

// The positions of the parts of a JPEG, found by its markers. Nothing is decoded, and no table is
// checked.
struct JpegLayout {
  bool ends = false;  // there is an end marker after the scans
  int scans = 0;
  bool baseline = false;  // 8-bit samples, Huffman codes, not progressive

  // The frame:
  size_t frame_size_at = 0;  // offset of height and width, two bytes each, high byte first
  int64_t height = 0;
  int64_t width = 0;
  int components = 0;
  int64_t mcu_height = 0;  // pixels that a unit (MCU) of the scan covers
  int64_t mcu_width = 0;

  // The first scan:
  int scan_components = 0;
  size_t data_begin = 0;  // of its codes, after the header of the scan
  size_t data_end = 0;    // the offset of the marker after them
  int64_t restart_interval = 0;
  std::vector<size_t> restarts;  // offsets of the restart markers in the scan
  bool restarts_in_order = true;

  size_t end = 0;  // the offset after the end marker

  int64_t mcu_rows() const { return (height + mcu_height - 1) / mcu_height; }
  int64_t mcus_in_row() const { return (width + mcu_width - 1) / mcu_width; }
  // Whether one scan contains everything, and the restart markers are at the ends of parts of a
  // row, or of whole rows. Each part between them can then be decoded separately.
  bool seekable() const;
};

// Fills `layout` and reuses its memory. Returns false if the bytes are not a JPEG with a frame and
// a scan.
bool walk_jpeg(Bytes bytes, JpegLayout& layout);

// A part of an image, in pixels.
struct ImageRegion {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const ImageRegion&) const = default;
};

// Fails with InvalidArgument if a window is empty or not inside the image.
Result<void> check_inside(const ImageRegion& window, const ImageInfo& info);

// Assembles, in `out`, a JPEG with only those parts of a seekable JPEG that `window` needs, and a
// margin of one unit inside the image, which upsampling uses. Returns the part of the image that it
// shows.
ImageRegion splice_jpeg(Bytes bytes, const JpegLayout& layout, const ImageRegion& window, std::string& out);

}  // namespace stoker
