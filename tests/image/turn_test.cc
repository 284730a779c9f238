#include "stoker/image/turn.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

// Of 2 x 3 pixels with as many channels, each with its place as value.
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
    transpose_picture(wide, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{0, 3, 1, 4, 2, 5}));
    rotate_picture(wide, 1, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{2, 5, 1, 4, 0, 3}));
    rotate_picture(wide, 2, wide_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{5, 4, 3, 2, 1, 0}));
    rotate_picture(wide, 3, tall_to);
    EXPECT_EQ(first_channels(), (std::vector<uint8_t>{3, 0, 4, 1, 5, 2}));
  }
}

TEST(Turn, LeavesEmptyPicturesEmpty) {
  const ImageView none{nullptr, 0, 3, 1, 3, DType::kUint8};
  for (int quarters : {1, 2, 3}) rotate_picture(none, quarters, {nullptr, 3, 0, 1, 0, DType::kUint8});
}

}  // namespace
}  // namespace stoker
