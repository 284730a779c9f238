#pragma once

#include <limits>
#include <string>
#include <vector>

#include "stoker/core/array.h"

namespace stoker {

// Returns an array of three values for each type, among them the extreme values of the type.
inline std::vector<Array> one_of_each_type() {
  std::vector<Array> arrays;
  for (int i = 0; i <= static_cast<int>(DType::kBytes); ++i)
    visit_dtype(static_cast<DType>(i), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Bytes>)
        arrays.push_back(Array::from(std::vector<std::string>{"text", std::string("\xff\0", 2), ""}));
      else if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>)
        arrays.push_back(Array::from(std::vector<T>{T(0.1f), T(-3e4f), T(std::numeric_limits<float>::infinity())}));
      else if constexpr (std::is_same_v<T, bool>)
        arrays.push_back(Array::from(std::vector<bool>{true, false, true}));
      else
        arrays.push_back(Array::from(
            std::vector<T>{std::numeric_limits<T>::lowest(), static_cast<T>(0.1), std::numeric_limits<T>::max()}));
    });
  return arrays;
}

}  // namespace stoker
