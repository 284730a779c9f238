#include "stoker/codecs/jpeg_encode.h"

#ifdef STOKER_HAVE_JPEG

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

namespace stoker {
namespace {

constexpr int64_t kLongestSide = JPEG_MAX_DIMENSION;

Result<void> check(const ImageInfo& info, const JpegEncodeOptions& options) {
  if (info.channels != 1 && info.channels != 3)
    return Error::invalid("expected 1 or 3 channels for a JPEG, got ", info.channels);
  if (info.height < 1 || info.width < 1 || info.height > kLongestSide || info.width > kLongestSide)
    return Error::invalid("expected sides of 1 to ", kLongestSide, " for a JPEG, got ", info.height, "x", info.width);
  if (options.quality < 0 || options.quality > 100)
    return Error::invalid("expected a JPEG quality of 0 to 100, got ", options.quality);
  return {};
}

// Encodes one image with libjpeg. libjpeg reports errors by a call that must not return: it jumps
// back into run().
class Encoder {
 public:
  Encoder() {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { std::longjmp(static_cast<Encoder*>(jpeg->client_data)->escape_, 1); };
    errors_.emit_message = [](j_common_ptr, int) {};
  }
  ~Encoder() {
    jpeg_destroy_compress(&jpeg_);
    std::free(bytes_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  Result<std::string> run(const ImageInfo& info, const std::byte* pixels, int64_t stride,
                          const JpegEncodeOptions& options) {
    if (setjmp(escape_) != 0) return failure();
    encode(info, pixels, stride, options);
    return std::string(reinterpret_cast<const char*>(bytes_), size_);
  }

 private:
  void encode(const ImageInfo& info, const std::byte* pixels, int64_t stride, const JpegEncodeOptions& options) {
    jpeg_create_compress(&jpeg_);
    jpeg_mem_dest(&jpeg_, &bytes_, &size_);
    jpeg_.image_height = static_cast<JDIMENSION>(info.height);
    jpeg_.image_width = static_cast<JDIMENSION>(info.width);
    jpeg_.input_components = info.channels;
    jpeg_.in_color_space = info.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, options.quality, TRUE);
    if (info.channels == 3 && !options.chroma_downsampling)
      jpeg_.comp_info[0].h_samp_factor = jpeg_.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg_, TRUE);
    while (jpeg_.next_scanline < jpeg_.image_height) {
      const std::byte* row = pixels + int64_t{jpeg_.next_scanline} * stride;
      JSAMPROW rows[] = {reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(row))};
      jpeg_write_scanlines(&jpeg_, rows, 1);
    }
    jpeg_finish_compress(&jpeg_);
  }

  Error failure() {
    char words[JMSG_LENGTH_MAX];
    errors_.format_message(reinterpret_cast<j_common_ptr>(&jpeg_), words);
    return Error::internal("the image could not be encoded as JPEG: ", words);
  }

  jpeg_compress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

Result<std::string> encode_jpeg(const ImageInfo& info, const std::byte* pixels, int64_t stride,
                                const JpegEncodeOptions& options) {
  STOKER_TRY(check(info, options));
  return Encoder().run(info, pixels, stride, options);
}

}  // namespace stoker

#else

namespace stoker {

Result<std::string> encode_jpeg(const ImageInfo&, const std::byte*, int64_t, const JpegEncodeOptions&) {
  return Error::unimplemented("cannot encode JPEG: this build of Stoker does not include libjpeg-turbo");
}

}  // namespace stoker

#endif
