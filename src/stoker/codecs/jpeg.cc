#include "stoker/codecs/jpeg.h"

#ifdef STOKER_HAVE_JPEG

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include <jpeglib.h>

#include <jerror.h>

// The internal interfaces of libjpeg-turbo, if its package provides them.
#if defined(LIBJPEG_TURBO_VERSION) && __has_include(<jpegint.h>)
#define STOKER_JPEG_PARTS
#include <jpegint.h>
#endif

#include "stoker/codecs/jpeg_codes.h"
#include "stoker/codecs/jpeg_errors.h"
#include "stoker/codecs/jpeg_memory.h"
#include "stoker/core/array.h"

namespace stoker {
namespace {

// A progressive image has about ten scans. Decoding each one processes the whole image, so a small
// file with many scans could take minutes.
constexpr int kMostScans = 500;

// With Huffman codes, each 8x8 block takes at least one bit. The data of a larger image is
// incomplete, and no memory is allocated for it.
constexpr int64_t kMostPixelsPerByte = 8 * 64;
constexpr JDIMENSION kRowsAtOnce = 8;

Result<void> check(const JpegOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3)
    return Error::invalid("a JPEG cannot be decoded to ", options.channels, " channels, expected 0, 1 or 3");
  if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8)
    return Error::invalid("ratio must be 1, 2, 4 or 8, got ", options.ratio);
  return {};
}

// What to do after a warning that means that pixels are wrong.
enum class OnDamage : uint8_t { kGiveUp, kGoOn };

// Decodes one image with libjpeg. libjpeg reports errors by a call that must not return: it jumps
// back into run().
class Decoder final : public JpegRows {
 public:
  Decoder(Bytes bytes, const JpegOptions& options, OnDamage on_damage)
      : bytes_(bytes), options_(options), on_damage_(on_damage) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { std::longjmp(of(jpeg).escape_, 1); };
    errors_.emit_message = [](j_common_ptr jpeg, int level) { of(jpeg).warn(level); };
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr jpeg) { return of(jpeg).bytes_ended(); };
    source_.skip_input_data = [](j_decompress_ptr jpeg, long count) { of(jpeg).skip(count); };
    source_.resync_to_restart = jpeg_resync_to_restart;
    progress_.progress_monitor = [](j_common_ptr jpeg) { of(jpeg).count_scans(); };
  }
  ~Decoder() override { jpeg_destroy_decompress(&jpeg_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Result<ImageInfo> read_header() {
    if (bytes_.empty()) return Error::corrupt("expected JPEG data, got 0 bytes");
    if (!run([this] { begin(); })) return failure();
    STOKER_TRY(check_size(jpeg_.image_height, jpeg_.image_width));
    return ImageInfo{jpeg_.output_height, jpeg_.output_width, channels_, 8};
  }

  Result<void> check_bytes() const {
    const int64_t pixels = int64_t{jpeg_.image_height} * jpeg_.image_width;
    const auto size = static_cast<int64_t>(bytes_.size());
    if (jpeg_.arith_code || options_.try_recover_truncated || options_.acceptable_fraction < 1 ||
        pixels / kMostPixelsPerByte <= size)
      return {};
    return Error::corrupt("JPEG data ends early: ", size, " bytes cannot hold an image of ", jpeg_.image_height, "x",
                          jpeg_.image_width);
  }

  Result<void> read_rows(PixelRows rows) {
    STOKER_TRY(charge_jpeg_coefficients(jpeg_, working_));
    if (run([&] { decode(rows); })) return {};
    if (!ended_ || options_.acceptable_fraction >= 1 || rows_read_share() < options_.acceptable_fraction)
      return failure();
    for (JDIMENSION y = jpeg_.output_scanline; y < jpeg_.output_height; ++y)
      std::memset(row_of(rows, y), 0, size_t{jpeg_.output_width} * static_cast<size_t>(channels_));
    return {};
  }

  // From now on, rows() returns rows of this window.
  Result<void> start_rows(const ImageRegion& window) {
    left_ = window.left;
    top_ = window.top;
    STOKER_TRY(charge_jpeg_coefficients(jpeg_, working_));
    if (!run([&] { start_window(window); })) return failure();
    thread_local std::vector<JSAMPLE> ring;
    const size_t row = size_t{jpeg_.output_width} * static_cast<size_t>(pixel_);
    stride_ = (row + kVector - 1) / kVector * kVector;
    ring.resize(std::max(ring.size(), stride_ * kRing + 2 * kVector));
    // libjpeg-turbo writes rows that are aligned to a vector with non-temporal stores, which bypass
    // the cache. The rows are read immediately, so they start at other addresses.
    ring_ = ring.data() + kVector / 2 - reinterpret_cast<uintptr_t>(ring.data()) % (kVector / 2);
    if (reinterpret_cast<uintptr_t>(ring_) % kVector == 0) ring_ += kVector / 2;
    return {};
  }

  Result<void> rows(int64_t y, int n, const void** rows) override {
    if (!run([&] { read_until(static_cast<JDIMENSION>(top_ + y), static_cast<JDIMENSION>(n)); })) return failure();
    for (int k = 0; k < n; ++k) rows[k] = ring_row(static_cast<JDIMENSION>(top_ + y + k)) + left_ * pixel_;
    return {};
  }

  // Whether decoding stopped at damage after which libjpeg would continue.
  bool gave_up() const { return gave_up_; }

  // Decodes the rest, which may be damaged.
  Result<void> finish() {
    if (!run([&] {
          read_until(jpeg_.output_height, 0);
          jpeg_finish_decompress(&jpeg_);
        }))
      return failure();
    return {};
  }

 private:
  // The number of rows that are kept: those of one call, and as many that were read too far.
  static constexpr JDIMENSION kRing = 8, kRingGroup = 4;
  static constexpr size_t kVector = 32;

  template <typename Pointer>
  static Decoder& of(Pointer jpeg) {
    return *static_cast<Decoder*>(jpeg->client_data);
  }

  // Calls functions of libjpeg; returns false if one of them failed. `body` must not create objects
  // with destructors, because a jump would skip them.
  template <typename Body>
  bool run(Body body) {
    if (setjmp(escape_) != 0) return false;
    body();
    return true;
  }

  void begin() {
    jpeg_create_decompress(&jpeg_);
    jpeg_.progress = &progress_;
    jpeg_.src = &source_;
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes_.data());
    source_.bytes_in_buffer = bytes_.size();
    jpeg_read_header(&jpeg_, TRUE);
    channels_ = options_.channels != 0 ? options_.channels : std::min(jpeg_.num_components, 3);
    const bool inks = jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK;
    jpeg_.out_color_space = channels_ == 1 ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
    jpeg_.do_fancy_upsampling = options_.fancy_upscaling ? TRUE : FALSE;
    jpeg_.dct_method = options_.dct == JpegDct::kIntegerFast ? JDCT_IFAST : JDCT_ISLOW;
    jpeg_.scale_num = 1;
    jpeg_.scale_denom = static_cast<unsigned>(options_.ratio);
    jpeg_calc_output_dimensions(&jpeg_);
  }

  void decode(PixelRows rows) {
    jpeg_start_decompress(&jpeg_);
    read_codes_ourselves();
    if (jpeg_.out_color_space != JCS_CMYK) read_plain(rows);
    while (jpeg_.output_scanline < jpeg_.output_height) read_ink_row(row_of(rows, jpeg_.output_scanline));
    jpeg_finish_decompress(&jpeg_);
  }

  void read_plain(PixelRows rows) {
    JSAMPROW next[kRowsAtOnce];
    while (jpeg_.output_scanline < jpeg_.output_height) {
      const JDIMENSION count = std::min(kRowsAtOnce, jpeg_.output_height - jpeg_.output_scanline);
      for (JDIMENSION i = 0; i < count; ++i) next[i] = row_of(rows, jpeg_.output_scanline + i);
      jpeg_read_scanlines(&jpeg_, next, count);
    }
  }

  // Adobe's programs write inverted inks: 255 is no ink.
  void read_ink_row(JSAMPLE* out) {
    if (!inks_)
      inks_ = jpeg_.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&jpeg_), JPOOL_IMAGE, jpeg_.output_width * 4, 1);
    jpeg_read_scanlines(&jpeg_, inks_, 1);
    const JSAMPLE* ink = inks_[0];
    const int flip = jpeg_.saw_Adobe_marker ? 0 : 255;
    for (JDIMENSION x = 0; x < jpeg_.output_width; ++x, ink += 4)
      for (int c = 0; c < 3; ++c) *out++ = static_cast<JSAMPLE>((ink[3] ^ flip) * (ink[c] ^ flip) / 255);
  }

  void start_window(const ImageRegion& window) {
    pixel_ = channels_;
#ifdef JCS_EXTENSIONS
    if (jpeg_.out_color_space == JCS_RGB) {
      jpeg_.out_color_space = JCS_EXT_RGBX;
      pixel_ = 4;
    }
#endif
    jpeg_start_decompress(&jpeg_);
    read_codes_ourselves();
    if (window.width >= jpeg_.output_width || jpeg_.out_color_space == JCS_CMYK || options_.ratio != 1) return;
    // Upsampling uses the neighbors of the first and the last column.
    const auto margin = static_cast<JDIMENSION>(DCTSIZE * jpeg_.max_h_samp_factor);
    const auto left = static_cast<JDIMENSION>(window.left);
    JDIMENSION first = left > margin ? left - margin : 0;
    JDIMENSION count = std::min(left + static_cast<JDIMENSION>(window.width) + margin, jpeg_.output_width) - first;
    jpeg_crop_scanline(&jpeg_, &first, &count);
    left_ = window.left - first;
    const JDIMENSION unit = jpeg_.comps_in_scan == 1 ? DCTSIZE : margin;
    first_unit_ = first / unit;
    last_unit_ = (first + count - 1) / unit;
  }

  // libjpeg takes two thirds longer to decode the Huffman codes, which take most of the time of a
  // photograph. Damaged data is left to libjpeg.
  void read_codes_ourselves() {
#ifdef STOKER_JPEG_PARTS
    if (jpeg_.progressive_mode || jpeg_.arith_code || jpeg_.data_precision != 8 || on_damage_ == OnDamage::kGoOn ||
        jpeg_.inputctl->has_multiple_scans || jpeg_.comps_in_scan != jpeg_.num_components)
      return;
    thread_local JpegCodes codes;
    codes_ = &codes;
    JpegCodes::Block blocks[JpegCodes::kMostBlocks];
    for (int i = 0; i < jpeg_.blocks_in_MCU; ++i) {
      const int component = jpeg_.MCU_membership[i];
      const jpeg_component_info& info = *jpeg_.cur_comp_info[component];
      blocks[i] = {component, info.dc_tbl_no, info.ac_tbl_no};
      codes.set_dc_table(info.dc_tbl_no, table_of(*jpeg_.dc_huff_tbl_ptrs[info.dc_tbl_no]));
      codes.set_ac_table(info.ac_tbl_no, table_of(*jpeg_.ac_huff_tbl_ptrs[info.ac_tbl_no]));
    }
    codes.set_blocks(blocks, jpeg_.blocks_in_MCU);
    last_unit_ = jpeg_.MCUs_per_row;
    start_codes();
    jpeg_.entropy->decode_mcu = [](j_decompress_ptr jpeg, JBLOCKROW* unit) { return of(jpeg).read_unit(unit); };
#endif
  }

#ifdef STOKER_JPEG_PARTS
  static JpegCodes::Table table_of(const JHUFF_TBL& table) { return {table.bits, table.huffval}; }

  void start_codes() {
    codes_->start(bytes_, bytes_.size() - source_.bytes_in_buffer);
    units_to_restart_ = jpeg_.restart_interval;
  }

  boolean read_unit(JBLOCKROW* unit) {
    if (jpeg_.restart_interval > 0 && units_to_restart_-- == 0) {
      if (!(*jpeg_.marker->read_restart_marker)(&jpeg_)) return FALSE;
      start_codes();
      --units_to_restart_;
    }
    const bool wanted = unit && unit_ >= first_unit_ && unit_ <= last_unit_;
    unit_ = unit_ + 1 < jpeg_.MCUs_per_row ? unit_ + 1 : 0;
    const JpegCodes::End end = codes_->read(wanted ? unit : nullptr);
    source_.bytes_in_buffer = bytes_.size() - codes_->place();
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes_.data()) + codes_->place();
    switch (end) {
      case JpegCodes::End::kFine: return TRUE;
      case JpegCodes::End::kBadCode: WARNMS(&jpeg_, JWRN_HUFF_BAD_CODE); break;
      case JpegCodes::End::kMarker: WARNMS(&jpeg_, JWRN_HIT_MARKER); break;
      case JpegCodes::End::kTooLarge: ERREXIT(&jpeg_, JERR_BAD_DCT_COEF); break;
      case JpegCodes::End::kBytes: return bytes_ended();
    }
    return TRUE;
  }
#endif

  // Decodes until rows [y, y + n) are in the ring. Rows are skipped only from the first row:
  // skipping later changes the pixels after the gap in some versions of libjpeg-turbo. It never
  // skips to the last row, because libjpeg then does not check for an end marker.
  void read_until(JDIMENSION y, JDIMENSION n) {
    if (n > 0 && y > 0 && jpeg_.output_scanline == 0) jpeg_skip_scanlines(&jpeg_, y);
    while (jpeg_.output_scanline < y + n) {
      const JDIMENSION first = jpeg_.output_scanline;
      const JDIMENSION count = std::min(kRingGroup, jpeg_.output_height - first);
      if (jpeg_.out_color_space == JCS_CMYK) {
        read_ink_row(ring_row(first));
        continue;
      }
      JSAMPROW next[kRingGroup];
      for (JDIMENSION i = 0; i < count; ++i) next[i] = ring_row(first + i);
      for (JDIMENSION done = 0; done < count;) done += jpeg_read_scanlines(&jpeg_, next + done, count - done);
    }
  }

  JSAMPLE* ring_row(JDIMENSION y) const { return ring_ + (y % kRing) * stride_; }

  static JSAMPLE* row_of(PixelRows rows, JDIMENSION y) {
    return reinterpret_cast<JSAMPLE*>(rows.first + int64_t{y} * rows.stride);
  }
  float rows_read_share() const {
    return static_cast<float>(jpeg_.output_scanline) / static_cast<float>(jpeg_.output_height);
  }

  void warn(int level) {
    if (level >= 0) return;  // a trace message
    ++errors_.num_warnings;
    if (on_damage_ == OnDamage::kGiveUp && means_jpeg_damage(errors_.msg_code)) {
      gave_up_ = true;
      std::longjmp(escape_, 1);
    }
    if (options_.note && errors_.num_warnings == 1) options_.note->assign(message());
  }

  // The text of the last error or warning.
  std::string message() {
    char text[JMSG_LENGTH_MAX];
    errors_.format_message(reinterpret_cast<j_common_ptr>(&jpeg_), text);
    return text;
  }

  // The first time, provides an end marker, so that libjpeg returns the rows that it has.
  boolean bytes_ended() {
    static constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};
    if (ended_ || !options_.try_recover_truncated) {
      ended_ = true;
      ERREXIT(&jpeg_, JERR_FILE_READ);
    }
    ended_ = true;
    source_.next_input_byte = kEnd;
    source_.bytes_in_buffer = sizeof(kEnd);
    return TRUE;
  }

  void skip(long count) {
    if (count <= 0) return;
    const size_t step = std::min(static_cast<size_t>(count), source_.bytes_in_buffer);
    source_.next_input_byte += step;
    source_.bytes_in_buffer -= step;
  }

  void count_scans() {
    if (jpeg_.input_scan_number <= kMostScans) return;
    too_many_scans_ = true;
    std::longjmp(escape_, 1);
  }

  Error failure() {
    if (too_many_scans_) return Error::exhausted("a JPEG exceeds the limit of ", kMostScans, " scans");
    if (ended_ && jpeg_.output_height == 0)
      return Error::corrupt("JPEG data ends early: it has ", bytes_.size(), " bytes, less than a complete header");
    if (ended_)
      return Error::corrupt("JPEG data ends early: it has ", bytes_.size(), " bytes, from which ",
                            jpeg_.output_scanline, " of ", jpeg_.output_height, " rows were decoded");
    return jpeg_error({errors_.msg_code, message()}, jpeg_.num_components, channels_);
  }

  const Bytes bytes_;
  const JpegOptions& options_;
  const OnDamage on_damage_;
  int channels_ = 0;
  bool ended_ = false;  // all bytes were read
  bool gave_up_ = false;
  bool too_many_scans_ = false;
  JSAMPARRAY inks_ = nullptr;  // one row of CMYK
  Charge working_;
  JSAMPLE* ring_ = nullptr;  // the last rows
  size_t stride_ = 0;
  int64_t left_ = 0;  // the start of the window in the rows of the ring
  int64_t top_ = 0;
  JpegCodes* codes_ = nullptr;  // null: libjpeg decodes the codes
  unsigned units_to_restart_ = 0;
  JDIMENSION unit_ = 0;                        // the next one in its row
  JDIMENSION first_unit_ = 0, last_unit_ = 0;  // the units whose pixels are needed
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf escape_{};
};

}  // namespace

Result<ImageInfo> jpeg_info(Bytes bytes, const JpegOptions& options) {
  STOKER_TRY(check(options));
  return Decoder(bytes, options, OnDamage::kGiveUp).read_header();
}

namespace {

// Decodes damaged data as libjpeg does, and thereby Pillow and TensorFlow.
Result<void> decode_damaged(Bytes bytes, const JpegOptions& options, const PixelRows& rows) {
  Decoder decoder(bytes, options, OnDamage::kGoOn);
  STOKER_TRY(decoder.read_header());
  return decoder.read_rows(rows);
}

}  // namespace

// A new decoder for each image: a reused one would apply the tables of earlier images to images
// that have none. Creating one takes 0.2 µs.
Result<void> decode_jpeg(Bytes bytes, const JpegOptions& options, const PixelPlace& place) {
  STOKER_TRY(check(options));
  const bool partly = options.try_recover_truncated || options.acceptable_fraction < 1;
  Decoder decoder(bytes, options, partly ? OnDamage::kGoOn : OnDamage::kGiveUp);
  STOKER_TRY(const ImageInfo info, decoder.read_header());
  STOKER_TRY(decoder.check_bytes());
  STOKER_TRY(const PixelRows rows, place(info));
  const Result<void> done = decoder.read_rows(rows);
  return decoder.gave_up() ? decode_damaged(bytes, options, rows) : done;
}

namespace {

// The window of an image that was decoded completely.
class WholeRows final : public JpegRows {
 public:
  WholeRows(const std::byte* first, int64_t stride, int channels) : first_(first), stride_(stride) {
    pixel_ = channels;
  }
  Result<void> rows(int64_t y, int n, const void** rows) override {
    for (int k = 0; k < n; ++k) rows[k] = first_ + (y + k) * stride_;
    return {};
  }

 private:
  const std::byte* first_;
  const int64_t stride_;
};

Result<void> use_damaged(Bytes bytes, const JpegOptions& options, const ImageRegion& window, const ImageInfo& info,
                         const JpegWindowed& windowed) {
  const int64_t stride = info.width * info.channels;
  STOKER_TRY(Array whole, Array::make({info.height, stride}, DType::kUint8));
  auto* const pixels = static_cast<std::byte*>(whole.mutable_raw());
  STOKER_TRY(decode_damaged(bytes, options, {pixels, stride}));
  WholeRows rows(pixels + window.top * stride + window.left * info.channels, stride, info.channels);
  return windowed.use(info, rows);
}

// Decodes an image that contains only the parts that the window needs.
Result<void> use_spliced(Bytes bytes, const JpegLayout& layout, const JpegOptions& options, ImageRegion window,
                         const ImageInfo& info, const JpegWindowed& windowed, bool& gave_up) {
  thread_local std::string spliced;
  const ImageRegion shown = splice_jpeg(bytes, layout, window, spliced);
  window.top -= shown.top;
  window.left -= shown.left;
  Decoder decoder(spliced, options, OnDamage::kGiveUp);
  STOKER_TRY(decoder.read_header());
  STOKER_TRY(decoder.start_rows(window));
  const Result<void> done = windowed.use(info, decoder);
  gave_up = decoder.gave_up();
  return done;
}

Result<void> use_window(Bytes bytes, Decoder& decoder, const JpegOptions& options, const ImageRegion& window,
                        const ImageInfo& info, const JpegWindowed& windowed, bool& gave_up) {
  const bool whole = window == ImageRegion{0, 0, info.height, info.width};
  thread_local JpegLayout layout;
  const bool ends = whole || (walk_jpeg(bytes, layout) && layout.ends);
  if (!whole && ends && options.ratio == 1 && layout.seekable())
    return use_spliced(bytes, layout, options, window, info, windowed, gave_up);
  Result<void> done = decoder.start_rows(window);
  if (done) done = windowed.use(info, decoder);
  if (done && (whole || !ends)) done = decoder.finish();
  gave_up = decoder.gave_up();
  return done;
}

}  // namespace

Result<void> decode_jpeg_rows(Bytes bytes, const JpegOptions& options, const JpegWindowed& windowed) {
  STOKER_TRY(check(options));
  Decoder decoder(bytes, options, OnDamage::kGiveUp);
  STOKER_TRY(const ImageInfo info, decoder.read_header());
  STOKER_TRY(decoder.check_bytes());
  STOKER_TRY(const ImageRegion window, windowed.choose(info));
  STOKER_TRY(check_inside(window, info));
  bool gave_up = false;
  const Result<void> done = use_window(bytes, decoder, options, window, info, windowed, gave_up);
  return gave_up ? use_damaged(bytes, options, window, info, windowed) : done;
}

}  // namespace stoker

#else

namespace stoker {

Result<ImageInfo> jpeg_info(Bytes, const JpegOptions&) {
  return Error::unimplemented("cannot decode JPEG: this build of Stoker does not include libjpeg-turbo");
}

Result<void> decode_jpeg(Bytes bytes, const JpegOptions& options, const PixelPlace&) {
  return jpeg_info(bytes, options).error();
}

Result<void> decode_jpeg_rows(Bytes bytes, const JpegOptions& options, const JpegWindowed&) {
  return jpeg_info(bytes, options).error();
}

}  // namespace stoker

#endif
