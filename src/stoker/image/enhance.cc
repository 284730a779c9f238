#include "stoker/image/enhance.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stoker {
namespace {

constexpr int kLevels = 256;
using Table = std::array<uint8_t, kLevels>;
using Histogram = std::array<int64_t, kLevels>;

uint8_t clipped(float value) {
  if (!(value > 0)) return 0;
  return value >= 255 ? 255 : static_cast<uint8_t>(value);
}

// Interpolates between the value without a property and the value with it. Extrapolates if `factor`
// is not in [0, 1].
uint8_t blended(int without, int with, float factor) {
  return clipped(static_cast<float>(without) + factor * static_cast<float>(with - without));
}

int gray_of(const uint8_t* pixel, int64_t channels) {
  if (channels != 3) return pixel[0];
  return static_cast<int>((pixel[0] * 19595u + pixel[1] * 38470u + pixel[2] * 7471u + 0x8000u) >> 16);
}

// Calls `change(const uint8_t* in, uint8_t* out)` for every pixel.
template <typename Change>
void each_pixel(const ImageView& from, const MutableImageView& to, Change change) {
  for (int64_t y = 0; y < from.height; ++y) {
    const auto* in = from.row<uint8_t>(y);
    auto* out = to.row<uint8_t>(y);
    for (int64_t x = 0; x < from.width; ++x, in += from.channels, out += from.channels) change(in, out);
  }
}

template <typename Change>
void each_value(const ImageView& from, const MutableImageView& to, Change change) {
  for (int64_t y = 0; y < from.height; ++y)
    std::transform(from.row<uint8_t>(y), from.row<uint8_t>(y) + from.row_size(), to.row<uint8_t>(y), change);
}

template <typename TableOf>
void each_channel(const ImageView& from, const MutableImageView& to, TableOf table_of) {
  for (int64_t c = 0; c < from.channels; ++c) {
    Histogram histogram{};
    for (int64_t y = 0; y < from.height; ++y)
      for (int64_t x = 0; x < from.width; ++x) ++histogram[from.row<uint8_t>(y)[x * from.channels + c]];
    const Table table = table_of(histogram);
    for (int64_t y = 0; y < from.height; ++y)
      for (int64_t x = 0; x < from.width; ++x)
        to.row<uint8_t>(y)[x * from.channels + c] = table[from.row<uint8_t>(y)[x * from.channels + c]];
  }
}

Table unchanged() {
  Table table;
  for (int i = 0; i < kLevels; ++i) table[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
  return table;
}

Table stretched(const Histogram& histogram) {
  int low = 0, high = kLevels - 1;
  while (low < kLevels && histogram[static_cast<size_t>(low)] == 0) ++low;
  while (high >= 0 && histogram[static_cast<size_t>(high)] == 0) --high;
  if (high <= low) return unchanged();
  const double scale = 255.0 / (high - low), offset = -low * scale;
  Table table;
  for (int i = 0; i < kLevels; ++i)
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(std::clamp(static_cast<int>(i * scale + offset), 0, 255));
  return table;
}

Table equalized(const Histogram& histogram) {
  int64_t all = 0, last = 0;
  int levels = 0;
  for (int64_t count : histogram) {
    all += count;
    if (count != 0) last = count, ++levels;
  }
  const int64_t step = (all - last) / 255;
  if (levels <= 1 || step == 0) return unchanged();
  Table table;
  int64_t before = step / 2;
  for (size_t i = 0; i < kLevels; ++i) {
    table[i] = static_cast<uint8_t>(std::min<int64_t>(before / step, 255));
    before += histogram[i];
  }
  return table;
}

// Pillow's SMOOTH filter: weight 5 for the pixel and 1 for its neighbors.
float smoothed(const ImageView& from, int64_t y, int64_t i) {
  constexpr float kOnce = 1.0f / 13, kFive = 5.0f / 13;
  float sum = 0.5f;
  for (int64_t row : {y + 1, y, y - 1}) {
    const auto* in = from.row<uint8_t>(row) + i;
    sum += static_cast<float>(in[-from.channels]) * kOnce + static_cast<float>(in[0]) * (row == y ? kFive : kOnce) +
           static_cast<float>(in[from.channels]) * kOnce;
  }
  return sum;
}

// ---- affine

constexpr double kFixed = 65536;
int64_t fixed(double value) { return static_cast<int64_t>(std::floor(value * kFixed + 0.5)); }

// By its power series; |x| must be at most 2 pi.
double sine_of(double x) {
  double term = x, sum = 0;
  for (int k = 2; k < 60; k += 2) {
    sum += term;
    term *= -x * x / (k * (k + 1));
  }
  return sum;
}

double to_15_places(double value) { return std::nearbyint(value * 1e15) / 1e15; }

constexpr double kPi = 3.14159265358979323846;

}  // namespace

void enhance_brightness(const ImageView& from, float factor, const MutableImageView& to) {
  each_value(from, to, [&](uint8_t value) { return blended(0, value, factor); });
}

void enhance_contrast(const ImageView& from, float factor, const MutableImageView& to) {
  int64_t sum = 0;
  for (int64_t y = 0; y < from.height; ++y)
    for (int64_t x = 0; x < from.width; ++x) sum += gray_of(from.row<uint8_t>(y) + x * from.channels, from.channels);
  const auto pixels = static_cast<double>(std::max<int64_t>(1, from.height * from.width));
  const int mean = static_cast<int>(std::floor(static_cast<double>(sum) / pixels + 0.5));
  each_value(from, to, [&](uint8_t value) { return blended(mean, value, factor); });
}

void enhance_color(const ImageView& from, float factor, const MutableImageView& to) {
  each_pixel(from, to, [&](const uint8_t* in, uint8_t* out) {
    const int gray = gray_of(in, from.channels);
    for (int64_t c = 0; c < from.channels; ++c) out[c] = blended(gray, in[c], factor);
  });
}

void enhance_sharpness(const ImageView& from, float factor, const MutableImageView& to) {
  const int64_t channels = from.channels;
  each_value(from, to, [](uint8_t value) { return value; });  // the border is not sharpened
  for (int64_t y = 1; y + 1 < from.height; ++y)
    for (int64_t i = channels; i < from.row_size() - channels; ++i)
      to.row<uint8_t>(y)[i] = blended(clipped(smoothed(from, y, i)), from.row<uint8_t>(y)[i], factor);
}

void posterize(const ImageView& from, int bits, const MutableImageView& to) {
  const auto mask = static_cast<uint8_t>(0xff00 >> bits);
  each_value(from, to, [&](uint8_t value) { return static_cast<uint8_t>(value & mask); });
}

void solarize(const ImageView& from, double threshold, const MutableImageView& to) {
  each_value(from, to, [&](uint8_t value) { return static_cast<uint8_t>(value < threshold ? value : 255 - value); });
}

void stretch_contrast(const ImageView& from, const MutableImageView& to) { each_channel(from, to, stretched); }

void equalize(const ImageView& from, const MutableImageView& to) { each_channel(from, to, equalized); }

void affine_nearest(const ImageView& from, const Affine& map, const MutableImageView& to) {
  const size_t pixel = static_cast<size_t>(from.channels) * size_of(from.type);
  const int64_t right_x = fixed(map[0]), down_x = fixed(map[1]), right_y = fixed(map[3]), down_y = fixed(map[4]);
  const int64_t first_x = fixed(map[2] + map[0] * 0.5 + map[1] * 0.5);
  const int64_t first_y = fixed(map[5] + map[3] * 0.5 + map[4] * 0.5);
  for (int64_t y = 0; y < to.height; ++y) {
    auto* out = to.row<std::byte>(y);
    for (int64_t x = 0; x < to.width; ++x, out += pixel) {
      const int64_t source_x = (first_x + x * right_x + y * down_x) >> 16;
      const int64_t source_y = (first_y + x * right_y + y * down_y) >> 16;
      if (source_x < 0 || source_x >= from.width || source_y < 0 || source_y >= from.height)
        std::memset(out, 0, pixel);
      else
        std::memcpy(out, from.row<std::byte>(source_y) + static_cast<size_t>(source_x) * pixel, pixel);
    }
  }
}

Affine rotation(double degrees, int64_t height, int64_t width) {
  const double angle = -degrees * kPi / 180;
  const double sine = to_15_places(sine_of(angle)), cosine = to_15_places(sine_of(kPi / 2 - std::abs(angle)));
  const double x = static_cast<double>(width) / 2, y = static_cast<double>(height) / 2;
  return {cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y};
}

}  // namespace stoker
