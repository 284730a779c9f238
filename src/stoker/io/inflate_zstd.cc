#include "stoker/io/inflate.h"

#ifdef STOKER_HAVE_ZSTD

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>

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
    header_.append(in.data(), std::min(from.pos, kMostHeaderBytes - header_.size()));
    size_ += to.pos;
    const bool finished = status == 0;
    const char* damage = failed ? ZSTD_getErrorName(status) : finished ? wrong_size() : nullptr;
    if (finished) start_frame();
    return {.consumed = static_cast<ptrdiff_t>(from.pos),
            .produced = damage ? 0 : to.pos,
            .finished = finished && !damage,
            .damage = damage};
  }

  void restart() override {
    ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only);
    start_frame();
  }

 private:
  static constexpr size_t kMostHeaderBytes = 18;

  void start_frame() {
    header_.clear();
    size_ = 0;
  }
  // The library does not check the size of a frame that ends with an empty block if it is decompressed in several
  // calls.
  const char* wrong_size() const {
    const unsigned long long declared = ZSTD_getFrameContentSize(header_.data(), header_.size());
    const bool is_known = declared != ZSTD_CONTENTSIZE_UNKNOWN && declared != ZSTD_CONTENTSIZE_ERROR;
    return is_known && declared != size_ ? "a frame has another size than its header declares" : nullptr;
  }

  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::string header_;  // the first bytes of the frame
  uint64_t size_ = 0;   // of the frame so far, decompressed
};

}  // namespace

std::unique_ptr<Inflater> make_zstd_inflater() { return std::make_unique<ZstdInflater>(); }

}  // namespace stoker

#else

namespace stoker {

std::unique_ptr<Inflater> make_zstd_inflater() { return nullptr; }

}  // namespace stoker

#endif
