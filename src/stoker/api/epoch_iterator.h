#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "stoker/core/element.h"

namespace stoker {

// Over what a source's next() gives, up to the end; errors are thrown as Error.
template <typename Source>
class EpochIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  explicit EpochIterator(Source* source) : source_(source) { ++*this; }
  EpochIterator() = default;
  Element& operator*() { return *element_; }
  Element* operator->() { return &*element_; }
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
  std::optional<Element> element_;
};

}  // namespace stoker
