#pragma once

#include <optional>
#include <string>

#include "stoker/codecs/jpeg_layout.h"
#include "stoker/core/result.h"

namespace stoker {

// The interval between restart markers, in units of the scan, that a rewritten
// picture gets: the divisor of the units in a row that is nearest to two, of two
// equally near the larger; a whole row where there is none.
int64_t restart_interval_for(const JpegLayout& layout);

// The same picture, to the coefficient, with restart markers, so that windows of
// it can be decoded alone, and with Huffman codes made for it. All its APPn and
// COM segments are kept. Nothing for what is better kept as it is: progressive,
// arithmetic and CMYK pictures, those that have restart markers already, those
// with bytes behind their end, and all that libjpeg warns about.
std::optional<std::string> with_restart_markers(Bytes bytes);

}  // namespace stoker
