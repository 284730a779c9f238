#include "stoker/io/inflate.h"

namespace stoker {

std::unique_ptr<Inflater> make_inflater(Wrapper wrapper) {
  if (std::unique_ptr<Inflater> fast = make_isal_inflater(wrapper)) return fast;
  return make_zlib_inflater(wrapper);
}

}  // namespace stoker
