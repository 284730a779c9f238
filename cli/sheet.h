#pragma once

#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

// Contact sheets: many small pictures on one page.
namespace stoker::cli {

enum class SheetKind : uint8_t { kPng, kHtml };
// By the ending of the file's name: .png, .html, .htm.
Result<SheetKind> sheet_kind_of(const std::string& path);

class Sheet {
 public:
  // A picture upright and small, with a line below it; a bad one is shown as such.
  void add(Bytes picture, std::string caption);
  bool empty() const { return cells_.empty(); }

  // `title` is HTML's; a PNG has pictures alone.
  Result<std::string> encoded(SheetKind kind, const std::string& title) const;

 private:
  // Room for one.
  static constexpr int64_t kSide = 160;
  static constexpr int64_t kGap = 4;

  struct Cell {
    int64_t height = 0;
    int64_t width = 0;
    std::vector<std::byte> pixels;  // RGB; empty: bad
    std::string caption;
    std::string error;
  };
  static Result<Cell> small(Bytes picture);
  Result<std::string> png() const;
  Result<std::string> html(const std::string& title) const;

  std::vector<Cell> cells_;
};

}  // namespace stoker::cli
