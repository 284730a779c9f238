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

// Noise that is easy to reproduce in any language.
Array noise(Size size) {
  Array image = Array::make({size.height, size.width, size.channels}, DType::kUint8).value();
  uint32_t i = 0;
  for (uint8_t& value : image.mutable_values<uint8_t>()) value = static_cast<uint8_t>((i++ * 2654435761u) >> 13);
  return image;
}

template <typename T>
Array as(const Array& bytes, float scale = 1) {
  Array image = Array::make(bytes.shape(), dtype_of<T>).value();
  auto out = image.mutable_values<T>();
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(static_cast<float>(bytes.values<uint8_t>()[i]) * scale);
  return image;
}

Array resized(const Array& from, Size to, ResizeHow how, const ResizeKernels& kernels = vector_resize_kernels()) {
  Array out = Array::make({to.height, to.width, from.dim(2)}, resized_type(from.type(), how).value()).value();
  const Result<void> done = resize_image(image_view(from), image_view(out), how, kernels);
  EXPECT_TRUE(done.ok()) << (done ? "" : done.error().describe());
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

// ---- as in TensorFlow

// The example in the documentation of tf.image.resize, to the last digit.
TEST(Resize, MatchesTheDocumentationOfTensorflow) {
  std::vector<float> identity(25, 0.0f);
  for (size_t i = 0; i < 5; ++i) identity[i * 6] = 1;
  const Array small = resized(floats(identity, {5, 5}), {3, 5}, {});
  const std::vector<float> expected{0.6666667f, 0.3333333f, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.3333335f, 0.6666665f};
  EXPECT_EQ(small, floats(expected, {3, 5}));
}

TEST(Resize, UsesHalfPixelCentersAndRepeatsTheEdges) {
  const Array large = resized(floats({1, 2, 3, 4}, {2, 2}), {4, 4}, {});
  EXPECT_EQ(large, floats({1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}, {4, 4}));
}

// Pixel by pixel, as TensorFlow's kernel computes it.
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

TEST(Resize, IsBitIdenticalToTensorflowsBilinear) {
  for (Size from : {Size{17, 23, 3}, Size{5, 90, 1}, Size{40, 3, 4}, Size{1, 1, 3}})
    for (Size to : {Size{7, 9}, Size{33, 50}, Size{1, 64}, Size{80, 2}}) {
      const Array image = as<float>(noise(from), 0.37f);
      const Array out = resized(image, to, {});
      auto value = out.values<float>().begin();
      for (int64_t y = 0; y < to.height; ++y)
        for (int64_t x = 0; x < to.width; ++x)
          for (int64_t c = 0; c < from.channels; ++c) ASSERT_EQ(*value++, bilinear_at(image, to, y, x, c));
    }
}

// In double, with triangles as wide as the source pixels of one output.
TEST(Resize, WidensTheFilterForAntialiasing) {
  const Array image = as<float>(noise({30, 41}));
  const Array out = resized(image, {11, 13}, {.antialias = true});
  const auto weight = [](int64_t i, int64_t source, double scale) {
    return std::max(0.0, 1 - std::abs((static_cast<double>(source) + 0.5) / scale - (static_cast<double>(i) + 0.5)));
  };
  for (int64_t y = 0; y < 11; ++y)
    for (int64_t x = 0; x < 13; ++x) {
      double sum = 0, total = 0;
      for (int64_t v = 0; v < 30; ++v)
        for (int64_t u = 0; u < 41; ++u) {
          const double share = weight(y, v, 30 / 11.0) * weight(x, u, 41 / 13.0);
          sum += share * static_cast<double>(image.values<float>()[static_cast<size_t>(v * 41 + u)]);
          total += share;
        }
      EXPECT_NEAR(out.values<float>()[static_cast<size_t>(y * 13 + x)], sum / total, 1e-3);
    }
}

TEST(Resize, KeepsAConstantImageWithEveryFilter) {
  const Array grey = floats(std::vector<float>(35, 0.25f), {5, 7});
  for (ResizeFilter filter : kFilters)
    for (bool antialias : {false, true})
      for (Size to : {Size{3, 4}, Size{11, 20}}) {
        const Array out = resized(grey, to, {filter, antialias});
        for (float value : out.values<float>()) EXPECT_NEAR(value, 0.25, 1e-6);
      }
}

TEST(Resize, AveragesOverAreas) {
  const Array image = floats({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  EXPECT_EQ(resized(image, {1, 2}, {ResizeFilter::kArea}), floats({3.5, 5.5}, {1, 2}));
}

TEST(Resize, PicksTheNearestPixelAndKeepsTheType) {
  const Array image = Array::from(std::vector<int16_t>{1, 2, 3, 4}).reshaped(std::vector<int64_t>{1, 4, 1});
  const Array out = resized(image, {1, 2}, {ResizeFilter::kNearest});
  EXPECT_EQ(out, Array::from(std::vector<int16_t>{2, 4}).reshaped(std::vector<int64_t>{1, 2, 1}));
}

TEST(Resize, AcceptsEveryNumericType) {
  const Array bytes = noise({9, 11, 3});
  const Array expected = resized(as<float>(bytes), {5, 20}, {});
  EXPECT_EQ(resized(bytes, {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<int32_t>(bytes), {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<Float16>(bytes), {5, 20}, {}), expected);
  EXPECT_EQ(resized(as<double>(bytes), {5, 20}, {}), expected);
}

// ---- as in Pillow

// The hashes of the images that Pillow 12.0 produced.
TEST(Resize, IsBitIdenticalToPillow) {
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

TEST(Resize, DoesNotRoundFloatsAsInPillow) {
  const Array image = as<double>(noise({4, 5}));
  std::vector<float> values;
  for (double value : image.values<double>()) values.push_back(static_cast<float>(value / 255.0f));
  const Array out = resized(floats(values, {4, 5}), {3, 2}, {.manner = Manner::kPillow});
  EXPECT_EQ(out, floats({0x1.b2dcc2p-2f, 0x1.15d4aap-1f, 0x1.93c25p-2f, 0x1.16a246p-1f, 0x1.955d84p-2f, 0x1.07150cp-1f},
                        {3, 2}));
}

TEST(Resize, CopiesAnImageOfTheRequestedSize) {
  const Array image = noise({6, 7, 3});
  EXPECT_EQ(resized(image, {6, 7}, {.manner = Manner::kPillow}), image);
  EXPECT_EQ(resized(image, {6, 7}, {}), as<float>(image));
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
              const Array image = noise({from.height, from.width, channels});
              const ResizeHow how{filter, antialias, manner};
              ASSERT_EQ(resized(image, to, how), resized(image, to, how, plain_resize_kernels()))
                  << channels << " channels, " << from.height << "x" << from.width << " to " << to.height << "x"
                  << to.width;
            }
}

#if __has_include(<hwy/targets.h>)
TEST(Resize, HasTheBitsOfThePlainLoopsOnEveryInstructionSet) {
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
TEST(Resize, HasTheBitsOfThePlainLoops) { expect_twins_agree(); }
#endif

// The memory has exactly the size of the images, so that AddressSanitizer detects other accesses.
TEST(Resize, WritesIntoAWindowOfAnotherImage) {
  const Array image = noise({20, 30, 3});
  const Array whole = resized(image, {8, 9}, {.manner = Manner::kPillow});
  std::vector<uint8_t> canvas(8 * 40, 77);
  const MutableImageView window{canvas.data() + 5, 8, 9, 3, 40, DType::kUint8};
  ASSERT_TRUE(resize_image(image_view(image), window, {.manner = Manner::kPillow}).ok());
  for (size_t i = 0; i < canvas.size(); ++i) {
    const size_t y = i / 40, x = i % 40;
    const bool inside = x >= 5 && x < 5 + 27;
    EXPECT_EQ(canvas[i], inside ? whole.values<uint8_t>()[y * 27 + x - 5] : 77);
  }
}

TEST(Resize, DoesNotReadRowsThatNoOutputNeeds) {
  Array image = as<float>(noise({90, 3}));
  const Array clean = resized(image, {3, 3}, {});
  auto values = image.mutable_values<float>();
  for (size_t y = 0; y < 90; ++y)
    if (y % 30 != 14 && y % 30 != 15)
      for (size_t x = 0; x < 3; ++x) values[y * 3 + x] = std::nanf("");
  EXPECT_EQ(resized(image, {3, 3}, {}), clean);
}

// Rows that are only valid until the next call, with three channels padded to four.
class PassingRows final : public RowSource {
 public:
  explicit PassingRows(const Array& image)
      : RowSource({image.dim(0), image.dim(1), image.dim(2), DType::kUint8, image.dim(2) + 1}), image_(image) {}

  Result<void> rows(int64_t y, int n, const void** rows) override {
    EXPECT_GE(y, next_);
    EXPECT_LE(n, kMostRows);
    next_ = y + n;
    for (int k = 0; k < n; ++k) {
      std::vector<uint8_t>& row = memory_[k];
      row.assign(static_cast<size_t>(form().width * form().pixel), 99);
      const ImageView view = image_view(image_);
      for (int64_t x = 0; x < view.width; ++x)
        std::copy_n(view.row<uint8_t>(y + k) + x * view.channels, view.channels, row.data() + x * form().pixel);
      rows[k] = row.data();
    }
    return {};
  }

 private:
  const Array image_;
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

TEST(Resize, DoesNotDependOnHowRowsAreProvided) {
  for (const int64_t channels : {1, 3})
    for (const ResizeHow how : kHows)
      for (const Size size : kSizes) {
        const Array image = noise({20, 31, channels});
        const Array whole = resized(image, size, how);
        Array out = Array::make(whole.shape(), whole.type()).value();
        PassingRows source(image);
        MemorySink sink(image_view(out));
        ASSERT_TRUE(resize_rows(source, sink, {20, size.height}, {31, size.width}, how).ok());
        EXPECT_EQ(out, whole) << size.height << "x" << size.width << "x" << channels;
      }
}

TEST(Resize, FlipsTheResultOnRequest) {
  for (const int64_t channels : {1, 3, 4})
    for (const ResizeHow& straight : kHows)
      for (const Size size : kSizes) {
        const Array image = noise({20, 31, channels});
        const Array plain = resized(image, size, straight);
        Array expected = Array::make(plain.shape(), plain.type()).value();
        flip_left_right(image_view(plain), image_view(expected));
        ResizeHow how = straight;
        how.mirrored = true;
        EXPECT_EQ(resized(image, size, how), expected) << size.height << "x" << size.width << "x" << channels;
        EXPECT_EQ(resized(as<float>(image), size, how), resized(as<float>(image), size, how, plain_resize_kernels()));
      }
}

Array window_of(const Array& image, const ResizeAxis& down, const ResizeAxis& across, bool read) {
  const int64_t height = read ? down.read : down.made, width = read ? across.read : across.made;
  const int64_t top = read ? down.read_from : down.made_from, left = read ? across.read_from : across.made_from;
  Array part = Array::make({height, width, image.dim(2)}, image.type()).value();
  const size_t pixel = static_cast<size_t>(image.dim(2)) * size_of(image.type());
  for (int64_t y = 0; y < height; ++y)
    std::memcpy(image_view(part).row<std::byte>(y),
                image_view(image).row<std::byte>(top + y) + static_cast<size_t>(left) * pixel,
                static_cast<size_t>(width) * pixel);
  return part;
}

TEST(Resize, ComputesAPartFromThePartThatItNeeds) {
  for (const int64_t channels : {1, 3})
    for (const ResizeHow& how : kHows)
      for (const Size size : kSizes)
        for (const auto& [top, left, height, width] :
             {std::array<int64_t, 4>{0, 0, 9, 7}, {2, 3, 5, 4}, {size.height - 2, size.width - 1, 2, 1}}) {
          ResizeAxis down{20, size.height}, across{31, size.width};
          down.made_from = top, down.made = height, across.made_from = left, across.made = width;
          narrow(down, how);
          narrow(across, how);
          const Array image = noise({20, 31, channels});
          const Array expected = window_of(resized(image, size, how), down, across, false);
          Array out = Array::make(expected.shape(), expected.type()).value();
          PassingRows source(window_of(image, down, across, true));
          MemorySink sink(image_view(out));
          ASSERT_TRUE(resize_rows(source, sink, down, across, how).ok());
          EXPECT_EQ(out, expected) << size.height << "x" << size.width << "x" << channels;
        }
}

// Three of four channels, in memory that ends with the last pixel.
class PaddedRows final : public RowSource {
 public:
  explicit PaddedRows(const Array& image)
      : RowSource({image.dim(0), image.dim(1), 3, DType::kUint8, 4}), image_(image) {}
  Result<void> rows(int64_t y, int n, const void** rows) override {
    for (int k = 0; k < n; ++k) {
      const auto* row = image_view(image_).row<uint8_t>(y + k);
      group_[k].assign(row, row + image_.dim(1) * 4);
      rows[k] = group_[k].data();
    }
    return {};
  }

 private:
  const Array& image_;
  std::vector<uint8_t> group_[RowSource::kMostRows];
};

TEST(Resize, SkipsThePaddingOfPixels) {
  for (const Size from : {Size{5, 3}, Size{9, 4}, Size{37, 129}, Size{70, 33}})
    for (const Size to : {Size{3, 2}, Size{18, 35}, Size{70, 66}}) {
      const Array padded = noise({from.height, from.width, 4});
      Array image = Array::make({from.height, from.width, 3}, DType::kUint8).value();
      for (int64_t i = 0; i < from.height * from.width; ++i)
        std::memcpy(image.mutable_values<uint8_t>().data() + i * 3, padded.values<uint8_t>().data() + i * 4, 3);
      Array out = Array::make({to.height, to.width, 3}, DType::kUint8).value();
      PaddedRows source(padded);
      MemorySink sink(image_view(out));
      const ResizeHow how{.manner = Manner::kPillow};
      ASSERT_TRUE(resize_rows(source, sink, {from.height, to.height}, {from.width, to.width}, how).ok());
      EXPECT_EQ(out, resized(image, to, how, plain_resize_kernels())) << from.width << " to " << to.width;
    }
}

TEST(Resize, ReturnsTheErrorOfItsSource) {
  class Failing final : public RowSource {
   public:
    Failing() : RowSource({20, 31, 3, DType::kUint8, 3}) {}
    Result<void> rows(int64_t y, int, const void**) override { return Error::corrupt("row ", y, " is gone"); }
  } source;
  Array out = Array::make({5, 6, 3}, DType::kUint8).value();
  MemorySink sink(image_view(out));
  const auto done = resize_rows(source, sink, {20, 5}, {31, 6}, {.manner = Manner::kPillow});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message(), "row 0 is gone");
}

TEST(Resize, RejectsUnsupportedTypesFiltersAndSizes) {
  EXPECT_EQ(resized_type(DType::kInt16, {.manner = Manner::kPillow}).error().message(),
            "expected uint8 or float32 for a resize as in Pillow, got int16");
  EXPECT_EQ(
      resized_type(DType::kUint8, {.filter = ResizeFilter::kGaussian, .manner = Manner::kPillow}).error().message(),
      "Pillow supports only nearest, bilinear, bicubic, lanczos3 and area");
  EXPECT_EQ(resized_type(DType::kBytes, {}).error().message(), "expected an image of numbers, got string");
  Array out = Array::make({0, 2, 1}, DType::kFloat32).value();
  const Array image = noise({2, 2});
  EXPECT_EQ(resize_image(image_view(image), image_view(out), {}).error().message(),
            "expected image sizes of 1 to 2147483647 for resizing, got 0x2");
}

}  // namespace
}  // namespace stoker
