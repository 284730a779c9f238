#include "stoker/image/flip.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

TEST(Flip, MirrorsPixelsOfEveryWidth) {
  for (int64_t channels : {1, 2, 3, 4, 5}) {
    const int64_t width = 7;
    std::vector<float> from, to(static_cast<size_t>(2 * width * channels));
    for (size_t i = 0; i < to.size(); ++i) from.push_back(static_cast<float>(i));
    const int64_t stride = width * channels * 4;
    flip_left_right({from.data(), 2, width, channels, stride, DType::kFloat32},
                    {to.data(), 2, width, channels, stride, DType::kFloat32});
    for (int64_t y = 0; y < 2; ++y)
      for (int64_t x = 0; x < width; ++x)
        for (int64_t c = 0; c < channels; ++c)
          EXPECT_EQ(to[static_cast<size_t>((y * width + x) * channels + c)],
                    from[static_cast<size_t>((y * width + width - 1 - x) * channels + c)]);
  }
}

TEST(Flip, ReversesTheOrderOfRows) {
  const std::vector<uint8_t> from{1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> to(6);
  flip_up_down({from.data(), 3, 2, 1, 2, DType::kUint8}, {to.data(), 3, 2, 1, 2, DType::kUint8});
  EXPECT_EQ(to, (std::vector<uint8_t>{5, 6, 3, 4, 1, 2}));
}

}  // namespace
}  // namespace stoker
