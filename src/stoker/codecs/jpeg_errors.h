#pragma once

#include <string>

#include "stoker/core/error.h"

namespace stoker {

// An error or warning of libjpeg.
struct JpegMessage {
  int code = 0;
  std::string text;
};

// Returns whether a warning means that pixels are wrong. Other warnings are about stray bytes between segments,
// versions and unusual headers.
bool means_jpeg_damage(int code);

// Returns the error for an image of `components` that cannot be decoded to `channels`.
Error jpeg_error(const JpegMessage& message, int components, int channels);

}  // namespace stoker
