#include "stoker/codecs/jpeg_rewrite.h"

#ifdef STOKER_HAVE_JPEG

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <new>
#include <span>
#include <utility>

#include <jpeglib.h>

#include "stoker/codecs/jpeg_huffman.h"

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

// Collects the bytes that libjpeg writes.
class Output : public jpeg_destination_mgr {
 public:
  explicit Output(size_t expected) : bytes_(expected, '\0') {
    init_destination = term_destination = [](j_compress_ptr) {};
    empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
      if (!static_cast<Output*>(jpeg->dest)->grow()) jpeg->err->error_exit(reinterpret_cast<j_common_ptr>(jpeg));
      return TRUE;
    };
    use(0);
  }
  std::string take() {
    bytes_.resize(bytes_.size() - free_in_buffer);
    return std::move(bytes_);
  }

 private:
  // No exception may propagate through libjpeg.
  bool grow() {
    const size_t full = bytes_.size();
    try {
      bytes_.resize(2 * full);
    } catch (const std::bad_alloc&) {
      return false;
    }
    use(full);
    return true;
  }
  void use(size_t from) {
    next_output_byte = reinterpret_cast<JOCTET*>(bytes_.data() + from);
    free_in_buffer = bytes_.size() - from;
  }

  std::string bytes_;
};

// Computes the optimal codes of an image. Counts the symbols that the encoder will write, unit by
// unit of the scan; blocks beyond the image repeat the DC coefficient of the block before them.
// libjpeg can also do this, in a pass that takes a third of the total time.
class Codes {
 public:
  // The parameters of `to` must be set.
  Codes(jpeg_decompress_struct& from, jpeg_compress_struct& to, jvirt_barray_ptr* coefficients) : from_(from), to_(to) {
    for (int i = 0; i < from.num_components; ++i) {
      const jpeg_component_info& part = from.comp_info[i];
      const bool alone = from.num_components == 1;  // then its blocks are the units, regardless of its sampling
      planes_[i] = {.coefficients = coefficients[i],
                    .width = part.width_in_blocks,
                    .height = part.height_in_blocks,
                    .across = alone ? 1 : static_cast<JDIMENSION>(part.h_samp_factor),
                    .down = alone ? 1 : static_cast<JDIMENSION>(part.v_samp_factor),
                    .table = to.comp_info[i].ac_tbl_no};
    }
  }

  // Returns false if a coefficient is too large for a baseline image.
  bool find() {
    JDIMENSION unit = 0;
    for (JDIMENSION row = 0; row < units(&Plane::height, &Plane::down); ++row) {
      open(row);
      for (JDIMENSION column = 0; column < units(&Plane::width, &Plane::across); ++column, ++unit) {
        const bool restarts = unit % to_.restart_interval == 0;
        for (Plane& plane : planes()) {
          if (restarts) plane.last = 0;
          if (!count_unit(plane, row, column)) return false;
        }
      }
    }
    return true;
  }

  void use() const {
    for (const Plane& plane : planes()) {
      set(to_.dc_huff_tbl_ptrs[plane.table], firsts_[plane.table]);
      set(to_.ac_huff_tbl_ptrs[plane.table], others_[plane.table]);
    }
  }

 private:
  struct Plane {
    jvirt_barray_ptr coefficients;
    JDIMENSION width, height;  // in blocks
    JDIMENSION across, down;   // blocks in a unit
    int table;
    JBLOCKARRAY rows = nullptr;  // the rows of blocks of the current units
    int last = 0;                // the DC coefficient of the previous block
  };

  std::span<Plane> planes() { return {planes_.data(), static_cast<size_t>(from_.num_components)}; }
  std::span<const Plane> planes() const { return {planes_.data(), static_cast<size_t>(from_.num_components)}; }

  // The number of units in one direction.
  JDIMENSION units(JDIMENSION Plane::* size, JDIMENSION Plane::* step) const {
    JDIMENSION most = 0;
    for (const Plane& plane : planes()) most = std::max(most, (plane.*size + plane.*step - 1) / (plane.*step));
    return most;
  }

  void open(JDIMENSION row) {
    for (Plane& plane : planes())
      plane.rows = from_.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&from_), plane.coefficients,
                                                 row * plane.down, plane.down, FALSE);
  }

  bool count_unit(Plane& plane, JDIMENSION row, JDIMENSION column) {
    for (JDIMENSION y = 0; y < plane.down; ++y)
      for (JDIMENSION x = 0; x < plane.across; ++x) {
        const JDIMENSION at = column * plane.across + x;
        const bool inside = row * plane.down + y < plane.height && at < plane.width;
        if (!count_block(plane, inside ? plane.rows[y][at] : nullptr)) return false;
      }
    return true;
  }

  // A null block is beyond the image.
  bool count_block(Plane& plane, const JCOEF* block) {
    static constexpr std::array<int16_t, 64> kEmpty{};
    const int before = block ? std::exchange(plane.last, block[0]) : plane.last;
    return count_difference(plane.last - before, firsts_[plane.table]) &&
           count_symbols(std::span<const int16_t, 64>(block ? block : kEmpty.data(), 64), others_[plane.table]);
  }

  static void set(JHUFF_TBL* table, const SymbolCounts& counts) {
    const HuffmanCode code = best_code(counts);
    std::ranges::copy(code.lengths, table->bits);
    std::ranges::copy(code.symbols, table->huffval);
    table->sent_table = FALSE;
  }

  jpeg_decompress_struct& from_;
  jpeg_compress_struct& to_;
  std::array<Plane, MAX_COMPONENTS> planes_{};
  std::array<SymbolCounts, NUM_HUFF_TBLS> firsts_{}, others_{};  // by table
};

// Copies the coefficients of one image to another. libjpeg reports errors by a call that must not
// return: it jumps back into run().
class Rewriter {
 public:
  // The rewritten image is slightly larger than the original.
  explicit Rewriter(Bytes bytes) : bytes_(bytes), output_(bytes.size() + bytes.size() / 8 + 4096) {
    from_.err = to_.err = jpeg_std_error(&errors_);
    from_.client_data = to_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) { static_cast<Rewriter*>(jpeg->client_data)->give_up(); };
    // A warning means that the data is not valid in some respect.
    errors_.emit_message = [](j_common_ptr jpeg, int level) {
      if (level < 0) static_cast<Rewriter*>(jpeg->client_data)->give_up();
    };
  }
  ~Rewriter() {
    jpeg_destroy_compress(&to_);
    jpeg_destroy_decompress(&from_);
  }
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  std::optional<std::string> run(int64_t interval) {
    if (setjmp(escape_) != 0) return std::nullopt;
    rewrite(interval);
    return output_.take();
  }

 private:
  [[noreturn]] void give_up() { std::longjmp(escape_, 1); }

  void rewrite(int64_t interval) {
    jpeg_create_decompress(&from_);
    jpeg_create_compress(&to_);
    jpeg_mem_src(&from_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
    to_.dest = &output_;
    jpeg_save_markers(&from_, JPEG_COM, 0xffff);
    for (int i = 0; i < 16; ++i) jpeg_save_markers(&from_, JPEG_APP0 + i, 0xffff);
    jpeg_read_header(&from_, TRUE);
    jvirt_barray_ptr* coefficients = jpeg_read_coefficients(&from_);
    jpeg_copy_critical_parameters(&from_, &to_);
    to_.restart_interval = static_cast<unsigned>(interval);
    Codes codes(from_, to_, coefficients);
    if (!codes.find()) give_up();
    codes.use();
    // Both are among the segments that are kept.
    to_.write_JFIF_header = FALSE;
    to_.write_Adobe_marker = FALSE;
    jpeg_write_coefficients(&to_, coefficients);
    for (jpeg_saved_marker_ptr each = from_.marker_list; each; each = each->next)
      jpeg_write_marker(&to_, each->marker, each->data, each->data_length);
    jpeg_finish_compress(&to_);
    jpeg_finish_decompress(&from_);
  }

  const Bytes bytes_;
  Output output_;
  jpeg_decompress_struct from_{};
  jpeg_compress_struct to_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
};

}  // namespace

std::optional<std::string> with_restart_markers(Bytes bytes) {
  JpegLayout layout;
  if (!walk_jpeg(bytes, layout) || !layout.ends || layout.end != bytes.size()) return std::nullopt;
  if (!layout.baseline || layout.scans != 1 || layout.scan_components != layout.components || layout.components > 3 ||
      layout.restart_interval != 0 || layout.height == 0 || layout.width == 0)
    return std::nullopt;
  std::optional<std::string> rewritten = Rewriter(bytes).run(restart_interval_for(layout));
  if (!rewritten || !walk_jpeg(*rewritten, layout) || !layout.seekable()) return std::nullopt;
  return rewritten;
}

#else

std::optional<std::string> with_restart_markers(Bytes) { return std::nullopt; }

#endif

}  // namespace stoker
