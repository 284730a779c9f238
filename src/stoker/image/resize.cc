#include "stoker/image/resize.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

namespace stoker {
namespace {

constexpr int kGroup = ResizeKernels::kRows;

// Rows of an intermediate picture, in rising order: each lies where the one
// that is `capacity` rows older lay.
template <typename T>
class RowRing {
 public:
  static Result<RowRing> make(int64_t capacity, int64_t row_size) {
    STOKER_TRY(Array memory, Array::make({capacity, row_size}, dtype_of<T>));
    return RowRing(std::move(memory));
  }
  T* row(int64_t y) { return static_cast<T*>(memory_.raw()) + (y % memory_.dim(0)) * memory_.dim(1); }

 private:
  explicit RowRing(Array memory) : memory_(std::move(memory)) {}
  Array memory_;
};

// Rows of a picture in float32: where they lie, or converted.
class FloatRows {
 public:
  static Result<FloatRows> make(const ImageView& from, int64_t kept, const ResizeKernels& kernels) {
    FloatRows rows(from, kernels);
    if (from.type != DType::kFloat32) {
      STOKER_TRY(rows.converted_, RowRing<float>::make(kept, from.row_size()));
    }
    return rows;
  }
  // To be called once for a row, in rising order, before row().
  void prepare(int64_t y) {
    if (converted_) convert(y, converted_->row(y));
  }
  // Good until `kept` more have been prepared.
  const float* row(int64_t y) { return converted_ ? converted_->row(y) : from_.row<float>(y); }

 private:
  FloatRows(const ImageView& from, const ResizeKernels& kernels) : from_(from), kernels_(&kernels) {}

  void convert(int64_t y, float* to) const {
    const int64_t count = from_.row_size();
    if (from_.type == DType::kUint8) return kernels_->widen_u8(from_.row<uint8_t>(y), count, to);
    visit_dtype(from_.type, [&](auto zero) {
      using From = decltype(zero);
      if constexpr (!std::is_same_v<From, Bytes>) {
        const From* in = from_.row<From>(y);
        for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(in[i]);
      }
    });
  }

  ImageView from_;
  const ResizeKernels* kernels_;
  std::optional<RowRing<float>> converted_;
};

// Where the rows that output i and those after it need without a gap end,
// looked for as far as one group beyond `made`.
template <typename W>
int64_t needed_end(const Spans<W>& down, size_t i, int64_t made) {
  int64_t end = down.spans[i].first + down.spans[i].size;
  for (++i; end < made + kGroup && i < down.spans.size() && down.spans[i].first <= end; ++i)
    end = std::max<int64_t>(end, down.spans[i].first + down.spans[i].size);
  return end;
}

// One output row after the other: `make(y, n)` makes rows [y, y + n) once
// each, `use(i, span)` output i of the rows of its span.
template <typename W, typename Make, typename Use>
void row_by_row(const Spans<W>& down, Make make, Use use) {
  int64_t made = 0;
  for (size_t i = 0; i < down.spans.size(); ++i) {
    const Span& span = down.spans[i];
    made = std::max<int64_t>(made, span.first);
    while (made < span.first + span.size) {
      const auto n = static_cast<int>(std::min<int64_t>(kGroup, needed_end(down, i, made) - made));
      make(made, n);
      made += n;
    }
    use(static_cast<int64_t>(i), span);
  }
}

// Along the rows first, then over them. `source(y)` is a row, good for kGroup
// rows; `columns` works along a group, `rows` over the rows of a span.
template <typename T, typename W, typename Source, typename Columns, typename Rows>
Result<void> columns_first(const MutableImageView& to, const Spans<W>& across, const Spans<W>& down, Source source,
                           Columns columns, Rows rows) {
  STOKER_TRY(RowRing<T> ring, RowRing<T>::make(down.widest + kGroup, to.row_size()));
  std::vector<const T*> taps(static_cast<size_t>(down.widest));
  const auto make = [&](int64_t y, int n) {
    decltype(source(y)) in[kGroup];
    T* out[kGroup];
    for (int k = 0; k < n; ++k) in[k] = source(y + k), out[k] = ring.row(y + k);
    columns(in, n, across, out);
  };
  row_by_row(down, make, [&](int64_t i, const Span& span) {
    for (int k = 0; k < span.size; ++k) taps[static_cast<size_t>(k)] = ring.row(span.first + k);
    rows(taps.data(), down.weights_of(span), span.size, to.row<T>(i));
  });
  return {};
}

// ---- TensorFlow

using ColumnsKernel = void (*)(const float*, int64_t, int, const Spans<float>&, float*);

template <typename Rows>
Result<void> float_columns_first(const ImageView& from, const MutableImageView& to, const Spans<float>& across,
                                 const Spans<float>& down, const ResizeKernels& kernels, ColumnsKernel kernel,
                                 Rows rows) {
  STOKER_TRY(FloatRows source, FloatRows::make(from, kGroup, kernels));
  const auto row = [&](int64_t y) {
    source.prepare(y);
    return source.row(y);
  };
  const auto columns = [&](const float* const* in, int n, const Spans<float>& spans, float* const* out) {
    for (int k = 0; k < n; ++k) kernel(in[k], from.width, static_cast<int>(from.channels), spans, out[k]);
  };
  return columns_first<float>(to, across, down, row, columns, rows);
}

Result<void> bilinear(const ImageView& from, const MutableImageView& to, const ResizeKernels& kernels) {
  const auto rows = [&](const float* const* taps, const float* weight, int n, float* out) {
    kernels.lerp_rows(taps[0], taps[n - 1], *weight, to.row_size(), out);
  };
  const Spans<float> across = lerp_spans(from.width, to.width), down = lerp_spans(from.height, to.height);
  if (from.type != DType::kUint8)
    return float_columns_first(from, to, across, down, kernels, kernels.lerp_columns, rows);
  const auto source = [&](int64_t y) { return from.row<uint8_t>(y); };
  const auto columns = [&](const uint8_t* const* in, int n, const Spans<float>& spans, float* const* out) {
    kernels.lerp_columns_u8(in, n, from.width, static_cast<int>(from.channels), spans, out);
  };
  return columns_first<float>(to, across, down, source, columns, rows);
}

Result<void> area(const ImageView& from, const MutableImageView& to, const ResizeKernels& kernels) {
  const float scale = 1.0f / (area_scale(from.height, to.height) * area_scale(from.width, to.width));
  const auto rows = [&](const float* const* taps, const float* weights, int n, float* out) {
    kernels.weigh_rows(taps, weights, n, to.row_size(), out);
    for (int64_t i = 0; i < to.row_size(); ++i) out[i] *= scale;
  };
  return float_columns_first(from, to, area_spans(from.width, to.width), area_spans(from.height, to.height), kernels,
                             kernels.weigh_columns, rows);
}

// Over the rows first, then along them.
Result<void> rows_first(const ImageView& from, const MutableImageView& to, const Spans<float>& across,
                        const Spans<float>& down, const ResizeKernels& kernels) {
  STOKER_TRY(FloatRows source, FloatRows::make(from, down.widest + kGroup, kernels));
  STOKER_TRY(Array sums, Array::make({from.row_size()}, DType::kFloat32));
  auto* sum = static_cast<float*>(sums.raw());
  std::vector<const float*> taps(static_cast<size_t>(down.widest));
  const auto make = [&](int64_t y, int n) {
    for (int k = 0; k < n; ++k) source.prepare(y + k);
  };
  row_by_row(down, make, [&](int64_t i, const Span& span) {
    for (int k = 0; k < span.size; ++k) taps[static_cast<size_t>(k)] = source.row(span.first + k);
    kernels.weigh_rows(taps.data(), down.weights_of(span), span.size, from.row_size(), sum);
    kernels.weigh_columns(sum, from.width, static_cast<int>(from.channels), across, to.row<float>(i));
  });
  return {};
}

Result<void> resize_as_tensorflow(const ImageView& from, const MutableImageView& to, ResizeHow how,
                                  const ResizeKernels& kernels) {
  const Filter filter = how.filter;
  if (filter == Filter::kArea) return area(from, to, kernels);
  if (filter == Filter::kBilinear && !how.antialias) return bilinear(from, to, kernels);
  const auto spans = [&](int64_t in, int64_t out) {
    if (filter == Filter::kBicubic && !how.antialias) return bicubic_spans(in, out);
    return kernel_spans(in, out, filter, how.antialias);
  };
  return rows_first(from, to, spans(from.width, to.width), spans(from.height, to.height), kernels);
}

// ---- Pillow

void copy_rows(const ImageView& from, const MutableImageView& to) {
  const size_t bytes = static_cast<size_t>(to.row_size()) * size_of(to.type);
  for (int64_t y = 0; y < to.height; ++y) std::memcpy(to.row<std::byte>(y), from.row<std::byte>(y), bytes);
}

// A pass that changes nothing is left out, as Pillow does.
template <typename T, typename W, typename Columns, typename Rows>
Result<void> two_passes(const ImageView& from, const MutableImageView& to, const Spans<W>& across, const Spans<W>& down,
                        Columns columns, Rows rows) {
  const auto source = [&](int64_t y) { return from.row<T>(y); };
  if (from.width != to.width && from.height != to.height)
    return columns_first<T>(to, across, down, source, columns, rows);
  if (from.width != to.width) {
    for (int64_t y = 0; y < to.height; y += kGroup) {
      const T* in[kGroup];
      T* out[kGroup];
      const auto n = static_cast<int>(std::min<int64_t>(kGroup, to.height - y));
      for (int k = 0; k < n; ++k) in[k] = from.row<T>(y + k), out[k] = to.row<T>(y + k);
      columns(in, n, across, out);
    }
    return {};
  }
  std::vector<const T*> taps(static_cast<size_t>(down.widest));
  for (int64_t y = 0; y < to.height; ++y) {
    const Span& span = down.spans[static_cast<size_t>(y)];
    for (int k = 0; k < span.size; ++k) taps[static_cast<size_t>(k)] = from.row<T>(span.first + k);
    rows(taps.data(), down.weights_of(span), span.size, to.row<T>(y));
  }
  return {};
}

Result<void> pillow_bytes(const ImageView& from, const MutableImageView& to, Filter filter,
                          const ResizeKernels& kernels) {
  const auto columns = [&](const uint8_t* const* in, int n, const Spans<int32_t>& across, uint8_t* const* out) {
    kernels.columns_u8(in, n, from.width, static_cast<int>(from.channels), across, out);
  };
  const auto rows = [&](const uint8_t* const* taps, const int32_t* weights, int n, uint8_t* out) {
    kernels.rows_u8(taps, weights, n, to.row_size(), out);
  };
  return two_passes<uint8_t>(from, to, fixed_point(pillow_spans(from.width, to.width, filter)),
                             fixed_point(pillow_spans(from.height, to.height, filter)), columns, rows);
}

Result<void> pillow_floats(const ImageView& from, const MutableImageView& to, Filter filter) {
  const int64_t channels = from.channels;
  const auto columns = [&](const float* const* in, int n, const Spans<double>& across, float* const* out) {
    for (int r = 0; r < n; ++r)
      for (int64_t i = 0; i < to.row_size(); ++i) {
        const Span& span = across.spans[static_cast<size_t>(i / channels)];
        const double* weights = across.weights_of(span);
        double sum = 0;
        for (int k = 0; k < span.size; ++k)
          sum += static_cast<double>(in[r][(span.first + k) * channels + i % channels]) * weights[k];
        out[r][i] = static_cast<float>(sum);
      }
  };
  const auto rows = [&](const float* const* taps, const double* weights, int n, float* out) {
    for (int64_t i = 0; i < to.row_size(); ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(taps[k][i]) * weights[k];
      out[i] = static_cast<float>(sum);
    }
  };
  return two_passes<float>(from, to, pillow_spans(from.width, to.width, filter),
                           pillow_spans(from.height, to.height, filter), columns, rows);
}

// ---- both

void pick_nearest(const ImageView& from, const MutableImageView& to, Manner manner) {
  const auto items = manner == Manner::kPillow ? pillow_nearest_items : nearest_items;
  const std::vector<int32_t> xs = items(from.width, to.width), ys = items(from.height, to.height);
  const size_t pixel = static_cast<size_t>(from.channels) * size_of(from.type);
  for (int64_t y = 0; y < to.height; ++y) {
    const auto* in = from.row<std::byte>(ys[static_cast<size_t>(y)]);
    auto* out = to.row<std::byte>(y);
    for (int32_t x : xs) {
      std::memcpy(out, in + static_cast<size_t>(x) * pixel, pixel);
      out += pixel;
    }
  }
}

Result<void> check_size(int64_t height, int64_t width) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (height >= 1 && width >= 1 && height <= kMost && width <= kMost) return {};
  return Error::invalid("pictures are resized from and to sizes of 1 to ", kMost, ", found ", height, "x", width);
}

}  // namespace

Result<DType> resized_type(DType type, ResizeHow how) {
  if (type == DType::kBytes || type == DType::kBool)
    return Error::invalid("a picture has numbers, found ", name_of(type));
  if (how.manner == Manner::kTensorflow) return how.filter == Filter::kNearest ? type : DType::kFloat32;
  if (how.filter == Filter::kLanczos5 || how.filter == Filter::kGaussian || how.filter == Filter::kMitchellCubic)
    return Error::invalid("Pillow has nearest, bilinear, bicubic, lanczos3 and area alone");
  if (type != DType::kUint8 && type != DType::kFloat32)
    return Error::invalid("in Pillow's manner pictures are uint8 or float32, found ", name_of(type));
  return type;
}

Result<void> resize_picture(ImageView from, MutableImageView to, ResizeHow how, const ResizeKernels& kernels) {
  STOKER_TRY(check_size(from.height, from.width));
  STOKER_TRY(check_size(to.height, to.width));
  STOKER_TRY(DType type, resized_type(from.type, how));
  if (to.type != type || to.channels != from.channels)
    return Error::invalid("the result has ", from.channels, " channels of ", name_of(type), ", found ", to.channels,
                          " of ", name_of(to.type));
  if (from.row_size() == 0) return {};
  const bool same = from.height == to.height && from.width == to.width;
  if (same && from.type == type && (how.manner == Manner::kPillow || how.filter == Filter::kBilinear)) {
    copy_rows(from, to);
    return {};
  }
  if (how.filter == Filter::kNearest) {
    pick_nearest(from, to, how.manner);
    return {};
  }
  if (how.manner == Manner::kTensorflow) return resize_as_tensorflow(from, to, how, kernels);
  if (type == DType::kUint8) return pillow_bytes(from, to, how.filter, kernels);
  return pillow_floats(from, to, how.filter);
}

}  // namespace stoker
