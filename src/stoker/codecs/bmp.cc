#include "stoker/codecs/bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "stoker/codecs/rgba.h"
#include "stoker/core/charge.h"

namespace stoker {
namespace {

constexpr size_t kFileHeader = 14;

// Values of the field `compression`.
enum : uint32_t { kPlain = 0, kRle8 = 1, kRle4 = 2, kMasks = 3, kMasksWithAlpha = 6 };

uint32_t number_at(Bytes bytes, size_t at, int size) {
  uint32_t number = 0;
  for (int i = size - 1; i >= 0; --i) number = number << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
  return number;
}

// The bits of one channel in a pixel.
struct Mask {
  uint32_t bits = 0;

  uint8_t of(uint32_t pixel, uint8_t without) const {
    if (bits == 0) return without;
    const int shift = std::countr_zero(bits);
    return static_cast<uint8_t>(uint64_t{(pixel & bits) >> shift} * 255 / (bits >> shift));
  }
};

using Rgba = std::array<uint8_t, 4>;

class Decoder {
 public:
  Decoder(Bytes bytes, const BmpOptions& options) : bytes_(bytes), options_(options) {}

  Result<ImageInfo> read_header() {
    STOKER_TRY(need(kFileHeader + 12, "header"));
    data_at_ = number_at(bytes_, 10, 4);
    const uint32_t size = number_at(bytes_, 14, 4);
    STOKER_TRY(size == 12 ? read_old_fields() : read_fields(size));
    STOKER_TRY(check_size(height_, width_));
    STOKER_TRY(check_kind());
    if (bits_ <= 8) STOKER_TRY(read_palette(size));
    return ImageInfo{height_, width_, channels()};
  }

  Result<void> check_bytes() const {
    if (is_run_length()) return {};
    const int64_t last = (height_ - 1) * stride() + (width_ * bits_ + 7) / 8;
    if (data_at_ + last <= static_cast<int64_t>(bytes_.size())) return {};
    return Error::corrupt("BMP data ends early: it has ", bytes_.size(), " bytes, but an image of ", height_, "x",
                          width_, " needs ", data_at_ + last);
  }

  Result<void> read_rows(PixelRows rows) {
    if (is_run_length()) STOKER_TRY(unpack_runs());
    std::vector<uint8_t> row(static_cast<size_t>(width_) * 4);
    const int given = channels();
    for (int64_t y = 0; y < height_; ++y) {
      read_row(top_down_ ? y : height_ - 1 - y, row.data());
      convert_row<uint8_t, uint8_t>(reinterpret_cast<const std::byte*>(row.data()), rows.first + y * rows.stride,
                                    width_, given);
    }
    return {};
  }

 private:
  Result<void> need(size_t size, std::string_view part) const {
    if (bytes_.size() >= size) return {};
    return Error::corrupt("BMP data ends inside its ", part, ": it has ", bytes_.size(), " bytes, expected at least ",
                          size);
  }

  // The fields of the first version of OS/2.
  Result<void> read_old_fields() {
    width_ = number_at(bytes_, 18, 2);
    height_ = number_at(bytes_, 20, 2);
    bits_ = static_cast<int>(number_at(bytes_, 24, 2));
    colour_bytes_ = 3;
    return {};
  }

  Result<void> read_fields(uint32_t size) {
    constexpr uint32_t kKnown[] = {16, 40, 52, 56, 64, 108, 124};
    if (std::ranges::find(kKnown, size) == std::end(kKnown))
      return Error::unimplemented("a BMP header of ", size, " bytes is not supported");
    STOKER_TRY(need(kFileHeader + size, "header"));
    width_ = static_cast<int32_t>(number_at(bytes_, 18, 4));
    height_ = static_cast<int32_t>(number_at(bytes_, 22, 4));
    top_down_ = height_ < 0;
    if (top_down_) height_ = -height_;
    bits_ = static_cast<int>(number_at(bytes_, 28, 2));
    if (size == 16) return {};
    compression_ = number_at(bytes_, 30, 4);
    colours_ = number_at(bytes_, 46, 4);
    if (size != 64) return read_masks(size);
    if (compression_ >= kMasks)
      return Error::unimplemented("an OS/2 BMP with compression ", compression_, " is not supported");
    return {};
  }

  Result<void> read_masks(uint32_t size) {
    if (compression_ != kMasks && compression_ != kMasksWithAlpha) return {};
    const bool alpha = compression_ == kMasksWithAlpha || size >= 56;
    const size_t count = alpha ? 4 : 3;
    if (size == 40) mask_bytes_ = count * 4;
    STOKER_TRY(need(kFileHeader + 40 + count * 4, "masks"));
    masks_ = {};
    for (size_t i = 0; i < count; ++i) masks_[i].bits = number_at(bytes_, kFileHeader + 40 + i * 4, 4);
    masks_given_ = true;
    return {};
  }

  Result<void> check_kind() {
    const auto fits = [&](std::initializer_list<int> known) { return std::ranges::find(known, bits_) != known.end(); };
    const bool known = compression_ == kPlain  ? fits({1, 4, 8, 16, 24, 32})
                       : compression_ == kRle8 ? fits({8})
                       : compression_ == kRle4 ? fits({4})
                                               : masks_given_ && fits({16, 32});
    if (!known)
      return Error::unimplemented("a BMP with ", bits_, " bits per pixel and compression ", compression_,
                                  " is not supported");
    if (!masks_given_ && bits_ == 16) masks_ = {Mask{0x7c00}, Mask{0x3e0}, Mask{0x1f}, Mask{0}};
    return {};
  }

  Result<void> read_palette(uint32_t size) {
    const uint32_t most = 1u << bits_;
    const uint32_t count = colours_ == 0 ? most : std::min(colours_, most);
    const size_t at = kFileHeader + size + mask_bytes_;
    STOKER_TRY(need(at + count * colour_bytes_, "palette"));
    palette_.assign(256, {0, 0, 0, 255});
    for (size_t i = 0; i < count; ++i) {
      const Bytes colour = bytes_.substr(at + i * colour_bytes_, 3);
      for (size_t c = 0; c < 3; ++c) palette_[i][c] = static_cast<uint8_t>(colour[2 - c]);
    }
    grey_ = std::ranges::all_of(palette_, [](const Rgba& c) { return c[0] == c[1] && c[1] == c[2]; });
    return {};
  }

  int channels() const {
    if (options_.channels != 0) return options_.channels;
    if (bits_ <= 8) return grey_ ? 1 : 3;
    return (bits_ == 32 || masks_given_) && masks_[3].bits != 0 ? 4 : 3;
  }

  bool is_run_length() const { return compression_ == kRle8 || compression_ == kRle4; }
  int64_t stride() const { return (width_ * bits_ + 31) / 32 * 4; }

  // Row `y` of the file as RGBA.
  void read_row(int64_t y, uint8_t* to) const {
    if (is_run_length()) {
      for (int64_t x = 0; x < width_; ++x) put(palette_[indices_[static_cast<size_t>(y * width_ + x)]], to);
      return;
    }
    const auto* row = reinterpret_cast<const uint8_t*>(bytes_.data()) + data_at_ + y * stride();
    for (int64_t x = 0; x < width_; ++x) put(pixel(row, x), to);
  }

  static void put(const Rgba& pixel, uint8_t*& to) { to = std::ranges::copy(pixel, to).out; }

  Rgba pixel(const uint8_t* row, int64_t x) const {
    if (bits_ <= 8) {
      const int64_t bit = x * bits_;
      return palette_[row[bit / 8] >> (8 - bits_ - bit % 8) & ((1 << bits_) - 1)];
    }
    if (bits_ == 24) return {row[3 * x + 2], row[3 * x + 1], row[3 * x], 255};
    uint32_t value = row[bits_ / 8 * x] | row[bits_ / 8 * x + 1] << 8;
    if (bits_ == 32) value |= uint32_t{row[4 * x + 2]} << 16 | uint32_t{row[4 * x + 3]} << 24;
    return {masks_[0].of(value, 0), masks_[1].of(value, 0), masks_[2].of(value, 0), masks_[3].of(value, 255)};
  }

  // Two bytes are a run, or 0 and a command: end of row, end of image, a jump over pixels, or a
  // number of literal pixels.
  Result<void> unpack_runs() {
    STOKER_TRY(working_.grow_for("the pixels of a run-length encoded BMP", height_ * width_));
    indices_.assign(static_cast<size_t>(height_ * width_), 0);
    size_t at = data_at_;
    int64_t x = 0, y = 0;
    while (y < height_ && at + 2 <= bytes_.size()) {
      const auto count = static_cast<uint8_t>(bytes_[at]), value = static_cast<uint8_t>(bytes_[at + 1]);
      at += 2;
      if (count > 0) {
        const uint8_t pair[] = {value};
        put_indices(x, y, count, pair, true);
      } else if (value == 0) {
        x = 0, ++y;
      } else if (value == 1) {
        return {};
      } else if (value == 2) {
        if (at + 2 > bytes_.size()) break;
        x += static_cast<uint8_t>(bytes_[at]);
        y += static_cast<uint8_t>(bytes_[at + 1]);
        at += 2;
      } else {
        const size_t size = compression_ == kRle8 ? value : (value + 1u) / 2;
        if (at + size > bytes_.size()) break;
        put_indices(x, y, value, reinterpret_cast<const uint8_t*>(bytes_.data()) + at, false);
        at += size + size % 2;
      }
    }
    if (y >= height_) return {};
    return Error::corrupt("BMP data ends early: it has ", bytes_.size(), " bytes, from which ", y, " of ", height_,
                          " rows were decoded");
  }

  // Drops pixels beyond the end of the row.
  void put_indices(int64_t& x, int64_t y, int count, const uint8_t* from, bool repeated) {
    for (int i = 0; i < count; ++i, ++x) {
      if (x >= width_) continue;
      const int half = (i % 2 == 0) ? 4 : 0;
      indices_[static_cast<size_t>(y * width_ + x)] =
          compression_ == kRle8 ? from[repeated ? 0 : i] : from[repeated ? 0 : i / 2] >> half & 15;
    }
  }

  const Bytes bytes_;
  const BmpOptions& options_;
  int64_t width_ = 0;
  int64_t height_ = 0;
  bool top_down_ = false;
  int bits_ = 0;
  uint32_t compression_ = kPlain;
  uint32_t data_at_ = 0;
  uint32_t colours_ = 0;      // in the palette; 0: as many as the bits can represent
  size_t colour_bytes_ = 4;   // the size of a palette entry
  size_t mask_bytes_ = 0;     // between header and palette
  bool masks_given_ = false;  // false: the default masks
  std::array<Mask, 4> masks_ = {Mask{0xff0000}, Mask{0xff00}, Mask{0xff}, Mask{0xff000000}};
  std::vector<Rgba> palette_;
  bool grey_ = false;  // the palette has only grays
  Charge working_;
  std::vector<uint8_t> indices_;  // of run-length encoded data: palette indices, rows as in the file
};

Result<void> check(const BmpOptions& options) {
  const int channels = options.channels;
  if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return {};
  return Error::invalid("a BMP cannot be decoded to ", channels, " channels, expected 0, 1, 3 or 4");
}

}  // namespace

Result<ImageInfo> bmp_info(Bytes bytes, const BmpOptions& options) {
  STOKER_TRY(check(options));
  return Decoder(bytes, options).read_header();
}

Result<void> decode_bmp(Bytes bytes, const BmpOptions& options, const PixelPlace& place) {
  STOKER_TRY(check(options));
  Decoder decoder(bytes, options);
  STOKER_TRY(const ImageInfo info, decoder.read_header());
  STOKER_TRY(decoder.check_bytes());
  STOKER_TRY(const PixelRows rows, place(info));
  return decoder.read_rows(rows);
}

}  // namespace stoker
