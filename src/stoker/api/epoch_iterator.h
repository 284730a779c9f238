#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "stoker/core/element.h"

namespace stoker {

// The iterator of a range-for loop over Loader or Watch: one epoch, element by
// element. Throws errors as Error. The element is valid until the next increment;
// the source must outlive the iterator.
template <typename Source>
class EpochIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  explicit EpochIterator(Source* source) : source_(source) { ++*this; }
  EpochIterator() = default;
  Element& operator*() const { return *element_; }
  Element* operator->() const { return &*element_; }
  EpochIterator& operator++() {
    Result<std::optional<Element>> next = source_->next();
    if (!next) throw std::move(next).error();
    element_ = *std::move(next);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const EpochIterator& other) const { return element_.has_value() == other.element_.has_value(); }

 private:
  Source* source_ = nullptr;
  mutable std::optional<Element> element_;  // delivered to the caller, which may modify it
};

}  // namespace stoker
