#include <algorithm>
#include <new>

#include <zlib.h>

#include "stoker/io/inflate.h"

namespace stoker {
namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

class ZlibInflater final : public Inflater {
 public:
  explicit ZlibInflater(Wrapper wrapper) {
    constexpr int kGzipHeader = 16;
    const int window = MAX_WBITS + (wrapper == Wrapper::kGzip ? kGzipHeader : 0);
    if (inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }

  Step step(std::span<const char> in, std::span<char> out) override {
    in = in.first(std::min(in.size(), kMostAtOnce));
    out = out.first(std::min(out.size(), kMostAtOnce));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    return {.consumed = static_cast<ptrdiff_t>(in.size()) - static_cast<ptrdiff_t>(stream_.avail_in),
            .produced = out.size() - stream_.avail_out,
            .finished = status == Z_STREAM_END,
            .damage = damage_of(status)};
  }

  void restart() override { inflateReset(&stream_); }

 private:
  const char* damage_of(int status) const {
    if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR) return nullptr;
    if (status == Z_NEED_DICT) return "the data requires a dictionary";
    return stream_.msg ? stream_.msg : "the data is not in deflate format";
  }

  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater(Wrapper wrapper) { return std::make_unique<ZlibInflater>(wrapper); }

}  // namespace stoker
