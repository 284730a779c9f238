#pragma once

#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"
#include "stoker/prepare/option_names.h"

// Contact sheets: many thumbnails on one page.
namespace stoker::prepare {

enum class SheetKind : uint8_t { kPng, kHtml };
// The kind by the extension of the path: .png, .html or .htm. Returns FailedPrecondition for others.
Result<SheetKind> sheet_kind_of(const std::string& path, OptionNames names);

class Sheet {
 public:
  // Adds a thumbnail with its EXIF orientation applied, and a caption. An image
  // that cannot be decoded is shown with its error.
  void add(Bytes image, std::string caption);
  bool empty() const { return cells_.empty(); }

  // `title` is used for HTML; a PNG has only the thumbnails.
  Result<std::string> encoded(SheetKind kind, const std::string& title) const;

 private:
  static constexpr int64_t kSide = 160;  // of a cell, in pixels
  static constexpr int64_t kGap = 4;

  struct Cell {
    int64_t height = 0;
    int64_t width = 0;
    std::vector<std::byte> pixels;  // RGB; empty: the image could not be decoded
    std::string caption;
    std::string error;
  };
  static Result<Cell> small(Bytes image);
  Result<std::string> png() const;
  Result<std::string> html(const std::string& title) const;

  std::vector<Cell> cells_;
};

}  // namespace stoker::prepare
