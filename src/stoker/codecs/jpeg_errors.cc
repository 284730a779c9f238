#include "stoker/codecs/jpeg_errors.h"

#ifdef STOKER_HAVE_JPEG

#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

namespace stoker {

bool means_jpeg_damage(int code) {
  return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_ARITH_BAD_CODE ||
         code == JWRN_JPEG_EOF || code == JWRN_MUST_RESYNC;
}

Error jpeg_error(const JpegMessage& message, int components, int channels) {
  switch (message.code) {
    case JERR_OUT_OF_MEMORY: return Error::exhausted("no memory to decode a JPEG");
    case JERR_CONVERSION_NOTIMPL:
      return Error::invalid("a JPEG of ", components, " components cannot be decoded to ", channels,
                            channels == 1 ? " channel" : " channels");
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
#if JPEG_LIB_VERSION < 70  // later interfaces always have arithmetic coding
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED: return Error::unimplemented("this kind of JPEG is not supported: ", message.text);
    default: return Error::corrupt("JPEG data is damaged: ", message.text);
  }
}

}  // namespace stoker

#endif
