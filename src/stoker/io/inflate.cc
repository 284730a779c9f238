#include "stoker/io/inflate.h"

namespace stoker {

std::string_view name_of(Wrapper wrapper) {
  constexpr std::string_view names[] = {"GZIP", "ZLIB", "ZSTD"};
  return names[static_cast<size_t>(wrapper)];
}

std::unique_ptr<Inflater> make_inflater(Wrapper wrapper) {
  if (wrapper == Wrapper::kZstd) return make_zstd_inflater();
  if (std::unique_ptr<Inflater> fast = make_isal_inflater(wrapper)) return fast;
  return make_zlib_inflater(wrapper);
}

}  // namespace stoker
