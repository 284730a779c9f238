#pragma once

#include "stoker/core/charge.h"

struct jpeg_decompress_struct;

namespace stoker {

// Charges the coefficients of the whole image, which libjpeg keeps if the image has several scans. The header must have
// been read.
Result<void> charge_jpeg_coefficients(jpeg_decompress_struct& jpeg, Charge& working);

}  // namespace stoker
