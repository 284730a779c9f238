#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "stoker/runtime/line.h"

namespace stoker {

class CacheStore;

// The kinds of nodes of a line. Each is described completely by one struct, and implemented in the file of the same
// name: how it runs, how one element is recomputed, what explain() prints.

// The positions of a list, in order.
struct ListLinePlan final : LinePlan {
  std::shared_ptr<const ListPlan> list;

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return list->reads(source); }
  bool yields_positions() const override { return true; }
  std::string describe() const override;
};

// The results of another segment.
struct PortLinePlan final : LinePlan {
  std::shared_ptr<const SegmentPlan> segment;

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return segment->line->reads(source); }
  const SegmentPlan* upstream() const override { return segment.get(); }
  std::string describe() const override { return "the window of another segment"; }
};

struct StreamLinePlan final : LinePlan {
  int32_t source = 0;
  int place = 0;

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin&, const MakeContext&) const override { return Recomputed::impossible(); }
  bool reads(int32_t of) const override { return of == source; }
};

struct SequenceLinePlan final : LinePlan {
  int32_t source = 0;                  // the first source upstream
  std::optional<CountedNode> counted;  // what counts the passes of this source; none upstream of a cache

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  // The element as it enters the stage. In a dataset that an element opened, that element.
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  bool yields_positions() const override { return false; }
};

struct SelectLinePlan final : LinePlan {
  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
};

struct ShuffleLinePlan final : LinePlan {
  ShuffleParams params;
  int place = 0;

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  std::string describe() const override;
};

// Restarts its input, or opens `child` again, for each pass.
struct RepeatLinePlan final : LinePlan {
  int64_t passes = -1;                       // negative: no end
  std::shared_ptr<const SegmentPlan> child;  // null: the input is restarted

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  bool reads(int32_t source) const override;
  const SegmentPlan* upstream() const override { return child.get(); }
  bool opens_each_pass() const override { return child != nullptr; }
};

struct CacheLinePlan final : LinePlan {
  std::shared_ptr<const SegmentPlan> child;
  std::shared_ptr<CacheStore> store;
  int32_t source_shift = 0;  // sources have numbers smaller by this upstream
  int64_t stride = 1;        // passes of the sources upstream in one pass of the cache
  int place = 0;

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return child->line->reads(source - source_shift); }
  const SegmentPlan* upstream() const override { return child.get(); }
  bool opens_each_pass() const override { return true; }
};

struct ZipLinePlan final : LinePlan {
  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
};

struct ConcatenateLinePlan final : LinePlan {
  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
};

struct EnumerateLinePlan final : LinePlan {
  int64_t first = 0;  // number of the first element

  std::unique_ptr<LineNode> start(Instance& instance, int64_t pass) const override;
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;
};

// The result of a stage that combines elements cannot be recomputed from one of them, unless that one fails or is
// dropped.
Recomputed only_if_lost(Recomputed made);

// Read values of a checkpoint. A count or position that is out of range is returned as -1, a missing part as null.
int64_t saved_count(const Json& json, std::string_view key, int64_t missing = 0);
const Json& saved_part(const Json& json, std::string_view key);

constexpr int64_t kPullRows = 4096;  // that a line pulls at once from its input, at most

// A pull that finds no rows for this long returns blocked and continues when it is called again, so that a thread that
// waits for it, or interrupts it, does not wait long.
constexpr int64_t kLongestPullNs = 20'000'000;

}  // namespace stoker
