#include "stoker/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

namespace stoker {
namespace {

constexpr int kGroup = ResizeKernels::kRows;
static_assert(kGroup == RowSource::kMostRows);

// Rows of an intermediate image, in increasing order. Each row replaces the one that is `capacity`
// rows older.
template <typename T>
class RowRing {
 public:
  RowRing(int64_t capacity, int64_t row_size)
      : capacity_(capacity), row_size_(row_size), memory_(static_cast<size_t>(capacity * row_size)) {}
  T* row(int64_t y) { return memory_.data() + (y % capacity_) * row_size_; }

 private:
  int64_t capacity_;
  int64_t row_size_;
  RecycledVector<T> memory_;
};

// Rows of an image in float32: in place, or converted. Only rows in memory can be float32, and they
// stay valid.
class FloatRows {
 public:
  FloatRows(RowSource& from, int64_t kept, const ResizeKernels& kernels) : from_(&from), kernels_(&kernels) {
    if (from.form().type == DType::kFloat32)
      where_.resize(static_cast<size_t>(kept));
    else
      converted_.emplace(kept, from.form().row_size());
  }
  // Called once for each row, in increasing order, before row().
  Result<void> prepare(int64_t y, int n) {
    const void* rows[kGroup];
    STOKER_TRY(from_->rows(y, n, rows));
    for (int k = 0; k < n; ++k) {
      if (converted_)
        convert(rows[k], converted_->row(y + k));
      else
        where_[static_cast<size_t>(y + k) % where_.size()] = static_cast<const float*>(rows[k]);
    }
    return {};
  }
  // Valid until `kept` more rows have been prepared.
  const float* row(int64_t y) {
    return converted_ ? converted_->row(y) : where_[static_cast<size_t>(y) % where_.size()];
  }

 private:
  void convert(const void* row, float* to) const {
    const RowForm& form = from_->form();
    if (form.type == DType::kUint8 && form.pixel == form.channels)
      return kernels_->widen_u8(static_cast<const uint8_t*>(row), form.row_size(), to);
    visit_dtype(form.type, [&](auto zero) {
      using From = decltype(zero);
      if constexpr (!std::is_same_v<From, Bytes>) {
        const auto* in = static_cast<const From*>(row);
        for (int64_t x = 0; x < form.width; ++x, in += form.pixel)
          for (int64_t c = 0; c < form.channels; ++c) *to++ = static_cast<float>(in[c]);
      }
    });
  }

  RowSource* from_;
  const ResizeKernels* kernels_;
  std::optional<RowRing<float>> converted_;
  RecycledVector<const float*> where_;  // rows that are already float32
};

// The end of the rows that output i and the outputs after it need, up to one group beyond `made`.
// Computing one or two unneeded rows takes less time than an incomplete group.
template <typename W>
int64_t needed_end(const Spans<W>& down, size_t i, int64_t made) {
  constexpr int64_t kSmallGap = 2;
  int64_t end = down.spans[i].first + down.spans[i].size;
  for (++i; end < made + kGroup && i < down.spans.size() && down.spans[i].first <= end + kSmallGap; ++i)
    end = std::max<int64_t>(end, down.spans[i].first + down.spans[i].size);
  return end;
}

// Computes the output rows in order: `make(y, n)` computes the intermediate rows [y, y + n), each
// one once, and `use(i, span)` computes output i from the rows of its span.
template <typename W, typename Make, typename Use>
Result<void> row_by_row(const Spans<W>& down, Make make, Use use) {
  int64_t made = 0;
  for (size_t i = 0; i < down.spans.size(); ++i) {
    const Span& span = down.spans[i];
    made = std::max<int64_t>(made, span.first);
    while (made < span.first + span.size) {
      const auto n = static_cast<int>(std::min<int64_t>(kGroup, needed_end(down, i, made) - made));
      STOKER_TRY(make(made, n));
      made += n;
    }
    use(static_cast<int64_t>(i), span);
  }
  return {};
}

// The parameters of one resize.
struct Job {
  RowSource& from;
  RowSink& sink;
  const ResizeAxis& down;
  const ResizeAxis& across;
  const RowForm to;  // the form of the result
  const ResizeKernels& kernels;

  const RowForm& form() const { return from.form(); }
  int pixel() const { return static_cast<int>(form().pixel); }
  int channels() const { return static_cast<int>(to.channels); }
};

// Resizes horizontally first, then vertically. `get(y, n, rows)` provides source rows, `columns`
// resizes a group of rows horizontally, and `rows` combines the rows of a span.
template <typename From, typename T, typename Across, typename W, typename Get, typename Columns, typename Rows>
Result<void> columns_first(const Job& job, const Across& across, const Spans<W>& down, Get get, Columns columns,
                           Rows rows) {
  RowRing<T> ring(down.widest + kGroup, job.to.row_size());
  RecycledVector<const T*> taps(static_cast<size_t>(down.widest));
  const auto make = [&](int64_t y, int n) -> Result<void> {
    const From* in[kGroup];
    T* out[kGroup];
    STOKER_TRY(get(y, n, in));
    for (int k = 0; k < n; ++k) out[k] = ring.row(y + k);
    columns(in, n, across, out);
    return {};
  };
  return row_by_row(down, make, [&](int64_t i, const Span& span) {
    for (int k = 0; k < span.size; ++k) taps[static_cast<size_t>(k)] = ring.row(span.first + k);
    rows(taps.data(), down.weights_of(span), span.size, static_cast<T*>(job.sink.row(i)));
    job.sink.done(i);
  });
}

template <typename T>
auto rows_of(RowSource& from) {
  return [&from](int64_t y, int n, const T** rows) -> Result<void> {
    const void* found[kGroup];
    STOKER_TRY(from.rows(y, n, found));
    for (int k = 0; k < n; ++k) rows[k] = static_cast<const T*>(found[k]);
    return {};
  };
}

// ---- TensorFlow

using ColumnsKernel = void (*)(const float*, int64_t, int, const Spans<float>&, float*);

template <typename Rows>
Result<void> float_columns_first(const Job& job, const Spans<float>& across, const Spans<float>& down,
                                 ColumnsKernel kernel, Rows rows) {
  FloatRows source(job.from, kGroup, job.kernels);
  const auto get = [&](int64_t y, int n, const float** in) -> Result<void> {
    STOKER_TRY(source.prepare(y, n));
    for (int k = 0; k < n; ++k) in[k] = source.row(y + k);
    return {};
  };
  const auto columns = [&](const float* const* in, int n, const Spans<float>& spans, float* const* out) {
    for (int k = 0; k < n; ++k) kernel(in[k], job.form().width, job.channels(), spans, out[k]);
  };
  return columns_first<float, float>(job, across, down, get, columns, rows);
}

Result<void> bilinear(const Job& job, const Spans<float>& across, const Spans<float>& down) {
  const auto rows = [&](const float* const* taps, const float* weight, int n, float* out) {
    job.kernels.lerp_rows(taps[0], taps[n - 1], *weight, job.to.row_size(), out);
  };
  if (job.form().type != DType::kUint8) return float_columns_first(job, across, down, job.kernels.lerp_columns, rows);
  const auto columns = [&](const uint8_t* const* in, int n, const Spans<float>& spans, float* const* out) {
    job.kernels.lerp_columns_u8(in, n, job.form().width, job.pixel(), job.channels(), spans, out);
  };
  return columns_first<uint8_t, float>(job, across, down, rows_of<uint8_t>(job.from), columns, rows);
}

Result<void> area(const Job& job, const Spans<float>& across, const Spans<float>& down) {
  const float scale = 1.0f / (area_scale(job.down.from, job.down.to) * area_scale(job.across.from, job.across.to));
  const auto rows = [&](const float* const* taps, const float* weights, int n, float* out) {
    job.kernels.weigh_rows(taps, weights, n, job.to.row_size(), out);
    for (int64_t i = 0; i < job.to.row_size(); ++i) out[i] *= scale;
  };
  return float_columns_first(job, across, down, job.kernels.weigh_columns, rows);
}

// Resizes vertically first, then horizontally.
Result<void> rows_first(const Job& job, const Spans<float>& across, const Spans<float>& down) {
  const RowForm& form = job.form();
  FloatRows source(job.from, down.widest + kGroup, job.kernels);
  RecycledVector<float> sums(static_cast<size_t>(form.row_size()));
  RecycledVector<const float*> taps(static_cast<size_t>(down.widest));
  const auto make = [&](int64_t y, int n) { return source.prepare(y, n); };
  return row_by_row(down, make, [&](int64_t i, const Span& span) {
    for (int k = 0; k < span.size; ++k) taps[static_cast<size_t>(k)] = source.row(span.first + k);
    job.kernels.weigh_rows(taps.data(), down.weights_of(span), span.size, form.row_size(), sums.data());
    job.kernels.weigh_columns(sums.data(), form.width, job.channels(), across, static_cast<float*>(job.sink.row(i)));
    job.sink.done(i);
  });
}

// The spans of the computed items, relative to the items that are read.
template <typename Make>
auto spans_of(const ResizeAxis& axis, Make make, bool mirrored = false) {
  auto spans = make(axis.from, axis.to);
  const auto first = spans.spans.begin() + axis.made_from;
  spans.spans.erase(first + axis.made, spans.spans.end());
  spans.spans.erase(spans.spans.begin(), first);
  for (Span& span : spans.spans) span.first -= static_cast<int32_t>(axis.read_from);
  if (mirrored) std::ranges::reverse(spans.spans);
  return spans;
}

Result<void> resize_as_tensorflow(const Job& job, ResizeHow how) {
  const auto spans = [&](int64_t in, int64_t out) {
    if (how.filter == ResizeFilter::kArea) return area_spans(in, out);
    if (how.filter == ResizeFilter::kBilinear && !how.antialias) return lerp_spans(in, out);
    if (how.filter == ResizeFilter::kBicubic && !how.antialias) return bicubic_spans(in, out);
    return kernel_spans(in, out, how.filter, how.antialias);
  };
  const Spans<float> across = spans_of(job.across, spans, how.mirrored), down = spans_of(job.down, spans);
  if (how.filter == ResizeFilter::kArea) return area(job, across, down);
  if (how.filter == ResizeFilter::kBilinear && !how.antialias) return bilinear(job, across, down);
  return rows_first(job, across, down);
}

// ---- Pillow

// As in Pillow, an axis that keeps its length is not filtered.
template <typename W>
Spans<W> same_spans(int64_t size, W one) {
  Spans<W> spans{{}, RecycledVector<W>(static_cast<size_t>(size), one), 1};
  for (int64_t i = 0; i < size; ++i) spans.spans.push_back({static_cast<int32_t>(i), 1, i});
  return spans;
}

Result<void> pillow_bytes(const Job& job, ResizeHow how) {
  const auto spans = [&](int64_t in, int64_t out) {
    return in == out ? same_spans<int32_t>(in, 1 << kWeightBits) : fixed_point(pillow_spans(in, out, how.filter));
  };
  const auto columns = [&](const uint8_t* const* in, int n, const FixedSpans& across, uint8_t* const* out) {
    job.kernels.columns_u8(in, n, job.form().width, job.pixel(), job.channels(), across, out);
  };
  const auto rows = [&](const uint8_t* const* taps, const int32_t* weights, int n, uint8_t* out) {
    job.kernels.rows_u8(taps, weights, n, job.to.row_size(), out);
  };
  return columns_first<uint8_t, uint8_t>(job, in_pairs(spans_of(job.across, spans, how.mirrored)),
                                         spans_of(job.down, spans), rows_of<uint8_t>(job.from), columns, rows);
}

Result<void> pillow_floats(const Job& job, ResizeHow how) {
  const int64_t channels = job.channels(), pixel = job.pixel();
  const auto spans = [&](int64_t in, int64_t out) {
    return in == out ? same_spans<double>(in, 1) : pillow_spans(in, out, how.filter);
  };
  const auto columns = [&](const float* const* in, int n, const Spans<double>& across, float* const* out) {
    for (int r = 0; r < n; ++r)
      for (int64_t i = 0; i < job.to.row_size(); ++i) {
        const Span& span = across.spans[static_cast<size_t>(i / channels)];
        const double* weights = across.weights_of(span);
        double sum = 0;
        for (int k = 0; k < span.size; ++k)
          sum += static_cast<double>(in[r][(span.first + k) * pixel + i % channels]) * weights[k];
        out[r][i] = static_cast<float>(sum);
      }
  };
  const auto rows = [&](const float* const* taps, const double* weights, int n, float* out) {
    for (int64_t i = 0; i < job.to.row_size(); ++i) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += static_cast<double>(taps[k][i]) * weights[k];
      out[i] = static_cast<float>(sum);
    }
  };
  return columns_first<float, float>(job, spans_of(job.across, spans, how.mirrored), spans_of(job.down, spans),
                                     rows_of<float>(job.from), columns, rows);
}

// ---- both

// Output pixel x of a row is pixel items[x] of the source row.
void pick_pixels(const Job& job, const std::byte* in, const RecycledVector<int32_t>& items, std::byte* out) {
  const size_t value = size_of(job.to.type);
  const size_t step = static_cast<size_t>(job.form().pixel) * value;
  const size_t size = static_cast<size_t>(job.to.channels) * value;
  for (const int32_t x : items) {
    std::memcpy(out, in + static_cast<size_t>(x) * step, size);
    out += size;
  }
}

Result<void> pick_nearest(const Job& job, const RecycledVector<int32_t>& xs, const RecycledVector<int32_t>& ys) {
  const void* row = nullptr;
  for (int64_t y = 0; y < job.to.height; ++y) {
    const int32_t wanted = ys[static_cast<size_t>(y)];
    if (y == 0 || wanted != ys[static_cast<size_t>(y - 1)]) STOKER_TRY(job.from.rows(wanted, 1, &row));
    pick_pixels(job, static_cast<const std::byte*>(row), xs, static_cast<std::byte*>(job.sink.row(y)));
    job.sink.done(y);
  }
  return {};
}

// The source items of the computed items; `all` are those of the whole result.
RecycledVector<int32_t> items_of(const ResizeAxis& axis, const RecycledVector<int32_t>& all, bool mirrored = false) {
  const auto first = all.begin() + axis.made_from;
  RecycledVector<int32_t> items(first, first + axis.made);
  for (int32_t& item : items) item -= static_cast<int32_t>(axis.read_from);
  if (mirrored) std::ranges::reverse(items);
  return items;
}

Result<void> pick_nearest(const Job& job, ResizeHow how) {
  const auto items = how.manner == Manner::kPillow ? pillow_nearest_items : nearest_items;
  return pick_nearest(job, items_of(job.across, items(job.across.from, job.across.to), how.mirrored),
                      items_of(job.down, items(job.down.from, job.down.to)));
}

Result<void> copy_image(const Job& job, bool mirrored) {
  const auto all = [](int64_t size) {
    RecycledVector<int32_t> items(static_cast<size_t>(size));
    std::iota(items.begin(), items.end(), 0);
    return items;
  };
  return pick_nearest(job, items_of(job.across, all(job.across.from), mirrored),
                      items_of(job.down, all(job.down.from)));
}

// The reach of a filter, in items, if the axis keeps its length.
int64_t reach_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::kLanczos5: return 5;
    case ResizeFilter::kLanczos3: return 3;
    case ResizeFilter::kNearest:
    case ResizeFilter::kArea:
    case ResizeFilter::kBilinear: return 1;
    default: return 2;
  }
}

Result<void> check_size(int64_t height, int64_t width) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (height >= 1 && width >= 1 && height <= kMost && width <= kMost) return {};
  return Error::invalid("expected image sizes of 1 to ", kMost, " for resizing, got ", height, "x", width);
}

}  // namespace

Result<DType> resized_type(DType type, ResizeHow how) {
  if (type == DType::kBytes || type == DType::kBool)
    return Error::invalid("expected an image of numbers, got ", name_of(type));
  if (how.manner == Manner::kTensorflow) return how.filter == ResizeFilter::kNearest ? type : DType::kFloat32;
  if (how.filter == ResizeFilter::kLanczos5 || how.filter == ResizeFilter::kGaussian ||
      how.filter == ResizeFilter::kMitchellCubic)
    return Error::invalid("Pillow supports only nearest, bilinear, bicubic, lanczos3 and area");
  if (type != DType::kUint8 && type != DType::kFloat32)
    return Error::invalid("expected uint8 or float32 for a resize as in Pillow, got ", name_of(type));
  return type;
}

void narrow(ResizeAxis& axis, ResizeHow how) {
  const double scale = static_cast<double>(axis.from) / static_cast<double>(axis.to);
  const double reach = static_cast<double>(reach_of(how.filter)) * std::max(scale, 1.0) + 1;
  const double begin = std::floor(static_cast<double>(axis.made_from) * scale - reach);
  const double end = std::ceil(static_cast<double>(axis.made_from + axis.made) * scale + reach);
  axis.read_from = std::max<int64_t>(static_cast<int64_t>(begin), 0);
  axis.read = std::min(static_cast<int64_t>(end), axis.from) - axis.read_from;
}

Result<void> resize_rows(RowSource& from, RowSink& sink, const ResizeAxis& down, const ResizeAxis& across,
                         ResizeHow how, const ResizeKernels& kernels) {
  const RowForm& form = from.form();
  STOKER_TRY(check_size(down.from, across.from));
  STOKER_TRY(check_size(down.to, across.to));
  STOKER_TRY(DType type, resized_type(form.type, how));
  if (form.row_size() == 0) return {};
  const Job job{from, sink, down, across, {down.made, across.made, form.channels, type, form.channels}, kernels};
  const bool same = down.from == down.to && across.from == across.to;
  if (same && form.type == type && (how.manner == Manner::kPillow || how.filter == ResizeFilter::kBilinear))
    return copy_image(job, how.mirrored);
  if (how.filter == ResizeFilter::kNearest) return pick_nearest(job, how);
  if (how.manner == Manner::kTensorflow) return resize_as_tensorflow(job, how);
  return type == DType::kUint8 ? pillow_bytes(job, how) : pillow_floats(job, how);
}

Result<void> resize_image(ImageView from, MutableImageView to, ResizeHow how, const ResizeKernels& kernels) {
  STOKER_TRY(DType type, resized_type(from.type, how));
  if (to.type != type || to.channels != from.channels)
    return Error::invalid("expected a result with ", from.channels, " channels of ", name_of(type), ", got ",
                          to.channels, " of ", name_of(to.type));
  MemoryRows source(from);
  MemorySink sink(to);
  return resize_rows(source, sink, {from.height, to.height}, {from.width, to.width}, how, kernels);
}

}  // namespace stoker
