#include "stoker/codecs/jpeg_layout.h"

#include <algorithm>
#include <cstring>

namespace stoker {
namespace {

constexpr uint8_t kStart = 0xd8, kEnd = 0xd9, kScan = 0xda, kRestartInterval = 0xdd, kFirstRestart = 0xd0;

uint8_t byte_at(Bytes bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }
int64_t word_at(Bytes bytes, size_t i) { return byte_at(bytes, i) << 8 | byte_at(bytes, i + 1); }

bool is_restart(uint8_t marker) { return marker >= kFirstRestart && marker < kFirstRestart + 8; }
bool is_frame(uint8_t marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

class Walk {
 public:
  Walk(Bytes bytes, JpegLayout& layout) : bytes_(bytes), layout_(layout) {
    std::vector<size_t> restarts = std::move(layout.restarts);
    restarts.clear();
    layout = JpegLayout{};
    layout.restarts = std::move(restarts);
  }

  bool run() {
    if (bytes_.size() < 2 || byte_at(bytes_, 0) != 0xff || byte_at(bytes_, 1) != kStart) return false;
    at_ = 2;
    while (next_segment()) {
    }
    return layout_.mcu_width > 0 && layout_.scans > 0;
  }

 private:
  // Returns false at the end of the markers that can be followed.
  bool next_segment() {
    // Decoders skip stray bytes before a marker.
    at_ = std::min(bytes_.find('\xff', at_), bytes_.size());
    while (at_ < bytes_.size() && byte_at(bytes_, at_) == 0xff) ++at_;
    if (at_ >= bytes_.size()) return false;
    const uint8_t marker = byte_at(bytes_, at_++);
    if (marker == kEnd) {
      layout_.ends = true;
      layout_.end = at_;
      return false;
    }
    if (marker == 0x00 || marker == 0x01 || marker == kStart || is_restart(marker)) return true;
    if (at_ + 2 > bytes_.size()) return false;
    const auto length = static_cast<size_t>(word_at(bytes_, at_));
    if (length < 2 || at_ + length > bytes_.size()) return false;
    const size_t body = at_ + 2, end = at_ + length;
    at_ = end;
    if (is_frame(marker)) return frame(marker, body, end);
    if (marker == kRestartInterval && end - body >= 2 && layout_.scans == 0)
      layout_.restart_interval = word_at(bytes_, body);
    if (marker == kScan) return end > body && scan(body);
    return true;
  }

  bool frame(uint8_t marker, size_t body, size_t end) {
    if (layout_.mcu_width > 0 || end - body < 6) return false;
    layout_.components = byte_at(bytes_, body + 5);
    if (layout_.components == 0 || end - body < 6 + 3 * static_cast<size_t>(layout_.components)) return false;
    layout_.baseline = (marker == 0xc0 || marker == 0xc1) && byte_at(bytes_, body) == 8;
    layout_.frame_size_at = body + 1;
    layout_.height = word_at(bytes_, body + 1);
    layout_.width = word_at(bytes_, body + 3);
    int across = 1, down = 1;
    for (int c = 0; c < layout_.components; ++c) {
      const uint8_t sampling = byte_at(bytes_, body + 7 + 3 * static_cast<size_t>(c));
      across = std::max(across, sampling >> 4);
      down = std::max(down, sampling & 15);
    }
    // In a scan of one component, the units are its blocks, regardless of its sampling.
    layout_.mcu_width = layout_.components == 1 ? 8 : 8 * across;
    layout_.mcu_height = layout_.components == 1 ? 8 : 8 * down;
    return true;
  }

  bool scan(size_t body) {
    const bool first = layout_.scans++ == 0;
    if (first) {
      layout_.scan_components = byte_at(bytes_, body);
      layout_.data_begin = at_;
    }
    while (true) {
      const void* found = at_ < bytes_.size() ? std::memchr(bytes_.data() + at_, 0xff, bytes_.size() - at_) : nullptr;
      if (!found) return false;
      at_ = static_cast<size_t>(static_cast<const char*>(found) - bytes_.data());
      if (at_ + 1 >= bytes_.size()) return false;
      const uint8_t next = byte_at(bytes_, at_ + 1);
      if (next == 0x00) {
        at_ += 2;
      } else if (next == 0xff) {
        ++at_;
      } else if (is_restart(next)) {
        if (first) restart(next);
        at_ += 2;
      } else {
        break;
      }
    }
    if (first) layout_.data_end = at_;
    return true;
  }

  void restart(uint8_t marker) {
    const auto wanted = static_cast<uint8_t>(kFirstRestart + layout_.restarts.size() % 8);
    layout_.restarts_in_order = layout_.restarts_in_order && marker == wanted;
    layout_.restarts.push_back(at_);
  }

  Bytes bytes_;
  JpegLayout& layout_;
  size_t at_ = 0;
};

// The units of one axis that pixels [first, first + size) need, including the margin.
struct Units {
  int64_t begin, end;
};
Units units_of(int64_t first, int64_t size, int64_t unit, int64_t most) {
  return {std::max<int64_t>(first / unit - 1, 0), std::min((first + size - 1) / unit + 2, most)};
}

void put_word(std::string& out, size_t at, int64_t value) {
  out[at] = static_cast<char>(value >> 8);
  out[at + 1] = static_cast<char>(value & 255);
}

}  // namespace

bool JpegLayout::seekable() const {
  if (!ends || !baseline || scans != 1 || scan_components != components || restart_interval == 0) return false;
  if (height == 0 || width == 0 || !restarts_in_order) return false;
  const int64_t row = mcus_in_row(), all = row * mcu_rows();
  if (row % restart_interval != 0 && restart_interval % row != 0) return false;
  return static_cast<int64_t>(restarts.size()) == (all - 1) / restart_interval;
}

bool walk_jpeg(Bytes bytes, JpegLayout& layout) { return Walk(bytes, layout).run(); }

Result<void> check_inside(const ImageRegion& window, const ImageInfo& info) {
  if (window.height > 0 && window.width > 0 && window.top >= 0 && window.left >= 0 &&
      window.top <= info.height - window.height && window.left <= info.width - window.width)
    return {};
  return Error::invalid("a window of ", window.height, "x", window.width, " at row ", window.top, " and column ",
                        window.left, " does not fit an image of ", info.height, "x", info.width);
}

ImageRegion splice_jpeg(Bytes bytes, const JpegLayout& layout, const ImageRegion& window, std::string& out) {
  const int64_t row = layout.mcus_in_row(), interval = layout.restart_interval;
  // The number of parts in a row of units, or the number of rows of units in a part.
  const int64_t across = std::max<int64_t>(row / interval, 1), down = std::max<int64_t>(interval / row, 1);
  const int64_t part_width = std::min(interval, row) * layout.mcu_width, part_height = down * layout.mcu_height;
  const int64_t part_rows = (layout.mcu_rows() + down - 1) / down;
  const Units mcu_rows = units_of(window.top, window.height, layout.mcu_height, layout.mcu_rows());
  const Units mcu_columns = units_of(window.left, window.width, layout.mcu_width, row);
  const Units ys{mcu_rows.begin / down, std::min((mcu_rows.end - 1) / down + 1, part_rows)};
  const int64_t in_part = std::min(interval, row);
  const Units xs{mcu_columns.begin / in_part, (mcu_columns.end - 1) / in_part + 1};
  const ImageRegion shown{ys.begin * part_height, xs.begin * part_width,
                          std::min(ys.end * part_height, layout.height) - ys.begin * part_height,
                          std::min(xs.end * part_width, layout.width) - xs.begin * part_width};

  out.assign(bytes.substr(0, layout.data_begin));
  put_word(out, layout.frame_size_at, shown.height);
  put_word(out, layout.frame_size_at + 2, shown.width);
  int parts = 0;
  for (int64_t y = ys.begin; y < ys.end; ++y)
    for (int64_t x = xs.begin; x < xs.end; ++x) {
      if (parts > 0) {
        out += '\xff';
        out += static_cast<char>(kFirstRestart + (parts - 1) % 8);
      }
      ++parts;
      const auto part = static_cast<size_t>(y * across + x);
      const size_t begin = part == 0 ? layout.data_begin : layout.restarts[part - 1] + 2;
      const size_t end = part < layout.restarts.size() ? layout.restarts[part] : layout.data_end;
      out.append(bytes, begin, end - begin);
    }
  out += '\xff';
  out += static_cast<char>(kEnd);
  return shown;
}

}  // namespace stoker
