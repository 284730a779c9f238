#include "stoker/io/inflate.h"

#ifdef STOKER_HAVE_ZSTD

#include <new>

#include <zstd.h>

namespace stoker {
namespace {

struct Free {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

class ZstdInflater final : public Inflater {
 public:
  ZstdInflater() : stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  Step step(std::span<const char> in, std::span<char> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const size_t status = ZSTD_decompressStream(stream_.get(), &to, &from);
    const bool failed = ZSTD_isError(status) != 0;
    return {.consumed = static_cast<ptrdiff_t>(from.pos),
            .produced = failed ? 0 : to.pos,
            .finished = status == 0,
            .damage = failed ? ZSTD_getErrorName(status) : nullptr};
  }

  void restart() override { ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only); }

 private:
  std::unique_ptr<ZSTD_DStream, Free> stream_;
};

}  // namespace

std::unique_ptr<Inflater> make_zstd_inflater() { return std::make_unique<ZstdInflater>(); }

}  // namespace stoker

#else

namespace stoker {

std::unique_ptr<Inflater> make_zstd_inflater() { return nullptr; }

}  // namespace stoker

#endif
