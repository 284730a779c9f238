#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "stoker/runtime/plan.h"

namespace stoker {

class CacheStore;

// The kinds of lists. Their elements are identified by position.

// The elements of a source.
class SourceList final : public ListPlan {
 public:
  SourceList(std::shared_ptr<const Node> node, int place, int32_t source, int64_t length)
      : node_(std::move(node)), place_(place), source_(source), length_(length) {}

  int64_t length() const override { return length_; }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return source == source_; }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;

 private:
  Run fetched(const Numbers& positions, const MakeContext& context) const;
  Origins origins_of(const Numbers& positions, Numbers passes, const MakeContext& context) const;

  const std::shared_ptr<const Node> node_;
  const int place_;
  const int32_t source_;
  const int64_t length_;
};

// Selections, permutations and repeats over a list: arithmetic on positions.
class PositionList final : public ListPlan {
 public:
  struct Op {
    enum class Kind { kSelect, kPermute, kRepeat } kind;
    std::shared_ptr<const Node> node;
    int place = 0;
    int64_t below = 0;         // length of the input
    int64_t length = 0;        // of the output
    int64_t stride = 1;        // kRepeat: passes of the input in one pass of the whole list; the constructor sets it
    uint64_t seed = 0;         // kPermute: that the node drew
    ShuffleParams order = {};  // kPermute
  };

  PositionList(std::shared_ptr<const ListPlan> base, std::vector<Op> ops);

  int64_t length() const override { return ops_.empty() ? base_->length() : ops_.back().length; }
  const std::shared_ptr<const ListPlan>& base() const { return base_; }
  const std::vector<Op>& ops() const { return ops_; }

  bool calls_user() const override { return base_->calls_user(); }
  int64_t most_calls() const override { return base_->most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return base_->reads(source); }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override {
    return base_->recompute(origin, context);
  }

 private:
  static void map_to_input(const Op& op, Numbers& positions, Numbers& passes, const MakeContext& context);

  static void permute(const Op& op, Numbers& positions, const Numbers& passes, const MakeContext& context);

  const std::shared_ptr<const ListPlan> base_;
  const std::vector<Op> ops_;
};

class ZipList final : public ListPlan {
 public:
  explicit ZipList(std::vector<MappedList> parts) : parts_(std::move(parts)) {}
  int64_t length() const override {
    int64_t least = kEndless;
    for (const MappedList& part : parts_) least = std::min(least, part.list->length());
    return least;
  }
  bool calls_user() const override { return std::ranges::any_of(parts_, &MappedList::calls_user); }
  int64_t most_calls() const override {
    int64_t most = 0;
    for (const MappedList& part : parts_) most = stricter(most, part.most_calls());
    return most;
  }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override {
    return std::ranges::any_of(parts_, [&](const MappedList& part) { return part.list->reads(source); });
  }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;

 private:
  const std::vector<MappedList> parts_;
};

class ConcatenateList final : public ListPlan {
 public:
  explicit ConcatenateList(std::vector<MappedList> parts);
  const std::vector<MappedList>& parts() const { return parts_; }
  int64_t length() const override { return ends_.back(); }
  bool calls_user() const override { return std::ranges::any_of(parts_, &MappedList::calls_user); }
  int64_t most_calls() const override;
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override {
    return std::ranges::any_of(parts_, [&](const MappedList& part) { return part.list->reads(source); });
  }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;

 private:
  size_t part_of(int64_t position) const;

  const std::vector<MappedList> parts_;
  std::vector<int64_t> ends_;  // of each part: the position after its last element
};

// The error of an element whose number in `enumerate` would be above the largest int64.
Error no_number_left(int64_t start);

class EnumerateList final : public ListPlan {
 public:
  EnumerateList(MappedList input, int64_t start, std::shared_ptr<const Node> node)
      : input_(std::move(input)), start_(start), node_(std::move(node)) {}
  int64_t length() const override { return input_.list->length(); }
  bool calls_user() const override { return input_.calls_user(); }
  int64_t most_calls() const override { return input_.most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return input_.list->reads(source); }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;

 private:
  const MappedList input_;
  const int64_t start_;
  const std::shared_ptr<const Node> node_;
};

// Computes an element downstream of a cache from its origin: `upstream` computes it with the origin that it has there.
// Only for the outermost graph.
Recomputed recompute_cached(const Origin& origin, int32_t source_shift, int64_t stride,
                            const std::function<Recomputed(const Origin&)>& upstream, const MakeContext& context);

// Upstream of a cache, elements are those of pass 0, regardless of the pass that fills it. Downstream, their origins
// have the current pass (`stride`: see in_running_pass). Sources have numbers smaller by `source_shift`
// upstream: a store is shared by places that number the sources differently.
class CacheList final : public ListPlan {
 public:
  CacheList(MappedList input, std::shared_ptr<const Node> node, int place, int32_t source_shift, int64_t stride,
            std::shared_ptr<CacheStore> store)
      : input_(std::move(input)),
        node_(std::move(node)),
        place_(place),
        source_shift_(source_shift),
        stride_(stride),
        store_(std::move(store)) {}
  int64_t length() const override { return input_.list->length(); }
  bool calls_user() const override { return input_.calls_user(); }
  int64_t most_calls() const override { return input_.most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return input_.list->reads(source - source_shift_); }
  Recomputed recompute(const Origin& origin, const MakeContext& context) const override;

 private:
  Origins running(const Origins& origins, const Numbers& passes, const MakeContext& context) const;

  const MappedList input_;
  const std::shared_ptr<const Node> node_;
  const int place_;
  const int32_t source_shift_;
  const int64_t stride_;
  const std::shared_ptr<CacheStore> store_;
};

}  // namespace stoker
