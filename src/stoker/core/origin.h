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

// The largest number of a pass. Each pass of an outer repeat reserves numbers for the passes of the
// repeats in it, so endless repeats in several levels can use up all numbers. Numbering then starts
// again at 0. Everything that computes the number of a pass calls pass_number(), and everything that
// reads one rejects larger numbers.
constexpr int64_t kMostPasses = (int64_t{1} << 62) - 1;

// Returns the number of pass `inner` of the `per_outer` passes in pass `outer`.
constexpr int64_t pass_number(int64_t outer, int64_t per_outer, int64_t inner) {
  const uint64_t number =
      static_cast<uint64_t>(outer) * static_cast<uint64_t>(per_outer) + static_cast<uint64_t>(inner);
  return static_cast<int64_t>(number & static_cast<uint64_t>(kMostPasses));
}
// Returns the pass `later` passes after this one.
constexpr int64_t pass_after(int64_t pass, int64_t later) { return pass_number(pass, 1, later); }
// Returns how many passes after `from` a pass is. Negative if it is before it: numbering may have started again.
constexpr int64_t passes_since(int64_t from, int64_t pass) {
  const int64_t passes = pass_after(pass, -from);
  return passes <= kMostPasses / 2 ? passes : passes - kMostPasses - 1;
}

// The position of errors that a stage returns at the end of its input. They belong to no element.
constexpr int64_t kEndPosition = -1;

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
  // Formats the part of the origin after the source's name: "18204@2", "3/17", "end".
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
  // The sum of the numbers of elements of rows [first, first + n).
  int64_t elements_of(int64_t first, int64_t n) const;
  // Returns a row after i, such that the rows in between have the source, pass and parent of row i.
  int64_t end_of_pass_at(int64_t i) const { return each_.empty() && passes_.empty() ? size_ : i + 1; }
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
