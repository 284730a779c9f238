#pragma once

#include <zstd.h>

#include <string>
#include <string_view>

namespace stoker {

// Compresses bytes into one frame with a checksum, as the zstd command does.
inline std::string zstd_compressed(std::string_view bytes, int level = 3) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace stoker
