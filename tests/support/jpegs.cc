#include "support/jpegs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "stoker/core/rng.h"

namespace stoker {

std::vector<uint8_t> test_pixels(int height, int width, int components) {
  std::vector<uint8_t> pixels;
  Rng rng(1, 2, 3, 4);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < components; ++c)
        pixels.push_back(static_cast<uint8_t>(
            std::clamp(128 + 90 * std::sin(0.11 * x * (c + 1) + 0.07 * y) + 40 * rng.uniform() - 20, 0.0, 255.0)));
  return pixels;
}

std::string make_jpeg(const TestJpeg& image) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.input_components = image.components;
  jpeg.in_color_space = image.components == 1 ? JCS_GRAYSCALE : image.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  if (image.as_ycck) jpeg_set_colorspace(&jpeg, JCS_YCCK);
  jpeg_set_quality(&jpeg, image.quality, TRUE);
  jpeg.comp_info[0].h_samp_factor = image.components == 1 ? 1 : image.across;
  jpeg.comp_info[0].v_samp_factor = image.components == 1 ? 1 : image.down;
  if (image.components == 4) {
    jpeg.comp_info[3].h_samp_factor = jpeg.comp_info[0].h_samp_factor;
    jpeg.comp_info[3].v_samp_factor = jpeg.comp_info[0].v_samp_factor;
  }
  jpeg.restart_in_rows = image.restart_rows;
  jpeg.restart_interval = static_cast<unsigned>(image.restart_interval);
  jpeg.arith_code = image.arithmetic ? TRUE : FALSE;
  if (image.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> pixels = test_pixels(image.height, image.width, image.components);
  for (int y = 0; y < image.height; ++y) {
    JSAMPROW row = pixels.data() + static_cast<ptrdiff_t>(y) * image.width * image.components;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string made(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return made;
}

std::vector<uint8_t> bare_decode(std::string_view bytes, const BareJpeg& how) {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = how.components == 1 ? JCS_GRAYSCALE : how.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg.dct_method = how.fast ? JDCT_IFAST : JDCT_ISLOW;
  jpeg.do_fancy_upsampling = how.fancy ? TRUE : FALSE;
  jpeg.scale_denom = static_cast<unsigned>(how.ratio);
  jpeg.scale_num = 1;
  jpeg_start_decompress(&jpeg);
  const size_t stride = jpeg.output_width * static_cast<size_t>(how.components);
  std::vector<uint8_t> pixels(stride * jpeg.output_height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = pixels.data() + stride * jpeg.output_scanline;
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  return pixels;
}

}  // namespace stoker
