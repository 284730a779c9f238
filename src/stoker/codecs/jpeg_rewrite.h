#pragma once

#include <optional>
#include <string>

#include "stoker/codecs/jpeg_layout.h"
#include "stoker/core/result.h"

namespace stoker {

// The interval between restart markers, in units of the scan, of a rewritten image: the smallest
// divisor of the number of units in a row that is at least two, or a whole row.
int64_t restart_interval_for(const JpegLayout& layout);

// Rewrites an image with restart markers, so that windows of it can be decoded separately, and with
// Huffman codes that are optimal for it. The coefficients are the same. All APPn and COM segments
// are kept. Returns nothing if the image should stay as it is: progressive, arithmetic and CMYK
// images, those that already have restart markers or bytes after their end, and all for which
// libjpeg reports an error or a warning.
std::optional<std::string> with_restart_markers(Bytes bytes);

}  // namespace stoker
