#include "stoker/image/resize.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#if __has_include(<hwy/targets.h>)
#include <hwy/targets.h>
#endif

#include "stoker/image/flip.h"

namespace stoker {
namespace {

struct Size {
  int64_t height, width, channels = 1;
};

constexpr ResizeFilter kFilters[] = {ResizeFilter::kNearest,  ResizeFilter::kBilinear,     ResizeFilter::kBicubic,
                                     ResizeFilter::kLanczos3, ResizeFilter::kLanczos5,     ResizeFilter::kArea,
                                     ResizeFilter::kGaussian, ResizeFilter::kMitchellCubic};

// Noise that a line of any language can make again.
Array noise(Size size) {
  Array picture = Array::make({size.height, size.width, size.channels}, DType::kUint8).value();
  uint32_t i = 0;
  for (uint8_t& value : picture.mutable_values<uint8_t>()) value = static_cast<uint8_t>((i++ * 2654435761u) >> 13);
  return picture;
}

template <typename T>
Array as(const Array& bytes, float scale = 1) {
  Array picture = Array::make(bytes.dims(), dtype_of<T>).value();
  auto out = picture.mutable_values<T>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(static_cast<float>(bytes.values<uint8_t>()[i]) * scale);
  return picture;
}

Array resized(const Array& from, Size to, ResizeHow how, const ResizeKernels& kernels = vector_resize_kernels()) {
  Array out = Array::make({to.height, to.width, from.dim(2)}, resized_type(from.type(), how).value()).value();
  const Result<void> done = resize_picture(picture_of(from), picture_of(out), how, kernels);
  EXPECT_TRUE(done.ok()) << (done ? "" : done.error().words());
  return out;
}

Array floats(std::vector<float> values, Size size) {
  return Array::from(values).reshaped(std::vector<int64_t>{size.height, size.width, size.channels});
}

uint32_t fnv(const Array& bytes) {
  uint32_t hash = 0x811c9dc5;
  for (uint8_t byte : bytes.values<uint8_t>()) hash = (hash ^ byte) * 16777619;
  return hash;
}

// ---- TensorFlow's manner

// The example of tf.image.resize's documentation, to the last digit.
TEST(Resize, GivesTheNumbersOfTensorflowsDocumentation) {
  std::vector<float> identity(25, 0.0f);
  for (size_t i = 0; i < 5; ++i) identity[i * 6] = 1;
  const Array small = resized(floats(identity, {5, 5}), {3, 5}, {});
  const std::vector<float> expected{0.6666667f, 0.3333333f, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.3333335f, 0.6666665f};
  EXPECT_EQ(small, floats(expected, {3, 5}));
}

TEST(Resize, TakesHalfPixelCentresAndRepeatsTheEdges) {
  const Array large = resized(floats({1, 2, 3, 4}, {2, 2}), {4, 4}, {});
  EXPECT_EQ(large, floats({1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}, {4, 4}));
}

// Pixel by pixel, as TensorFlow's kernel has it.
float bilinear_at(const Array& from, Size to, int64_t y, int64_t x, int64_t c) {
  struct Axis {
    int64_t lower, upper;
    float lerp;
  };
  const auto axis = [](int64_t i, int64_t in, int64_t out) {
    const float scale = static_cast<float>(in) / static_cast<float>(out);
    const float place = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    return Axis{std::max<int64_t>(static_cast<int64_t>(std::floor(place)), 0),
                std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), in - 1), place - std::floor(place)};
  };
  const Axis v = axis(y, from.dim(0), to.height), h = axis(x, from.dim(1), to.width);
  const auto at = [&](int64_t row, int64_t column) {
    return from.values<float>()[static_cast<size_t>((row * from.dim(1) + column) * from.dim(2) + c)];
  };
  const float top = at(v.lower, h.lower) + (at(v.lower, h.upper) - at(v.lower, h.lower)) * h.lerp;
  const float bottom = at(v.upper, h.lower) + (at(v.upper, h.upper) - at(v.upper, h.lower)) * h.lerp;
  return top + (bottom - top) * v.lerp;
}

TEST(Resize, IsTensorflowsBilinearBitByBit) {
  for (Size from : {Size{17, 23, 3}, Size{5, 90, 1}, Size{40, 3, 4}, Size{1, 1, 3}})
    for (Size to : {Size{7, 9}, Size{33, 50}, Size{1, 64}, Size{80, 2}}) {
      const Array picture = as<float>(noise(from), 0.37f);
      const Array out = resized(picture, to, {});
      auto value = out.values<float>().begin();
      for (int64_t y = 0; y < to.height; ++y)
        for (int64_t x = 0; x < to.width; ++x)
          for (int64_t c = 0; c < from.channels; ++c) ASSERT_EQ(*value++, bilinear_at(picture, to, y, x, c));
    }
}

// In double, with weights of triangles as wide as the source pixels that fall
// onto one.
TEST(Resize, WidensTheFilterWhereAsked) {
  const Array picture = as<float>(noise({30, 41}));
  const Array out = resized(picture, {11, 13}, {.antialias = true});
  const auto weight = [](int64_t i, int64_t source, double scale) {
    return std::max(0.0, 1 - std::abs((static_cast<double>(source) + 0.5) / scale - (static_cast<double>(i) + 0.5)));
  };
  for (int64_t y = 0; y < 11; ++y)
    for (int64_t x = 0; x < 13; ++x) {
      double sum = 0, total = 0;
      for (int64_t v = 0; v < 30; ++v)
        for (int64_t u = 0; u < 41; ++u) {
          const double share = weight(y, v, 30 / 11.0) * weight(x, u, 41 / 13.0);
          sum += share * static_cast<double>(picture.values<float>()[static_cast<size_t>(v * 41 + u)]);
          total += share;
        }
      EXPECT_NEAR(out.values<float>()[static_cast<size_t>(y * 13 + x)], sum / total, 1e-3);
    }
}

TEST(Resize, KeepsAConstantPictureWithEveryFilter) {
  const Array grey = floats(std::vector<float>(35, 0.25f), {5, 7});
  for (ResizeFilter filter : kFilters)
    for (bool antialias : {false, true})
      for (Size to : {Size{3, 4}, Size{11, 20}}) {
        const Array out = resized(grey, to, {filter, antialias});
        for (float value : out.values<float>()) EXPECT_NEAR(value, 0.25, 1e-6);
      }
}

TEST(Resize, MeansOverAreas) {
  const Array picture = floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_EQ(resized(picture, {1, 2}, {ResizeFilter::kArea}), floats({3.5, 5.5}, {1, 2}));
}

TEST(Resize, PicksTheNearestAndKeepsTheType) {
  const Array picture = Array::from(std::vector<int16_t>{1, 2, 3, 4}).reshaped(std::vector<int64_t>{1, 4, 1});
  const Array out = resized(picture, {1, 2}, {ResizeFilter::kNearest});
  EXPECT_EQ(out, Array::from(std::vector<int16_t>{2, 4}).reshaped(std::vector<int64_t>{1, 2, 1}));
}

TEST(Resize, TakesEveryNumericType) {
  const Array bytes = noise({9, 11, 3});
  const Array expected = resized(as<float>(bytes), {5, 20}, {});
  EXPECT_EQ(resized(bytes, {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<int32_t>(bytes), {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<Float16>(bytes), {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<double>(bytes), {5, 20}, {}), expected);
}

// ---- Pillow's manner

// The pictures that Pillow 12.0 gave, by their hashes.
TEST(Resize, IsPillowBitByBit) {
  const struct {
    Size from, to;
    ResizeFilter filter;
    uint32_t hash;
  } cases[] = {
      {{61, 83, 3}, {24, 37}, ResizeFilter::kNearest, 0xcb27b41c},
      {{17, 23, 1}, {40, 31}, ResizeFilter::kNearest, 0x7172c4f9},
      {{45, 37, 4}, {13, 60}, ResizeFilter::kNearest, 0xd88de9f1},
      {{31, 64, 3}, {31, 20}, ResizeFilter::kNearest, 0x3abb5e29},
      {{64, 31, 3}, {20, 31}, ResizeFilter::kNearest, 0x481566b0},
      {{61, 83, 3}, {24, 37}, ResizeFilter::kBilinear, 0xbd725eeb},
      {{17, 23, 1}, {40, 31}, ResizeFilter::kBilinear, 0xa2ddb00b},
      {{45, 37, 4}, {13, 60}, ResizeFilter::kBilinear, 0x44a76a10},
      {{31, 64, 3}, {31, 20}, ResizeFilter::kBilinear, 0xdb7f05ac},
      {{64, 31, 3}, {20, 31}, ResizeFilter::kBilinear, 0x7c37700f},
      {{61, 83, 3}, {24, 37}, ResizeFilter::kBicubic, 0x0f021789},
      {{17, 23, 1}, {40, 31}, ResizeFilter::kBicubic, 0x186b4a37},
      {{45, 37, 4}, {13, 60}, ResizeFilter::kBicubic, 0xf9905ba3},
      {{31, 64, 3}, {31, 20}, ResizeFilter::kBicubic, 0xf471ea96},
      {{64, 31, 3}, {20, 31}, ResizeFilter::kBicubic, 0x86a511eb},
      {{61, 83, 3}, {24, 37}, ResizeFilter::kLanczos3, 0xd85f1fb6},
      {{17, 23, 1}, {40, 31}, ResizeFilter::kLanczos3, 0x98e3a7b4},
      {{45, 37, 4}, {13, 60}, ResizeFilter::kLanczos3, 0x2d91fa2d},
      {{31, 64, 3}, {31, 20}, ResizeFilter::kLanczos3, 0x9f6898c1},
      {{64, 31, 3}, {20, 31}, ResizeFilter::kLanczos3, 0x9e4b6f56},
      {{61, 83, 3}, {24, 37}, ResizeFilter::kArea, 0xe0f8f845},
      {{17, 23, 1}, {40, 31}, ResizeFilter::kArea, 0x7172c4f9},
      {{45, 37, 4}, {13, 60}, ResizeFilter::kArea, 0x0a7dbe1a},
      {{31, 64, 3}, {31, 20}, ResizeFilter::kArea, 0x2e5e4151},
      {{64, 31, 3}, {20, 31}, ResizeFilter::kArea, 0x5a5a604b},
  };
  for (const auto& [from, to, filter, hash] : cases) {
    const ResizeHow how{.filter = filter, .manner = Manner::kPillow};
    EXPECT_EQ(fnv(resized(noise(from), to, how)), hash) << static_cast<int>(filter) << " to " << to.height;
    EXPECT_EQ(fnv(resized(noise(from), to, how, plain_resize_kernels())), hash);
  }
}

TEST(Resize, LeavesFloatsUnroundedInPillowsManner) {
  const Array picture = as<double>(noise({4, 5}));
  std::vector<float> values;
  for (double value : picture.values<double>()) values.push_back(static_cast<float>(value / 255.0f));
  const Array out = resized(floats(values, {4, 5}), {3, 2}, {.manner = Manner::kPillow});
  EXPECT_EQ(out, floats({0x1.b2dcc2p-2f, 0x1.15d4aap-1f, 0x1.93c25p-2f, 0x1.16a246p-1f, 0x1.955d84p-2f, 0x1.07150cp-1f},
                        {3, 2}));
}

TEST(Resize, CopiesAPictureOfTheSizeAsked) {
  const Array picture = noise({6, 7, 3});
  EXPECT_EQ(resized(picture, {6, 7}, {.manner = Manner::kPillow}), picture);
  EXPECT_EQ(resized(picture, {6, 7}, {}), as<float>(picture));
}

// ---- both

void expect_twins_agree() {
  for (int64_t channels : {1, 2, 3, 4, 5})
    for (Size from : {Size{1, 1}, Size{2, 3}, Size{19, 33}, Size{64, 17}, Size{37, 129}})
      for (Size to : {Size{1, 1}, Size{5, 7}, Size{18, 35}, Size{70, 66}})
        for (ResizeFilter filter :
             {ResizeFilter::kBilinear, ResizeFilter::kBicubic, ResizeFilter::kLanczos3, ResizeFilter::kArea})
          for (Manner manner : {Manner::kTensorflow, Manner::kPillow})
            for (bool antialias : {false, true}) {
              const Array picture = noise({from.height, from.width, channels});
              const ResizeHow how{filter, antialias, manner};
              ASSERT_EQ(resized(picture, to, how), resized(picture, to, how, plain_resize_kernels()))
                  << channels << " channels, " << from.height << "x" << from.width << " to " << to.height << "x"
                  << to.width;
            }
}

#if __has_include(<hwy/targets.h>)
TEST(Resize, GivesTheBitsOfThePlainLoopsOnEveryInstructionSet) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    expect_twins_agree();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}
#else
TEST(Resize, GivesTheBitsOfThePlainLoops) { expect_twins_agree(); }
#endif

// Memory is exactly as large as the pictures: the address sanitizer watches.
TEST(Resize, WritesIntoAWindowOfAnotherPicture) {
  const Array picture = noise({20, 30, 3});
  const Array whole = resized(picture, {8, 9}, {.manner = Manner::kPillow});
  std::vector<uint8_t> canvas(8 * 40, 77);
  const MutableImageView window{canvas.data() + 5, 8, 9, 3, 40, DType::kUint8};
  ASSERT_TRUE(resize_picture(picture_of(picture), window, {.manner = Manner::kPillow}).ok());
  for (size_t i = 0; i < canvas.size(); ++i) {
    const size_t y = i / 40, x = i % 40;
    const bool inside = x >= 5 && x < 5 + 27;
    EXPECT_EQ(canvas[i], inside ? whole.values<uint8_t>()[y * 27 + x - 5] : 77);
  }
}

TEST(Resize, DoesNotReadRowsThatNoOutputNeeds) {
  Array picture = as<float>(noise({90, 3}));
  const Array clean = resized(picture, {3, 3}, {});
  auto values = picture.mutable_values<float>();
  for (size_t y = 0; y < 90; ++y)
    if (y % 30 != 14 && y % 30 != 15)
      for (size_t x = 0; x < 3; ++x) values[y * 3 + x] = std::nanf("");
  EXPECT_EQ(resized(picture, {3, 3}, {}), clean);
}

// Rows that are gone with the next call, and pixels of three channels that lie
// four apart.
class PassingRows final : public RowSource {
 public:
  explicit PassingRows(const Array& picture)
      : RowSource({picture.dim(0), picture.dim(1), picture.dim(2), DType::kUint8, picture.dim(2) + 1}),
        picture_(picture) {}

  Result<void> rows(int64_t y, int n, const void** rows) override {
    EXPECT_GE(y, next_);
    EXPECT_LE(n, kMostRows);
    next_ = y + n;
    for (int k = 0; k < n; ++k) {
      std::vector<uint8_t>& row = memory_[k];
      row.assign(static_cast<size_t>(form().width * form().pixel), 99);
      const ImageView view = picture_of(picture_);
      for (int64_t x = 0; x < view.width; ++x)
        std::copy_n(view.row<uint8_t>(y + k) + x * view.channels, view.channels, row.data() + x * form().pixel);
      rows[k] = row.data();
    }
    return {};
  }

 private:
  const Array picture_;
  int64_t next_ = 0;
  std::vector<uint8_t> memory_[kMostRows];
};

constexpr ResizeHow kHows[] = {{},
                               {.antialias = true},
                               {.filter = ResizeFilter::kNearest},
                               {.filter = ResizeFilter::kBicubic},
                               {.filter = ResizeFilter::kArea},
                               {.filter = ResizeFilter::kLanczos3, .antialias = true},
                               {.manner = Manner::kPillow},
                               {.filter = ResizeFilter::kNearest, .manner = Manner::kPillow},
                               {.filter = ResizeFilter::kBicubic, .manner = Manner::kPillow}};
constexpr Size kSizes[] = {{9, 7}, {20, 31}, {40, 9}, {13, 17}};

TEST(Resize, GivesTheSameFromRowsAsTheyCome) {
  for (const int64_t channels : {1, 3})
    for (const ResizeHow how : kHows)
      for (const Size size : kSizes) {
        const Array picture = noise({20, 31, channels});
        const Array whole = resized(picture, size, how);
        Array out = Array::make(whole.dims(), whole.type()).value();
        PassingRows source(picture);
        MemorySink sink(picture_of(out));
        ASSERT_TRUE(resize_rows(source, sink, {20, size.height}, {31, size.width}, how).ok());
        EXPECT_EQ(out, whole) << size.height << "x" << size.width << "x" << channels;
      }
}

TEST(Resize, MirrorsOnTheWay) {
  for (const int64_t channels : {1, 3, 4})
    for (const ResizeHow& straight : kHows)
      for (const Size size : kSizes) {
        const Array picture = noise({20, 31, channels});
        const Array plain = resized(picture, size, straight);
        Array expected = Array::make(plain.dims(), plain.type()).value();
        flip_left_right(picture_of(plain), picture_of(expected));
        ResizeHow how = straight;
        how.mirrored = true;
        EXPECT_EQ(resized(picture, size, how), expected) << size.height << "x" << size.width << "x" << channels;
        EXPECT_EQ(resized(as<float>(picture), size, how),
                  resized(as<float>(picture), size, how, plain_resize_kernels()));
      }
}

Array window_of(const Array& picture, const ResizeAxis& down, const ResizeAxis& across, bool read) {
  const int64_t height = read ? down.read : down.made, width = read ? across.read : across.made;
  const int64_t top = read ? down.read_from : down.made_from, left = read ? across.read_from : across.made_from;
  Array part = Array::make({height, width, picture.dim(2)}, picture.type()).value();
  const size_t pixel = static_cast<size_t>(picture.dim(2)) * size_of(picture.type());
  for (int64_t y = 0; y < height; ++y)
    std::memcpy(picture_of(part).row<std::byte>(y),
                picture_of(picture).row<std::byte>(top + y) + static_cast<size_t>(left) * pixel,
                static_cast<size_t>(width) * pixel);
  return part;
}

TEST(Resize, MakesAPartFromThePartThatItNeeds) {
  for (const int64_t channels : {1, 3})
    for (const ResizeHow& how : kHows)
      for (const Size size : kSizes)
        for (const auto& [top, left, height, width] :
             {std::array<int64_t, 4>{0, 0, 9, 7}, {2, 3, 5, 4}, {size.height - 2, size.width - 1, 2, 1}}) {
          ResizeAxis down{20, size.height}, across{31, size.width};
          down.made_from = top, down.made = height, across.made_from = left, across.made = width;
          narrow(down, how);
          narrow(across, how);
          const Array picture = noise({20, 31, channels});
          const Array expected = window_of(resized(picture, size, how), down, across, false);
          Array out = Array::make(expected.dims(), expected.type()).value();
          PassingRows source(window_of(picture, down, across, true));
          MemorySink sink(picture_of(out));
          ASSERT_TRUE(resize_rows(source, sink, down, across, how).ok());
          EXPECT_EQ(out, expected) << size.height << "x" << size.width << "x" << channels;
        }
}

// Three channels of four, in memory that ends with the last pixel.
class PaddedRows final : public RowSource {
 public:
  explicit PaddedRows(const Array& picture)
      : RowSource({picture.dim(0), picture.dim(1), 3, DType::kUint8, 4}), picture_(picture) {}
  Result<void> rows(int64_t y, int n, const void** rows) override {
    for (int k = 0; k < n; ++k) {
      const auto* row = picture_of(picture_).row<uint8_t>(y + k);
      group_[k].assign(row, row + picture_.dim(1) * 4);
      rows[k] = group_[k].data();
    }
    return {};
  }

 private:
  const Array& picture_;
  std::vector<uint8_t> group_[RowSource::kMostRows];
};

TEST(Resize, PassesOverWhatFillsPixelsUp) {
  for (const Size from : {Size{5, 3}, Size{9, 4}, Size{37, 129}, Size{70, 33}})
    for (const Size to : {Size{3, 2}, Size{18, 35}, Size{70, 66}}) {
      const Array padded = noise({from.height, from.width, 4});
      Array picture = Array::make({from.height, from.width, 3}, DType::kUint8).value();
      for (int64_t i = 0; i < from.height * from.width; ++i)
        std::memcpy(picture.mutable_values<uint8_t>().data() + i * 3, padded.values<uint8_t>().data() + i * 4, 3);
      Array out = Array::make({to.height, to.width, 3}, DType::kUint8).value();
      PaddedRows source(padded);
      MemorySink sink(picture_of(out));
      const ResizeHow how{.manner = Manner::kPillow};
      ASSERT_TRUE(resize_rows(source, sink, {from.height, to.height}, {from.width, to.width}, how).ok());
      EXPECT_EQ(out, resized(picture, to, how, plain_resize_kernels())) << from.width << " to " << to.width;
    }
}

TEST(Resize, EndsWithTheErrorOfItsRows) {
  class Failing final : public RowSource {
   public:
    Failing() : RowSource({20, 31, 3, DType::kUint8, 3}) {}
    Result<void> rows(int64_t y, int, const void**) override { return Error::corrupt("row ", y, " is gone"); }
  } source;
  Array out = Array::make({5, 6, 3}, DType::kUint8).value();
  MemorySink sink(picture_of(out));
  const auto done = resize_rows(source, sink, {20, 5}, {31, 6}, {.manner = Manner::kPillow});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message(), "row 0 is gone");
}

TEST(Resize, RefusesWhatItCannotDo) {
  EXPECT_EQ(resized_type(DType::kInt16, {.manner = Manner::kPillow}).error().message(),
            "in Pillow's manner pictures are uint8 or float32, found int16");
  EXPECT_EQ(
      resized_type(DType::kUint8, {.filter = ResizeFilter::kGaussian, .manner = Manner::kPillow}).error().message(),
      "Pillow has nearest, bilinear, bicubic, lanczos3 and area alone");
  EXPECT_EQ(resized_type(DType::kBytes, {}).error().message(), "a picture has numbers, found string");
  Array out = Array::make({0, 2, 1}, DType::kFloat32).value();
  const Array picture = noise({2, 2});
  EXPECT_EQ(resize_picture(picture_of(picture), picture_of(out), {}).error().message(),
            "pictures are resized from and to sizes of 1 to 2147483647, found 0x2");
}

}  // namespace
}  // namespace stoker
