#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "stoker/runtime/plan.h"

namespace stoker {

class CacheStore;

// The kinds of lists: what names elements by position.

// The elements of a source.
class SourceList final : public ListPlan {
 public:
  SourceList(std::shared_ptr<const Node> node, int place, int32_t source, int64_t length)
      : node_(std::move(node)), place_(place), source_(source), length_(length) {}

  int64_t length() const override { return length_; }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return source == source_; }
  Remade remake(const Origin& origin, const MakeContext& context) const override;

 private:
  Run fetched(const Numbers& positions, const MakeContext& context) const;
  Origins origins_of(const Numbers& positions, Numbers passes, const MakeContext& context) const;

  const std::shared_ptr<const Node> node_;
  const int place_;
  const int32_t source_;
  const int64_t length_;
};

// Selections, permutations and repeats over a list: numbers alone.
class PositionList final : public ListPlan {
 public:
  struct Op {
    enum class Kind { kSelect, kPermute, kRepeat } kind;
    std::shared_ptr<const Node> node;
    int place = 0;
    int64_t below = 0;   // length of what it reads
    int64_t length = 0;  // of what it gives
    int64_t stride = 1;  // kRepeat: passes that one pass of what stands above begins
    uint64_t seed = 0;   // kPermute: what the node drew
  };

  PositionList(std::shared_ptr<const ListPlan> base, std::vector<Op> ops)
      : base_(std::move(base)), ops_(std::move(ops)) {}

  int64_t length() const override { return ops_.empty() ? base_->length() : ops_.back().length; }
  const std::shared_ptr<const ListPlan>& base() const { return base_; }
  const std::vector<Op>& ops() const { return ops_; }

  bool calls_user() const override { return base_->calls_user(); }
  int64_t most_calls() const override { return base_->most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return base_->reads(source); }
  Remade remake(const Origin& origin, const MakeContext& context) const override {
    return base_->remake(origin, context);
  }

 private:
  static void go_below(const Op& op, Numbers& positions, Numbers& passes, const MakeContext& context);

  static void permute(const Op& op, Numbers& positions, const Numbers& passes, const MakeContext& context);

  const std::shared_ptr<const ListPlan> base_;
  const std::vector<Op> ops_;
};

class ZipList final : public ListPlan {
 public:
  explicit ZipList(std::vector<Listed> parts) : parts_(std::move(parts)) {}
  int64_t length() const override {
    int64_t least = kEndless;
    for (const Listed& part : parts_) least = std::min(least, part.list->length());
    return least;
  }
  bool calls_user() const override { return std::ranges::any_of(parts_, &Listed::calls_user); }
  int64_t most_calls() const override {
    int64_t most = 0;
    for (const Listed& part : parts_) most = stricter(most, part.most_calls());
    return most;
  }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override {
    return std::ranges::any_of(parts_, [&](const Listed& part) { return part.list->reads(source); });
  }
  Remade remake(const Origin& origin, const MakeContext& context) const override;

 private:
  const std::vector<Listed> parts_;
};

class ConcatenateList final : public ListPlan {
 public:
  ConcatenateList(Listed first, Listed second) : first_(std::move(first)), second_(std::move(second)) {}
  int64_t length() const override {
    const int64_t first = first_.list->length();
    return first >= kEndless ? kEndless : std::min(kEndless, first + std::min(kEndless, second_.list->length()));
  }
  bool calls_user() const override { return first_.calls_user() || second_.calls_user(); }
  int64_t most_calls() const override { return stricter(first_.most_calls(), second_.most_calls()); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return first_.list->reads(source) || second_.list->reads(source); }
  Remade remake(const Origin& origin, const MakeContext& context) const override;

 private:
  const Listed first_;
  const Listed second_;
};

class EnumerateList final : public ListPlan {
 public:
  EnumerateList(Listed input, int64_t start) : input_(std::move(input)), start_(start) {}
  int64_t length() const override { return input_.list->length(); }
  bool calls_user() const override { return input_.calls_user(); }
  int64_t most_calls() const override { return input_.most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return input_.list->reads(source); }
  Remade remake(const Origin& origin, const MakeContext& context) const override;

 private:
  const Listed input_;
  const int64_t start_;
};

// Below it elements are those of pass 0, whichever pass fills it; downstream of
// it their origins carry the running pass (`stride`: see in_running_pass).
// `first_source` is the number of the first source below: the store is shared by
// places that number them otherwise.
class CacheList final : public ListPlan {
 public:
  CacheList(Listed input, std::shared_ptr<const Node> node, int place, int32_t first_source, int64_t stride,
            std::shared_ptr<CacheStore> store)
      : input_(std::move(input)),
        node_(std::move(node)),
        place_(place),
        first_source_(first_source),
        stride_(stride),
        store_(std::move(store)) {}
  int64_t length() const override { return input_.list->length(); }
  bool calls_user() const override { return input_.calls_user(); }
  int64_t most_calls() const override { return input_.most_calls(); }
  Run make(const Numbers& positions, const Numbers& passes, const MakeContext& context) const override;
  bool reads(int32_t source) const override { return input_.list->reads(source); }
  Remade remake(const Origin& origin, const MakeContext& context) const override;

 private:
  Origins running(const Origins& origins, const Numbers& passes, const MakeContext& context) const;

  const Listed input_;
  const std::shared_ptr<const Node> node_;
  const int place_;
  const int32_t first_source_;
  const int64_t stride_;
  const std::shared_ptr<CacheStore> store_;
};

}  // namespace stoker
