#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/codecs/picture.h"

namespace stoker {

// Where the parts of a JPEG lie, found by walking over its markers: nothing is
// decoded and no table is checked.
struct JpegLayout {
  bool ends = false;  // an end marker follows the scans
  int scans = 0;
  bool baseline = false;  // one frame of 8-bit Huffman codes, in one pass

  // Of the frame.
  size_t frame_size_at = 0;  // offset of height and width, two bytes each, high byte first
  int64_t height = 0;
  int64_t width = 0;
  int components = 0;
  int64_t mcu_height = 0;  // pixels that a unit of the scan covers
  int64_t mcu_width = 0;

  // Of the first scan.
  int scan_components = 0;
  size_t data_begin = 0;  // its codes, behind the scan's header
  size_t data_end = 0;    // the marker behind them
  int64_t restart_interval = 0;
  std::vector<size_t> restarts;  // offsets of the restart markers between its codes
  bool restarts_in_order = true;

  size_t end = 0;  // behind the end marker

  int64_t mcu_rows() const { return (height + mcu_height - 1) / mcu_height; }
  int64_t mcus_in_row() const { return (width + mcu_width - 1) / mcu_width; }
  // One scan has everything, and restart markers stand where a part of a row,
  // or several rows, end: each part between them can be decoded alone.
  bool seekable() const;
};

// Into `layout`, whose memory is used again. False: this is no JPEG with a frame
// and a scan, as far as the bytes go.
bool walk_jpeg(Bytes bytes, JpegLayout& layout);

// A part of a picture, in pixels.
struct PictureWindow {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  bool operator==(const PictureWindow&) const = default;
};

// Whether a window is not empty and lies in the picture.
Result<void> check_inside(const PictureWindow& window, const PictureInfo& info);

// Puts a JPEG together, in `out`, that has only the parts of a seekable one
// which `window` needs, with a unit of margin round it where the picture goes on:
// upsampling looks there. What it shows of the picture is given back.
PictureWindow splice_jpeg(Bytes bytes, const JpegLayout& layout, const PictureWindow& window, std::string& out);

}  // namespace stoker
