#include "stoker/io/inflate.h"

#ifdef STOKER_HAVE_ISAL

#include <algorithm>

#include <isa-l.h>

namespace stoker {
namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // ISA-L counts in 32 bits

const char* damage_of(int status) {
  switch (status) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid symbol";
    case ISAL_INVALID_LOOKBACK: return "invalid distance";
    case ISAL_INVALID_WRAPPER: return "incorrect header check";
    case ISAL_UNSUPPORTED_METHOD: return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM: return "incorrect data check";
    case ISAL_NEED_DICT: return "the data requires a dictionary";
    default: return status < 0 ? "the data is not in deflate format" : nullptr;
  }
}

class IsalInflater final : public Inflater {
 public:
  explicit IsalInflater(Wrapper wrapper) : wrapper_(wrapper) { restart(); }

  Step step(std::span<const char> in, std::span<char> out) override {
    in = in.first(std::min(in.size(), kMostAtOnce));
    out = out.first(std::min(out.size(), kMostAtOnce));
    state_.next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(in.data()));
    state_.avail_in = static_cast<uint32_t>(in.size());
    state_.next_out = reinterpret_cast<uint8_t*>(out.data());
    state_.avail_out = static_cast<uint32_t>(out.size());
    const int status = isal_inflate(&state_);
    return {.consumed = static_cast<ptrdiff_t>(in.size()) - static_cast<ptrdiff_t>(state_.avail_in),
            .produced = out.size() - state_.avail_out,
            .finished = damage_of(status) == nullptr && state_.block_state == ISAL_BLOCK_FINISH,
            .damage = damage_of(status)};
  }

  void restart() override {
    isal_inflate_init(&state_);
    state_.crc_flag = wrapper_ == Wrapper::kGzip ? ISAL_GZIP : ISAL_ZLIB;
  }

 private:
  const Wrapper wrapper_;
  inflate_state state_;  // about 80 KB, which restart() does not clear
};

}  // namespace

std::unique_ptr<Inflater> make_isal_inflater(Wrapper wrapper) { return std::make_unique<IsalInflater>(wrapper); }

}  // namespace stoker

#else

namespace stoker {

std::unique_ptr<Inflater> make_isal_inflater(Wrapper) { return nullptr; }

}  // namespace stoker

#endif
