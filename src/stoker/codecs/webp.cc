#include "stoker/codecs/webp.h"

#ifdef STOKER_HAVE_WEBP

#include <memory>
#include <string>
#include <vector>

#include <webp/decode.h>
#include <webp/demux.h>

#include "stoker/codecs/rgba.h"
#include "stoker/core/charge.h"

namespace stoker {
namespace {

struct Free {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

const uint8_t* data_of(Bytes bytes) { return reinterpret_cast<const uint8_t*>(bytes.data()); }
WebPData whole_of(Bytes bytes) { return {data_of(bytes), bytes.size()}; }

Error failure(VP8StatusCode code, Bytes bytes) {
  switch (code) {
    case VP8_STATUS_OUT_OF_MEMORY: return Error::exhausted("no memory to decode a WebP");
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return Error::corrupt("WebP data ends early: it has ", bytes.size(), " bytes");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return Error::unimplemented("a WebP uses a feature that libwebp does not support");
    default: return Error::corrupt("WebP data is damaged: libwebp returned status ", static_cast<int>(code));
  }
}

// Compares the size with the length in the header.
Result<void> check_length(Bytes bytes) {
  if (bytes.size() < 12) return failure(VP8_STATUS_NOT_ENOUGH_DATA, bytes);
  uint64_t length = 8;
  for (int i = 0; i < 4; ++i) length += uint64_t{data_of(bytes)[4 + i]} << (8 * i);
  if (length <= bytes.size()) return {};
  return Error::corrupt("WebP data ends early: it has ", bytes.size(), " bytes, expected ", length);
}

Result<void> check(const WebpOptions& options) {
  const int channels = options.channels;
  if (channels == 0 || channels == 1 || channels == 3 || channels == 4) return {};
  return Error::invalid("a WebP cannot be decoded to ", channels, " channels, expected 0, 1, 3 or 4");
}

struct Header {
  ImageInfo info;
  bool animated = false;
  bool lossless = false;

  // The memory that libwebp and the conversion to gray need for all pixels.
  int64_t working_bytes() const {
    const int64_t whole = info.height * info.width * 4;
    if (animated) return 2 * whole;
    return (lossless ? whole : 0) + (info.channels == 1 ? whole : 0);
  }
};

Result<Header> read_header(Bytes bytes, const WebpOptions& options) {
  STOKER_TRY(check(options));
  STOKER_TRY(check_length(bytes));
  WebPBitstreamFeatures features;
  const VP8StatusCode code = WebPGetFeatures(data_of(bytes), bytes.size(), &features);
  if (code != VP8_STATUS_OK) return failure(code, bytes);
  Header header{{features.height, features.width, options.channels}, features.has_animation != 0, features.format == 2};
  if (options.channels == 0) header.info.channels = features.has_alpha ? 4 : 3;
  if (header.animated) {
    const WebPData whole = whole_of(bytes);
    const std::unique_ptr<WebPDemuxer, Free> demuxer(WebPDemux(&whole));
    if (!demuxer) return Error::corrupt("WebP data is damaged: its ", bytes.size(), " bytes are not a valid animation");
    header.info.frames = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT);
    if (header.info.frames < 1) return Error::corrupt("a WebP animation has no frames");
    if (options.first_only) header.info.frames = 1;
  }
  STOKER_TRY(check_size(header.info.height, header.info.width, header.info.frames));
  return header;
}

Result<void> decode_still(Bytes bytes, const ImageInfo& info, PixelRows rows) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config))
    return Error::internal("the version of libwebp differs from the version of its header");
  // Gray is computed from RGBA.
  std::vector<uint8_t> colours(info.channels == 1 ? static_cast<size_t>(info.height * info.width * 4) : 0);
  const bool direct = colours.empty();
  config.output.colorspace = info.channels == 3 ? MODE_RGB : MODE_RGBA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = direct ? reinterpret_cast<uint8_t*>(rows.first) : colours.data();
  config.output.u.RGBA.stride = static_cast<int>(direct ? rows.stride : info.width * 4);
  config.output.u.RGBA.size =
      direct ? static_cast<size_t>(rows.stride * (info.height - 1) + info.width * info.channels) : colours.size();
  const VP8StatusCode code = WebPDecode(data_of(bytes), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (code != VP8_STATUS_OK) return failure(code, bytes);
  for (int64_t y = 0; y < info.height && !direct; ++y)
    convert_row<uint8_t, uint8_t>(reinterpret_cast<const std::byte*>(colours.data()) + y * info.width * 4,
                                  rows.first + y * rows.stride, info.width, 1);
  return {};
}

Result<void> decode_frames(Bytes bytes, const ImageInfo& info, PixelRows rows) {
  WebPAnimDecoderOptions options;
  if (!WebPAnimDecoderOptionsInit(&options))
    return Error::internal("the version of libwebp differs from the version of its header");
  const WebPData whole = whole_of(bytes);
  const std::unique_ptr<WebPAnimDecoder, Free> decoder(WebPAnimDecoderNew(&whole, &options));
  if (!decoder) return Error::corrupt("WebP data is damaged, or there is no memory for its animation");
  std::byte* to = rows.first;
  for (int64_t frame = 0; frame < info.frames; ++frame) {
    uint8_t* canvas = nullptr;
    int milliseconds = 0;
    if (!WebPAnimDecoderGetNext(decoder.get(), &canvas, &milliseconds))
      return Error::corrupt("WebP data is damaged: frame ", frame, " of ", info.frames, " cannot be decoded");
    for (int64_t y = 0; y < info.height; ++y, to += rows.stride)
      convert_row<uint8_t, uint8_t>(reinterpret_cast<const std::byte*>(canvas) + y * info.width * 4, to, info.width,
                                    info.channels);
  }
  return {};
}

}  // namespace

Result<ImageInfo> webp_info(Bytes bytes, const WebpOptions& options) {
  STOKER_TRY(const Header header, read_header(bytes, options));
  return header.info;
}

Result<void> decode_webp(Bytes bytes, const WebpOptions& options, const PixelPlace& place) {
  STOKER_TRY(const Header header, read_header(bytes, options));
  STOKER_TRY(const PixelRows rows, place(header.info));
  Charge working;
  STOKER_TRY(working.grow_for("the pixels of a WebP", header.working_bytes()));
  return header.animated ? decode_frames(bytes, header.info, rows) : decode_still(bytes, header.info, rows);
}

}  // namespace stoker

#else

namespace stoker {

Result<ImageInfo> webp_info(Bytes, const WebpOptions&) {
  return Error::unimplemented("cannot decode WebP: this build of Stoker does not include libwebp");
}

Result<void> decode_webp(Bytes bytes, const WebpOptions& options, const PixelPlace&) {
  return webp_info(bytes, options).error();
}

}  // namespace stoker

#endif
