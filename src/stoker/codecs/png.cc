#include "stoker/codecs/png.h"

#ifdef STOKER_HAVE_SPNG

#include <cstdlib>
#include <memory>

#include <spng.h>

#include "stoker/codecs/rgba.h"
#include "stoker/core/array.h"

namespace stoker {
namespace {

// Deflate expands one byte to at most 1,032 bytes. The data of a larger image is incomplete, and no
// memory is allocated for it.
constexpr int64_t kMostInflated = 1032;

// Limits texts, profiles and other metadata, which are skipped.
constexpr size_t kMostChunkBytes = size_t{1} << 26;

struct Free {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
  void operator()(void* memory) const { std::free(memory); }
};
using Handle = std::unique_ptr<spng_ctx, Free>;

Error failure(int code, size_t size) {
  switch (code) {
    case SPNG_EMEM: return Error::exhausted("no memory to decode a PNG");
    case SPNG_EOF:
    case SPNG_IO_EOF:
    case SPNG_EIDAT_TOO_SHORT: return Error::corrupt("PNG data ends early: it has ", size, " bytes");
    case SPNG_ECHUNK_LIMITS:
      return Error::exhausted("a PNG exceeds the limit of ", kMostChunkBytes, " bytes of metadata");
    default: return Error::corrupt("PNG data is damaged: ", spng_strerror(code));
  }
}

class Decoder {
 public:
  Decoder(Bytes bytes, const PngOptions& options) : bytes_(bytes), options_(options) {}

  Result<ImageInfo> read_header() {
    if (bytes_.empty()) return Error::corrupt("expected PNG data, got 0 bytes");
    png_.reset(spng_ctx_new(0));
    if (!png_) return failure(SPNG_EMEM, bytes_.size());
    STOKER_TRY(call(spng_set_crc_action(png_.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR)));
    STOKER_TRY(call(spng_set_chunk_limits(png_.get(), kMostChunkBytes, kMostChunkBytes)));
    STOKER_TRY(call(spng_set_png_buffer(png_.get(), bytes_.data(), bytes_.size())));
    STOKER_TRY(call(spng_get_ihdr(png_.get(), &header_)));
    STOKER_TRY(check_size(header_.height, header_.width));
    spng_trns transparent;
    const int code = spng_get_trns(png_.get(), &transparent);
    if (code != SPNG_ECHUNKAVAIL) STOKER_TRY(call(code));
    channels_ = options_.channels != 0 ? options_.channels : own_channels(code == SPNG_OK);
    return ImageInfo{header_.height, header_.width, channels_, options_.bit_depth};
  }

  Result<void> check_bytes() const {
    static constexpr int kSamples[] = {1, 0, 3, 1, 2, 0, 4};  // by color type
    const int64_t bits = int64_t{header_.width} * kSamples[header_.color_type] * header_.bit_depth;
    const auto size = static_cast<int64_t>(bytes_.size());
    if (bits / 8 * header_.height / kMostInflated <= size) return {};
    return Error::corrupt("PNG data ends early: ", size, " bytes cannot hold an image of ", header_.height, "x",
                          header_.width);
  }

  Result<void> read_rows(PixelRows rows) {
    const bool wide = header_.bit_depth == 16, interlaced = header_.interlace_method != 0;
    const bool direct = channels_ >= 3 && !wide && options_.bit_depth == 8;
    const spng_format format = direct && channels_ == 3 ? SPNG_FMT_RGB8 : wide ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8;
    const int64_t row_bytes = int64_t{header_.width} * (format == SPNG_FMT_RGB8 ? 3 : wide ? 8 : 4);
    Array whole;  // before conversion: one row or the whole image
    PixelRows in = rows;
    if (!direct) {
      const int64_t kept = interlaced ? header_.height : 1;
      STOKER_TRY(whole, Array::make({kept, row_bytes}, DType::kUint8));
      in = {static_cast<std::byte*>(whole.mutable_raw()), interlaced ? row_bytes : 0};
    }

    // Interlaced rows are decoded several times, each time with more of their pixels.
    STOKER_TRY(call(spng_decode_image(png_.get(), nullptr, 0, format, SPNG_DECODE_PROGRESSIVE | SPNG_DECODE_TRNS)));
    spng_row_info at{};
    int code = spng_get_row_info(png_.get(), &at);
    while (code == SPNG_OK) {
      std::byte* row = in.first + at.row_num * in.stride;
      code = spng_decode_row(png_.get(), row, static_cast<size_t>(row_bytes));
      if (code != SPNG_OK && code != SPNG_EOI) break;
      if (!direct && !interlaced) convert(row, rows.first + at.row_num * rows.stride);
      if (code == SPNG_OK) code = spng_get_row_info(png_.get(), &at);
    }
    if (code != SPNG_EOI) return failure(code, bytes_.size());
    if (!direct && interlaced)
      for (int64_t y = 0; y < header_.height; ++y) convert(in.first + y * in.stride, rows.first + y * rows.stride);
    return call(spng_decode_chunks(png_.get()));
  }

 private:
  int own_channels(bool transparent) const {
    switch (header_.color_type) {
      case SPNG_COLOR_TYPE_GRAYSCALE: return 1;
      case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA: return 2;
      case SPNG_COLOR_TYPE_TRUECOLOR: return 3;
      case SPNG_COLOR_TYPE_INDEXED: return transparent ? 4 : 3;
      default: return 4;
    }
  }

  void convert(const std::byte* from, std::byte* to) const {
    const bool from_wide = header_.bit_depth == 16, to_wide = options_.bit_depth == 16;
    const auto row = from_wide ? (to_wide ? convert_row<uint16_t, uint16_t> : convert_row<uint16_t, uint8_t>)
                               : (to_wide ? convert_row<uint8_t, uint16_t> : convert_row<uint8_t, uint8_t>);
    row(from, to, header_.width, channels_);
  }

  Result<void> call(int code) const {
    if (code == SPNG_OK) return {};
    return failure(code, bytes_.size());
  }

  const Bytes bytes_;
  const PngOptions& options_;
  Handle png_;
  spng_ihdr header_{};
  int channels_ = 0;
};

Result<void> check(const PngOptions& options) {
  if (options.channels < 0 || options.channels > 4)
    return Error::invalid("a PNG cannot be decoded to ", options.channels, " channels, expected 0 to 4");
  if (options.bit_depth != 8 && options.bit_depth != 16)
    return Error::invalid("a PNG cannot be decoded to ", options.bit_depth, " bits, expected 8 or 16");
  return {};
}

Error cannot_encode(int code) {
  return Error::internal("the image could not be encoded as PNG: ", spng_strerror(code));
}

}  // namespace

Result<ImageInfo> png_info(Bytes bytes, const PngOptions& options) {
  STOKER_TRY(check(options));
  return Decoder(bytes, options).read_header();
}

Result<void> decode_png(Bytes bytes, const PngOptions& options, const PixelPlace& place) {
  STOKER_TRY(check(options));
  Decoder decoder(bytes, options);
  STOKER_TRY(const ImageInfo info, decoder.read_header());
  STOKER_TRY(decoder.check_bytes());
  STOKER_TRY(const PixelRows rows, place(info));
  return decoder.read_rows(rows);
}

Result<std::string> encode_png(const ImageInfo& info, const std::byte* pixels, int level) {
  if ((info.channels != 1 && info.channels != 3) || info.bit_depth != 8)
    return Error::invalid("expected 1 or 3 channels of 8 bits for a PNG, got ", info.channels, " of ", info.bit_depth,
                          " bits");
  STOKER_TRY(check_size(info.height, info.width));
  const Handle png(spng_ctx_new(SPNG_CTX_ENCODER));
  if (!png) return Error::exhausted("no memory to encode a PNG");
  spng_ihdr header{};
  header.height = static_cast<uint32_t>(info.height);
  header.width = static_cast<uint32_t>(info.width);
  header.bit_depth = 8;
  header.color_type = info.channels == 1 ? SPNG_COLOR_TYPE_GRAYSCALE : SPNG_COLOR_TYPE_TRUECOLOR;
  if (const int code = spng_set_ihdr(png.get(), &header)) return cannot_encode(code);
  spng_set_option(png.get(), SPNG_ENCODE_TO_BUFFER, 1);
  spng_set_option(png.get(), SPNG_IMG_COMPRESSION_LEVEL, level);
  const auto size = static_cast<size_t>(info.height * info.width * info.channels);
  if (const int code = spng_encode_image(png.get(), pixels, size, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE))
    return cannot_encode(code);
  size_t length = 0;
  int code = 0;
  const std::unique_ptr<void, Free> bytes(spng_get_png_buffer(png.get(), &length, &code));
  if (!bytes) return cannot_encode(code);
  return std::string(static_cast<const char*>(bytes.get()), length);
}

}  // namespace stoker

#else

namespace stoker {
namespace {

Error left_out() {
  return Error::unimplemented("cannot decode or encode PNG: this build of Stoker does not include libspng");
}

}  // namespace

Result<ImageInfo> png_info(Bytes, const PngOptions&) { return left_out(); }
Result<void> decode_png(Bytes, const PngOptions&, const PixelPlace&) { return left_out(); }
Result<std::string> encode_png(const ImageInfo&, const std::byte*, int) { return left_out(); }

}  // namespace stoker

#endif
