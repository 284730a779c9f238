#include "stoker/image/turn.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

// 2 x 3 pixels with this many channels; the value of each is its position.
TEST(Turn, MovesPixelsOfEverySize) {
  for (int64_t channels : {1, 2, 3, 4, 12}) {
    std::vector<uint8_t> from, to(static_cast<size_t>(6 * channels));
    for (uint8_t i = 0; i < 6; ++i) from.insert(from.end(), static_cast<size_t>(channels), i);
    const auto first_channels = [&] {
      std::vector<uint8_t> values;
      for (size_t i = 0; i < 6; ++i) values.push_back(to[i * static_cast<size_t>(channels)]);
      return values;
    };
    const ImageView wide{from.data(), 2, 3, channels, 3 * channels, DType::kUint8};
    const MutableImageView tall_to{to.data(), 3, 2, channels, 2 * channels, DType::kUint8};
    const MutableImageView wide_to{to.data(), 2, 3, channels, 3 * channels, DType::kUint8};
    transpose_pixels(wide, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{0, 3, 1, 4, 2, 5}));
    rotate_image(wide, 1, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{2, 5, 1, 4, 0, 3}));
    rotate_image(wide, 2, wide_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{5, 4, 3, 2, 1, 0}));
    rotate_image(wide, 3, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{3, 0, 4, 1, 5, 2}));
  }
}

TEST(Turn, KeepsEmptyImagesEmpty) {
  const ImageView none{nullptr, 0, 3, 1, 3, DType::kUint8};
  uint8_t guard = 7;  // which no rotation may write
  for (int quarters : {1, 2, 3}) {
    rotate_image(none, quarters, {reinterpret_cast<std::byte*>(&guard), 3, 0, 1, 0, DType::kUint8});
    EXPECT_EQ(guard, 7);
  }
}

}  // namespace
}  // namespace stoker
