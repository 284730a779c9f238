#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

// Positions or passes of rows.
using Numbers = RecycledVector<int64_t>;

// Whence an element came: a place in a source's pass; in a child, the
// parent's origin first; of a joined element, its members'.
struct Origin {
  int32_t source = 0;  // the source's number in its graph
  int64_t pass = 0;
  int64_t position = 0;
  std::shared_ptr<const Origin> parent;
  std::shared_ptr<const std::vector<Origin>> members;

  // Two words that tell origins apart: they key the element's random numbers.
  std::pair<uint64_t, uint64_t> key() const;
  // "18204@2", "3/17": what stands behind the source's name.
  std::string words() const;
  bool operator==(const Origin& other) const;
};

// The origins of a run's rows, kept as ranges as long as they are.
class Origins {
 public:
  Origins() = default;
  // Positions first, first + 1, … of one pass.
  Origins(int32_t source, int64_t pass, int64_t first, int64_t n) : shared_{source, pass, first, {}, {}}, size_(n) {}
  explicit Origins(RecycledVector<Origin> each) : size_(static_cast<int64_t>(each.size())), each_(std::move(each)) {}
  Origins(int32_t source, Numbers passes, Numbers positions);

  int64_t size() const { return size_; }
  Origin at(int64_t i) const;
  void append(const Origins& more);
  void append(Origin origin);
  // Keeps the rows [first, first + n).
  Origins slice(int64_t first, int64_t n) const;
  Origins select(const std::vector<int32_t>& rows) const;
  // Puts every row below a parent: for what a child's source names.
  void set_parent(std::shared_ptr<const Origin> parent);
  // Another pass, one for each row or one for all. In a child (`own`) it is
  // the row's own, else that of the sources it came from.
  void set_passes(std::span<const int64_t> passes, bool own);

 private:
  bool is_range() const { return each_.empty() && positions_.empty(); }
  void spell_out();

  Origin shared_;  // of a range: its first; of positions: source and parent
  int64_t size_ = 0;
  Numbers positions_;
  Numbers passes_;  // empty: all of shared_.pass
  RecycledVector<Origin> each_;
};

}  // namespace stoker
