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

// The largest pass that a checkpoint or the text of an origin may name. It can be multiplied by
// kPassesOfEndlessRepeat.
constexpr int64_t kMostPasses = int64_t{1} << 40;

// Positions or passes of rows.
using Numbers = RecycledVector<int64_t>;

// Where an element came from: the source, its position there, and the pass. An element of a child
// dataset (`interleave`, `flat_map`) also has the origin of its parent, and a joined element those
// of its members.
struct Origin {
  int32_t source = 0;    // the number of the source in its graph
  int32_t elements = 1;  // joined into this one by batches; not part of what identifies it
  int64_t pass = 0;
  int64_t position = 0;
  std::shared_ptr<const Origin> parent;
  std::shared_ptr<const std::vector<Origin>> members;

  // A 128-bit key that differs between origins. The random numbers of the element are derived from
  // it.
  std::pair<uint64_t, uint64_t> key() const;
  // Formats the part of the origin after the source's name: "18204@2", "3/17".
  std::string describe() const;
  bool operator==(const Origin& other) const;
};

// The origins of the rows of a run. Stores consecutive positions as a range.
class Origins {
 public:
  Origins() = default;
  // Positions first, first + 1, … of one pass.
  Origins(int32_t source, int64_t pass, int64_t first, int64_t n)
      : shared_{.source = source, .pass = pass, .position = first}, size_(n) {}
  explicit Origins(RecycledVector<Origin> each) : size_(static_cast<int64_t>(each.size())), each_(std::move(each)) {}
  Origins(int32_t source, Numbers passes, Numbers positions);

  int64_t size() const { return size_; }
  Origin at(int64_t i) const;
  int32_t elements_at(int64_t i) const {
    return each_.empty() ? shared_.elements : each_[static_cast<size_t>(i)].elements;
  }
  // Sets the number of elements of every row.
  void set_elements(int32_t elements);
  void append(const Origins& more);
  void append(Origin origin);
  // Keeps the rows [first, first + n).
  Origins slice(int64_t first, int64_t n) const;
  Origins select(const std::vector<int32_t>& rows) const;
  // Puts every row below a parent: for the rows of a child dataset.
  void set_parent(std::shared_ptr<const Origin> parent);
  // Sets the passes, one for each row or one for all. With `own`, which is for a child, it sets the
  // pass of the row itself; otherwise, the passes of the sources that it came from.
  void set_passes(std::span<const int64_t> passes, bool own);

 private:
  bool is_range() const { return each_.empty() && positions_.empty(); }
  void spell_out();

  Origin shared_;  // of a range: the first origin; of positions: source and parent
  int64_t size_ = 0;
  Numbers positions_;
  Numbers passes_;  // empty: all rows have shared_.pass
  RecycledVector<Origin> each_;
};

}  // namespace stoker
