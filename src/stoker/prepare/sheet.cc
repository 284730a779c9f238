#include "stoker/prepare/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stoker/codecs/jpeg_encode.h"
#include "stoker/codecs/png.h"
#include "stoker/graph/json.h"
#include "stoker/image/resize.h"
#include "stoker/ops/image_bytes.h"

namespace stoker::prepare {
namespace {

// The ratio at which to decode a JPEG: as small as possible, with at least twice
// the pixels that are needed.
int ratio_for(int64_t side, int64_t wanted) {
  int ratio = 8;
  while (ratio > 1 && side / ratio < 2 * wanted) ratio /= 2;
  return ratio;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return is_utf8(out) ? out : "(a name that is not UTF-8)";
}

constexpr const char* kHtmlHead = R"(<!doctype html>
<meta charset="utf-8">
<title>{0}</title>
<style>
body {{ font: 13px system-ui, sans-serif; margin: 16px; background: #fff; color: #222 }}
main {{ display: flex; flex-wrap: wrap; gap: 12px }}
figure {{ width: {1}px; margin: 0 }}
figure div {{ height: {1}px; display: flex; align-items: center; justify-content: center; background: #eee }}
figcaption {{ overflow-wrap: anywhere }}
.bad {{ color: #b00; padding: 8px; overflow: hidden }}
</style>
<h1>{0}</h1>
<main>
)";

}  // namespace

Result<SheetKind> sheet_kind_of(const std::string& path, OptionNames names) {
  if (path.ends_with(".png")) return SheetKind::kPng;
  if (path.ends_with(".html") || path.ends_with(".htm")) return SheetKind::kHtml;
  return Error::precondition(option_name(names, "sheet"), " is ", path,
                             ", expected a name that ends with .png or .html");
}

Result<Sheet::Cell> Sheet::small(Bytes image) {
  ImageRequest wish{.channels = 3, .jpeg = {.channels = 3}, .frames = Frames::kFirst, .exif_orientation = true};
  STOKER_TRY(const std::vector<int64_t> shape, image_shape(image, wish));
  wish.jpeg.ratio = ratio_for(std::max(shape[0], shape[1]), kSide);
  Context context;
  STOKER_TRY(const Array pixels, image_from(image, wish, context));
  const ImageView view = image_view(pixels);
  const double scale =
      std::min(1.0, static_cast<double>(kSide) / static_cast<double>(std::max(view.height, view.width)));
  Cell cell;
  cell.height = std::max<int64_t>(1, std::llround(static_cast<double>(view.height) * scale));
  cell.width = std::max<int64_t>(1, std::llround(static_cast<double>(view.width) * scale));
  cell.pixels.resize(static_cast<size_t>(cell.height * cell.width * 3));
  const MutableImageView to{cell.pixels.data(), cell.height, cell.width, 3, cell.width * 3, DType::kUint8};
  STOKER_TRY(resize_image(view, to, {.manner = Manner::kPillow}));
  return cell;
}

void Sheet::add(Bytes image, std::string caption) {
  Result<Cell> made = small(image);
  Cell cell;
  if (made)
    cell = *std::move(made);
  else
    cell.error = made.error().message();
  cell.caption = std::move(caption);
  cells_.push_back(std::move(cell));
}

Result<std::string> Sheet::encoded(SheetKind kind, const std::string& title) const {
  return kind == SheetKind::kPng ? png() : html(title);
}

Result<std::string> Sheet::png() const {
  const auto count = static_cast<int64_t>(cells_.size());
  const auto columns = static_cast<int64_t>(std::ceil(std::sqrt(1.5 * static_cast<double>(count))));
  const int64_t rows = (count + columns - 1) / columns, step = kSide + kGap;
  const int64_t height = rows * step + kGap, width = columns * step + kGap;
  STOKER_TRY(check_size(height, width));
  std::vector<std::byte> page(static_cast<size_t>(height * width * 3), std::byte{255});
  for (int64_t i = 0; i < count; ++i) {
    const Cell& cell = cells_[static_cast<size_t>(i)];
    const int64_t top = kGap + i / columns * step + (kSide - cell.height) / 2;
    const int64_t left = kGap + i % columns * step + (kSide - cell.width) / 2;
    for (int64_t y = 0; y < cell.height; ++y)
      std::memcpy(page.data() + ((top + y) * width + left) * 3, cell.pixels.data() + y * cell.width * 3,
                  static_cast<size_t>(cell.width * 3));
  }
  return encode_png({height, width, 3}, page.data());
}

Result<std::string> Sheet::html(const std::string& title) const {
  std::string page = fmt::format(kHtmlHead, escaped(title), kSide);
  for (const Cell& cell : cells_) {
    std::string inside = fmt::format("<span class=\"bad\">{}</span>", escaped(cell.error));
    if (!cell.pixels.empty()) {
      STOKER_TRY(const std::string jpeg,
                 encode_jpeg({cell.height, cell.width, 3}, cell.pixels.data(), cell.width * 3, {.quality = 85}));
      inside = fmt::format("<img width=\"{}\" height=\"{}\" alt=\"\" src=\"data:image/jpeg;base64,{}\">", cell.width,
                           cell.height, to_base64(jpeg));
    }
    page += fmt::format("<figure><div>{}</div><figcaption>{}</figcaption></figure>\n", inside, escaped(cell.caption));
  }
  return page + "</main>\n";
}

}  // namespace stoker::prepare
