#include "stoker/core/origin.h"

#include "stoker/core/rng.h"

namespace stoker {
std::pair<uint64_t, uint64_t> Origin::key() const {
  uint64_t hi = mix_bits(static_cast<uint64_t>(pass) + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(source) + 1));
  uint64_t lo = static_cast<uint64_t>(position);
  auto add = [&](const Origin& other, uint64_t salt) {
    const auto [other_hi, other_lo] = other.key();
    hi = mix_bits(hi ^ (other_hi + salt));
    lo = mix_bits(lo + mix_bits(other_lo ^ salt) + 0x632be59bd9b4e019u);
  };
  if (parent) add(*parent, 1);
  if (members)
    for (const Origin& member : *members) add(member, 2);
  return {hi, lo};
}

std::string Origin::describe() const {
  std::string text = parent ? parent->describe() + "/" : "";
  if (members) {
    text += "(";
    for (size_t i = 0; i < members->size() && i < 4; ++i) text += (i ? "," : "") + (*members)[i].describe();
    if (members->size() > 4) text += ",…";
    return text + ")";
  }
  text += position == kEndPosition ? "end" : std::to_string(position);
  if (pass > 0) text += "@" + std::to_string(pass);
  return text;
}

bool Origin::operator==(const Origin& other) const {
  if (source != other.source || pass != other.pass || position != other.position) return false;
  if (!parent != !other.parent || !members != !other.members) return false;
  return (!parent || *parent == *other.parent) && (!members || *members == *other.members);
}

Origins::Origins(int32_t source, Numbers passes, Numbers positions)
    : size_(static_cast<int64_t>(positions.size())), positions_(std::move(positions)), passes_(std::move(passes)) {
  shared_.source = source;
  if (passes_.size() == 1) {
    shared_.pass = passes_[0];
    passes_.clear();
  }
}

Origin Origins::at(int64_t i) const {
  const auto row = static_cast<size_t>(i);
  if (!each_.empty()) return each_[row];
  Origin origin = shared_;
  if (positions_.empty()) {
    origin.position += i;
    return origin;
  }
  origin.position = positions_[row];
  if (!passes_.empty()) origin.pass = passes_[row];
  return origin;
}

void Origins::spell_out() {
  if (!each_.empty()) return;
  RecycledVector<Origin> each;
  each.reserve(static_cast<size_t>(size_));
  for (int64_t i = 0; i < size_; ++i) each.push_back(at(i));
  each_ = std::move(each);
  positions_.clear();
  passes_.clear();
}

void Origins::append(const Origins& more) {
  if (more.size_ == 0) return;
  if (size_ == 0) {
    *this = more;
    return;
  }
  if (is_range() && more.is_range()) {
    Origin next = shared_;
    next.position += size_;
    if (next == more.shared_ && next.elements == more.shared_.elements) {
      size_ += more.size_;
      return;
    }
  }
  spell_out();
  for (int64_t i = 0; i < more.size_; ++i) each_.push_back(more.at(i));
  size_ += more.size_;
}

void Origins::append(Origin origin) {
  if (size_ == 0) {
    shared_ = std::move(origin);
    size_ = 1;
    return;
  }
  if (is_range() && !shared_.members) {
    Origin next = shared_;
    next.position += size_;
    if (next == origin && next.elements == origin.elements) {
      ++size_;
      return;
    }
  }
  spell_out();
  each_.push_back(std::move(origin));
  ++size_;
}

Origins Origins::slice(int64_t first, int64_t n) const {
  Origins part;
  part.size_ = n;
  part.shared_ = shared_;
  if (is_range()) part.shared_.position += first;
  auto cut = [&](auto& from, auto& to) {
    if (!from.empty()) to.assign(from.begin() + first, from.begin() + first + n);
  };
  cut(positions_, part.positions_);
  cut(passes_, part.passes_);
  cut(each_, part.each_);
  return part;
}

Origins Origins::select(const std::vector<int32_t>& rows) const {
  Origins part;
  for (int32_t row : rows) part.append(at(row));
  return part;
}

namespace {

Origin of_pass(Origin origin, int64_t pass, bool own) {
  if (!own && origin.parent) {
    origin.parent = std::make_shared<const Origin>(of_pass(*origin.parent, pass, false));
  } else if (!own && origin.members) {
    std::vector<Origin> members;
    for (const Origin& member : *origin.members) members.push_back(of_pass(member, pass, false));
    origin.members = std::make_shared<const std::vector<Origin>>(std::move(members));
  } else {
    origin.pass = pass;
  }
  return origin;
}

}  // namespace

void Origins::set_passes(std::span<const int64_t> passes, bool own) {
  if (passes.size() == 1 && each_.empty() && passes_.empty() && !shared_.members && (own || !shared_.parent)) {
    shared_.pass = passes[0];
    return;
  }
  spell_out();
  for (size_t i = 0; i < each_.size(); ++i)
    each_[i] = of_pass(std::move(each_[i]), passes[passes.size() == 1 ? 0 : i], own);
}

void Origins::set_elements(int32_t elements) {
  for (Origin& origin : each_) origin.elements = elements;
  shared_.elements = elements;
}

int64_t Origins::elements_of(int64_t first, int64_t n) const {
  if (each_.empty()) return n * shared_.elements;
  int64_t sum = 0;
  for (int64_t i = first; i < first + n; ++i) sum += each_[static_cast<size_t>(i)].elements;
  return sum;
}

void Origins::set_parent(std::shared_ptr<const Origin> parent) {
  for (Origin& origin : each_) origin.parent = parent;
  shared_.parent = std::move(parent);
}

}  // namespace stoker
