#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "stoker/core/error.h"

namespace stoker {

inline std::string deflated(std::string_view bytes, int window_bits, int level) {
  z_stream stream{};
  STOKER_CHECK(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  STOKER_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string gzipped(std::string_view bytes, int level = 6) { return deflated(bytes, MAX_WBITS + 16, level); }
inline std::string zlibbed(std::string_view bytes, int level = 6) { return deflated(bytes, MAX_WBITS, level); }

}  // namespace stoker
