#include "stoker/codecs/jpeg_rewrite.h"

#include <cstdlib>

#ifdef STOKER_HAVE_JPEG

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#endif

namespace stoker {

int64_t restart_interval_for(const JpegLayout& layout) {
  constexpr int64_t kWanted = 2;
  const int64_t row = layout.mcus_in_row();
  for (int64_t away = 0; away <= row; ++away)
    for (const int64_t each : {kWanted + away, kWanted - away})
      if (each >= kWanted && each <= row && row % each == 0) return each;
  return row;
}

#ifdef STOKER_HAVE_JPEG

namespace {

// Coefficients from one picture to another. libjpeg reports errors by a call
// that must not return: it jumps back into run().
class Rewriter {
 public:
  Rewriter() {
    from_.err = to_.err = jpeg_std_error(&errors_);
    from_.client_data = to_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { std::longjmp(static_cast<Rewriter*>(jpeg->client_data)->escape_, 1); };
    // A warning means that something is not as it should be.
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0) std::longjmp(static_cast<Rewriter*>(jpeg->client_data)->escape_, 1);
    };
  }
  ~Rewriter() {
    jpeg_destroy_compress(&to_);
    jpeg_destroy_decompress(&from_);
    std::free(bytes_);
  }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  std::optional<std::string> run(Bytes bytes, int64_t interval) {
    if (setjmp(escape_) != 0) return std::nullopt;
    rewrite(bytes, interval);
    return std::string(reinterpret_cast<const char*>(bytes_), size_);
  }

 private:
  void rewrite(Bytes bytes, int64_t interval) {
    jpeg_create_decompress(&from_);
    jpeg_create_compress(&to_);
    jpeg_mem_src(&from_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_mem_dest(&to_, &bytes_, &size_);
    jpeg_save_markers(&from_, JPEG_COM, 0xffff);
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&from_, JPEG_APP0 + i, 0xffff);
    jpeg_read_header(&from_, TRUE);
    jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&from_);
    jpeg_copy_critical_parameters(&from_, &to_);
    to_.optimize_coding = TRUE;
    to_.restart_interval = static_cast<unsigned>(interval);
    // They are among the segments that are kept.
    to_.write_JFIF_header = FALSE;
    to_.write_Adobe_marker = FALSE;
    jpeg_write_coefficients(&to_, coefficients);
    for (jpeg_saved_marker_ptr each = from_.marker_list; each; each = each->next)
      jpeg_write_marker(&to_, each->marker, each->data, each->data_length);
    jpeg_finish_compress(&to_);
    jpeg_finish_decompress(&from_);
  }

  jpeg_decompress_struct from_{};
  jpeg_compress_struct to_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  unsigned char* bytes_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace

std::optional<std::string> with_restart_markers(Bytes bytes) {
  JpegLayout layout;
  if (!walk_jpeg(bytes, layout) || !layout.ends || layout.end != bytes.size()) return std::nullopt;
  if (!layout.baseline || layout.scans != 1 || layout.scan_components != layout.components || layout.components > 3 ||
      layout.restart_interval != 0 || layout.height == 0 || layout.width == 0)
    return std::nullopt;
  std::optional<std::string> rewritten = Rewriter().run(bytes, restart_interval_for(layout));
  if (!rewritten || !walk_jpeg(*rewritten, layout) || !layout.seekable()) return std::nullopt;
  return rewritten;
}

#else

std::optional<std::string> with_restart_markers(Bytes) { return std::nullopt; }

#endif

}  // namespace stoker
