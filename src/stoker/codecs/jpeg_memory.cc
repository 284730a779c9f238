#include "stoker/codecs/jpeg_memory.h"

#ifdef STOKER_HAVE_JPEG

#include <cstdio>
#include <jpeglib.h>

namespace stoker {

Result<void> charge_jpeg_coefficients(jpeg_decompress_struct& jpeg, Charge& working) {
  if (!jpeg_has_multiple_scans(&jpeg)) return {};
  int64_t blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& part = jpeg.comp_info[i];
    blocks += int64_t{part.width_in_blocks + static_cast<JDIMENSION>(part.h_samp_factor)} *
              (part.height_in_blocks + static_cast<JDIMENSION>(part.v_samp_factor));
  }
  return working.grow_for("the coefficients of a JPEG with several scans",
                          blocks * DCTSIZE2 * static_cast<int64_t>(sizeof(JCOEF)));
}

}  // namespace stoker

#endif
