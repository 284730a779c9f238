#include "stoker/codecs/gif.h"

#ifdef STOKER_HAVE_GIF

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include <gif_lib.h>

#include "stoker/codecs/rgba.h"
#include "stoker/core/charge.h"

namespace stoker {
namespace {

// An LZW code represents at most this many pixels, and long codes take at least a byte and a half.
// The data of a larger frame is incomplete.
constexpr int64_t kMostPixelsPerByte = 4096;

struct Frame {
  int64_t left = 0, top = 0, width = 0, height = 0;
};

Error ends_early(Bytes bytes, int64_t frames) {
  return Error::corrupt("GIF data ends early: it has ", bytes.size(), " bytes with ", frames, " complete ",
                        frames == 1 ? "frame" : "frames");
}

// ---- the blocks of a file; only their sizes are read

// The frames that are complete.
class Blocks {
 public:
  explicit Blocks(Bytes bytes) : bytes_(bytes) {}

  Result<void> walk() {
    if (bytes_.size() < kHeader)
      return Error::corrupt("GIF data ends inside its header: it has ", bytes_.size(), " bytes");
    at_ = kHeader + palette_bytes(byte_at(10));
    while (at_ < bytes_.size()) {
      const uint8_t kind = byte_at(at_++);
      if (kind == ';') {
        ended = true;
        return {};
      }
      // A byte that starts no block is skipped, as browsers and Pillow do: some encoders wrote an
      // extra empty part, or padding, between frames.
      if (kind == '!') {
        ++at_;  // the extension's label
        if (!hop()) return {};
      } else if (kind == ',') {
        STOKER_TRY(const bool whole, take_frame());
        if (!whole) return {};
      }
    }
    return {};
  }

  std::vector<Frame> frames;
  bool ended = false;  // the end marker was found

 private:
  static constexpr size_t kHeader = 13;

  static size_t palette_bytes(uint8_t flags) { return flags & 0x80 ? size_t{6} << (flags & 7) : 0; }
  uint8_t byte_at(size_t at) const { return static_cast<uint8_t>(bytes_[at]); }
  int64_t number_at(size_t at) const { return byte_at(at) | byte_at(at + 1) << 8; }

  Result<bool> take_frame() {
    if (at_ + 9 > bytes_.size()) return false;
    const Frame frame{number_at(at_), number_at(at_ + 2), number_at(at_ + 4), number_at(at_ + 6)};
    at_ += 9 + palette_bytes(byte_at(at_ + 8)) + 1;  // and the byte with the size of its codes
    const size_t data = at_;
    if (!hop()) return false;
    STOKER_TRY(check_size(frame.height, frame.width));
    if (frame.width * frame.height / kMostPixelsPerByte > static_cast<int64_t>(at_ - data))
      return Error::corrupt("GIF data is damaged: ", at_ - data, " bytes cannot hold a frame of ", frame.height, "x",
                            frame.width);
    frames.push_back(frame);
    return true;
  }

  // Skips parts of up to 255 bytes up to an empty one. Returns false if that is missing.
  bool hop() {
    while (at_ < bytes_.size()) {
      const uint8_t size = byte_at(at_);
      at_ += 1 + size_t{size};
      if (size == 0) return true;
    }
    return false;
  }

  const Bytes bytes_;
  size_t at_ = 0;
};

// ---- pixels

struct Close {
  void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
};

// Reads frames in order, using giflib.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}

  Result<void> open() {
    int code = D_GIF_SUCCEEDED;
    gif_.reset(DGifOpen(this, read, &code));
    if (!gif_) return failure(code);
    return {};
  }

  // Draws the next frame over `canvas`, which has the size `size` and three channels. With a null
  // canvas, only checks that the frame can be decoded.
  Result<void> draw_next(uint8_t* canvas, const ImageInfo& size, size_t number) {
    STOKER_TRY(const int transparent, find_frame());
    const GifImageDesc& frame = gif_->Image;
    const ColorMapObject* colours = frame.ColorMap ? frame.ColorMap : gif_->SColorMap;
    if (!colours) return Error::corrupt("GIF data is damaged: frame ", number, " has no palette");
    line_.resize(static_cast<size_t>(frame.Width));
    for (int i = 0; i < frame.Height; ++i) {
      if (DGifGetLine(gif_.get(), line_.data(), frame.Width) != GIF_OK) return failure(gif_->Error);
      const int y = frame.Interlace ? interlaced_row(i, frame.Height) : i;
      STOKER_TRY(draw_line(canvas, size, y, *colours, transparent));
    }
    return {};
  }

 private:
  static int read(GifFileType* gif, GifByteType* to, int count) {
    auto& self = *static_cast<Reader*>(gif->UserData);
    const size_t size = std::min(static_cast<size_t>(std::max(count, 0)), self.rest_.size());
    std::memcpy(to, self.rest_.data(), size);
    self.rest_.remove_prefix(size);
    return static_cast<int>(size);
  }

  static Error failure(int code) {
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM) return Error::exhausted("no memory to decode a GIF");
    const char* words = GifErrorString(code);
    return Error::corrupt("GIF data is damaged: ", words ? words : "giflib returned no reason");
  }

  // Moves to the pixels of the next frame. Returns the transparent index, or -1.
  Result<int> find_frame() {
    std::optional<int> transparent;
    while (true) {
      GifRecordType kind = UNDEFINED_RECORD_TYPE;
      if (DGifGetRecordType(gif_.get(), &kind) != GIF_OK) {
        if (gif_->Error == D_GIF_ERR_WRONG_RECORD) continue;  // a byte that starts no block, see Blocks::walk
        return failure(gif_->Error);
      }
      if (kind == IMAGE_DESC_RECORD_TYPE) break;
      if (kind != EXTENSION_RECORD_TYPE) return failure(D_GIF_ERR_NO_IMAG_DSCR);
      STOKER_TRY(read_extension(transparent));
    }
    if (DGifGetImageDesc(gif_.get()) != GIF_OK) return failure(gif_->Error);
    return transparent.value_or(-1);
  }

  // The first graphics control extension counts, as in TensorFlow.
  Result<void> read_extension(std::optional<int>& transparent) {
    int label = 0;
    GifByteType* data = nullptr;  // a length and that many bytes
    int code = DGifGetExtension(gif_.get(), &label, &data);
    for (; code == GIF_OK && data; code = DGifGetExtensionNext(gif_.get(), &data)) {
      GraphicsControlBlock control;
      if (label == GRAPHICS_EXT_FUNC_CODE && !transparent && DGifExtensionToGCB(data[0], data + 1, &control) == GIF_OK)
        transparent = control.TransparentColor;
    }
    if (code != GIF_OK) return failure(gif_->Error);
    return {};
  }

  // Rows are stored in four passes: every eighth, the eighths between them, every fourth, every
  // second.
  static int interlaced_row(int i, int height) {
    constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; ++pass) {
      const int rows = height > kFirst[pass] ? (height - kFirst[pass] - 1) / kStep[pass] + 1 : 0;
      if (i < rows) return kFirst[pass] + i * kStep[pass];
      i -= rows;
    }
    return height - 1;
  }

  Result<void> draw_line(uint8_t* canvas, const ImageInfo& size, int y, const ColorMapObject& colours,
                         int transparent) const {
    const GifImageDesc& frame = gif_->Image;
    const int64_t below = frame.Top + y;
    if (!canvas || below >= size.height) return {};
    for (int x = 0; x < frame.Width && frame.Left + x < size.width; ++x) {
      const int index = line_[static_cast<size_t>(x)];
      if (index == transparent) continue;
      if (index >= colours.ColorCount)
        return Error::corrupt("GIF data is damaged: color ", index, " is not in the palette of ", colours.ColorCount,
                              " colors");
      const GifColorType& colour = colours.Colors[index];
      uint8_t* pixel = canvas + (below * size.width + frame.Left + x) * 3;
      pixel[0] = colour.Red, pixel[1] = colour.Green, pixel[2] = colour.Blue;
    }
    return {};
  }

  Bytes rest_;
  std::unique_ptr<GifFileType, Close> gif_;
  std::vector<GifPixelType> line_;
};

Result<void> check(const GifOptions& options) {
  if (options.channels == 0 || options.channels == 1 || options.channels == 3) return {};
  return Error::invalid("a GIF cannot be decoded to ", options.channels, " channels, expected 0, 1 or 3");
}

// The number of frames that can be decoded.
Result<size_t> count_good(Bytes bytes, size_t frames) {
  Reader reader(bytes);
  STOKER_TRY(reader.open());
  size_t good = 0;
  Result<void> drawn;
  while (good < frames && (drawn = reader.draw_next(nullptr, {}, good))) ++good;
  if (good == 0) return std::move(drawn).error();
  return good;
}

}  // namespace

Result<ImageInfo> gif_info(Bytes bytes, const GifOptions& options) {
  STOKER_TRY(check(options));
  Blocks blocks(bytes);
  const Result<void> walked = blocks.walk();
  const auto whole = static_cast<int64_t>(blocks.frames.size());
  const bool recover = options.try_recover_truncated && whole > 0;
  if (!recover) {
    if (!walked) return walked.error();
    if (!blocks.ended) return ends_early(bytes, whole);
    if (whole == 0) return Error::corrupt("a GIF of ", bytes.size(), " bytes has no frames");
  }
  if (recover) {
    STOKER_TRY(const size_t good, count_good(bytes, blocks.frames.size()));
    blocks.frames.resize(good);
  }
  ImageInfo info{.channels = options.channels == 1 ? 1 : 3, .frames = static_cast<int64_t>(blocks.frames.size())};
  for (const Frame& frame : blocks.frames) {
    info.height = std::max(info.height, frame.height);
    info.width = std::max(info.width, frame.width);
  }
  if (options.first_only) info.frames = 1;
  STOKER_TRY(check_size(info.height, info.width, info.frames));
  return info;
}

Result<void> decode_gif(Bytes bytes, const GifOptions& options, const PixelPlace& place) {
  STOKER_TRY(const ImageInfo info, gif_info(bytes, options));
  Reader reader(bytes);
  STOKER_TRY(reader.open());
  STOKER_TRY(const PixelRows rows, place(info));
  Charge working;
  STOKER_TRY(working.grow_for("the canvas of a GIF", info.height * info.width * 3));
  std::vector<uint8_t> canvas(static_cast<size_t>(info.height * info.width * 3));
  std::byte* to = rows.first;
  for (int64_t frame = 0; frame < info.frames; ++frame) {
    STOKER_TRY(reader.draw_next(canvas.data(), info, static_cast<size_t>(frame)));
    for (int64_t y = 0; y < info.height; ++y, to += rows.stride) {
      const uint8_t* row = canvas.data() + y * info.width * 3;
      if (info.channels == 3) {
        std::memcpy(to, row, static_cast<size_t>(info.width) * 3);
        continue;
      }
      for (int64_t x = 0; x < info.width; ++x) to[x] = static_cast<std::byte>(grey_of(row + x * 3));
    }
  }
  return {};
}

}  // namespace stoker

#else

namespace stoker {

Result<ImageInfo> gif_info(Bytes, const GifOptions&) {
  return Error::unimplemented("cannot decode GIF: this build of Stoker does not include giflib");
}

Result<void> decode_gif(Bytes bytes, const GifOptions& options, const PixelPlace&) {
  return gif_info(bytes, options).error();
}

}  // namespace stoker

#endif
