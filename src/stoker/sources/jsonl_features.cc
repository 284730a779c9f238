#include "stoker/sources/jsonl_features.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace stoker {
namespace {

Error wrong(std::string_view kind, DType type) { return Error::invalid("expected ", name_of(type), ", got ", kind); }

template <typename T>
Result<T> number_of(const Json& value) {
  const auto* whole = value.as<int64_t>();
  if constexpr (std::is_same_v<T, bool>) {
    const auto* truth = value.as<bool>();
    if (truth) return *truth;
  } else if constexpr (std::is_integral_v<T>) {
    if (whole && std::in_range<T>(*whole)) return static_cast<T>(*whole);
    if (whole) return Error::invalid(*whole, " does not fit ", name_of(dtype_of<T>));
  } else {
    const auto* real = value.as<double>();
    if (real || whole) {
      const double found = real ? *real : static_cast<double>(*whole);
      return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(found));
    }
  }
  return wrong(value.describe_kind(), dtype_of<T>);
}

std::string_view kind_of(bool dict) { return dict ? "an object" : "a list"; }

}  // namespace

void JsonFeature::start() {
  started_ = true;
  is_null_ = false;
  dims_ = shape_;
  wrong_list_.reset();
  wrong_item_.reset();
  bytes_.clear();
  ends_.clear();
}

// Returns whether the value is an item of the array. Any other value that gets here is an error of a list.
bool JsonFeature::begin_value(std::string_view kind) {
  if (!lists_.empty()) ++lists_.back().items;
  if (lists_.size() == shape_.size()) return true;
  if (!wrong_list_)
    wrong_list_ = Error::invalid("expected a list of rank ", shape_.size() - lists_.size(), ", got ", kind);
  return false;
}

bool JsonFeature::scalar(const Json& value) {
  if (inside_ > 0) return true;
  if (value.is_null() && lists_.empty()) {
    is_null_ = true;
    return true;
  }
  return !begin_value(value.describe_kind()) || wrong_list_ || wrong_item_ || add_item(value);
}

bool JsonFeature::open(bool dict) {
  if (inside_ > 0 || dict || lists_.size() == shape_.size()) {
    if (inside_ == 0 && begin_value(kind_of(dict)) && !wrong_item_) wrong_item_ = wrong(kind_of(dict), type_);
    ++inside_;
    return true;
  }
  if (!lists_.empty()) ++lists_.back().items;
  lists_.push_back({.wrong_before = wrong_list_.has_value()});
  return true;
}

bool JsonFeature::close() {
  if (inside_ > 0) {
    --inside_;
    return true;
  }
  const List list = lists_.back();
  lists_.pop_back();
  int64_t& dim = dims_[lists_.size()];
  if (dim < 0) dim = list.items;
  if (dim != list.items && !list.wrong_before)  // replaces an error inside the list
    wrong_list_ = Error::invalid("expected a list of ", dim, " items, got ", list.items);
  return true;
}

bool JsonFeature::add_item(const Json& value) {
  return visit_dtype(type_, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, Bytes>) {
      const auto* text = value.as<std::string>();
      if (text) return add_text(*text);
      wrong_item_ = wrong(value.describe_kind(), type_);
      return true;
    } else {
      return add_number<T>(value);
    }
  });
}

bool JsonFeature::add_text(const std::string& text) {
  if (!bytes_.append(text.data(), text.size())) return false;
  const size_t end = bytes_.size();
  return ends_.append(&end, 1);
}

template <typename T>
bool JsonFeature::add_number(const Json& value) {
  const Result<T> number = number_of<T>(value);
  if (!number) {
    wrong_item_ = number.error();
    return true;
  }
  char bytes[sizeof(T)];
  std::memcpy(bytes, &*number, sizeof(T));
  return bytes_.append(bytes, sizeof(T));
}

Result<std::optional<Array>> JsonFeature::result() {
  if (!started_ || is_null_) return std::optional<Array>();
  if (wrong_list_) return *wrong_list_;
  if (wrong_item_) return *wrong_item_;
  STOKER_TRY(Array array, type_ == DType::kBytes ? texts() : numbers());
  return std::optional<Array>(std::move(array));
}

// The lengths below an empty list are unknown. They become 0.
std::vector<int64_t> JsonFeature::dims() const {
  std::vector<int64_t> known = dims_;
  std::ranges::replace_if(known, [](int64_t dim) { return dim < 0; }, 0);
  return known;
}

Result<Array> JsonFeature::numbers() const {
  STOKER_TRY(Array array, Array::make(dims(), type_));
  if (bytes_.size() > 0) std::memcpy(array.mutable_raw(), bytes_.data(), bytes_.size());
  return array;
}

// The table, then the characters.
Result<Array> JsonFeature::texts() const {
  if (shape_.empty()) return Array::of_bytes({bytes_.data(), bytes_.size()});
  const size_t table = ends_.size() * sizeof(Bytes);
  STOKER_TRY(Buffer* const owner, Buffer::make(table + bytes_.size()));
  auto* const characters = reinterpret_cast<char*>(owner->data() + table);
  std::copy_n(bytes_.data(), bytes_.size(), characters);
  for (size_t i = 0, begin = 0; i < ends_.size(); begin = ends_.data()[i++])
    new (owner->data() + i * sizeof(Bytes)) Bytes(characters + begin, ends_.data()[i] - begin);
  return Array::over(owner->data(), dims(), DType::kBytes, owner);
}

bool JsonFeatures::scalar(Json value) {
  if (depth_ == 0) other_kind_ = value.describe_kind();
  return !current_ || current_->scalar(value);
}

bool JsonFeatures::open(bool dict) {
  if (depth_ == 0 && !dict) other_kind_ = kind_of(dict);
  ++depth_;
  return !current_ || current_->open(dict);
}

bool JsonFeatures::close() {
  --depth_;
  if (depth_ == 0) current_ = nullptr;
  return !current_ || current_->close();
}

bool JsonFeatures::key(std::string& name) {
  if (depth_ != 1 || !other_kind_.empty()) return true;
  const auto found = std::ranges::find(names_, name);
  current_ = found == names_.end() ? nullptr : &features_[static_cast<size_t>(found - names_.begin())];
  if (current_) current_->start();
  return true;
}

}  // namespace stoker
