#include "stoker/ops/image_pass.h"

#include <algorithm>
#include <functional>

#include "stoker/codecs/image.h"
#include "stoker/graph/op_of.h"
#include "stoker/ops/one_string.h"

namespace stoker {
namespace {

using Crops = std::vector<NamedStep<CropStep>>;

constexpr ResizeHow kCopy{.manner = Manner::kPillow};  // between equal sizes, without any change

Error named(Error error, std::string_view op) {
  if (error.place().stage.empty()) error.at().stage = op;
  return error;
}

bool is_inside(const CropBox& box, ImageSize size) {
  return box.height > 0 && box.width > 0 && box.top >= 0 && box.left >= 0 && box.top + box.height <= size.height &&
         box.left + box.width <= size.width;
}

// The sizes and windows of one image. If a window extends beyond the image that it is cropped from, `inside` is false:
// such an image cannot be produced by reading fewer pixels.
struct Geometry {
  bool inside = true;
  CropBox read;  // the part of the image that is read and resized
  ResizeAxis down, across;
  bool flipped = false;
};

// Passes rows through the row steps and writes them into the result.
class StepSink final : public RowSink {
 public:
  StepSink(const std::vector<RowKernel>& steps, DType type, ImageSize size, int64_t channels, Array& out)
      : steps_(steps), type_(type), size_(size), channels_(channels), out_(static_cast<std::byte*>(out.mutable_raw())) {
    out_stride_ = static_cast<size_t>(size.width * channels) * size_of(out.type());
    size_t widest = size_of(type);
    for (const RowKernel& step : steps) widest = std::max(widest, size_of(step.to));
    thread_local std::vector<std::byte> memory[2];
    for (int i = 0; i < 2; ++i) {
      memory[i].resize(std::max(memory[i].size(), static_cast<size_t>(size.width * channels) * widest));
      rows_[i] = memory[i].data();
    }
  }
  // Writes rows as planes in the last step, instead of as pixels into `out`.
  void end_in_planes(const Normalization& normalization) { planes_ = &normalization; }

  void* row(int64_t y) override {
    return steps_.empty() && !planes_ ? out_ + static_cast<size_t>(y) * out_stride_ : rows_[0];
  }

  void done(int64_t y) override {
    const std::byte* from = rows_[0];
    DType type = type_;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const bool last = i + 1 == steps_.size() && !planes_;
      std::byte* to = last ? out_ + static_cast<size_t>(y) * out_stride_ : rows_[(i + 1) % 2];
      steps_[i].apply(from, size_.width, channels_, to, last ? Wanted::kLater : Wanted::kSoon);
      type = steps_[i].to;
      from = to;
    }
    if (!planes_) return;
    auto* values = reinterpret_cast<float*>(out_) + y * size_.width;
    normalize_row(from, type, size_.width, *planes_, {values, 1, size_.height * size_.width, Wanted::kLater});
  }

 private:
  const std::vector<RowKernel>& steps_;
  DType type_;
  ImageSize size_;
  int64_t channels_;
  std::byte* out_;
  size_t out_stride_ = 0;
  std::byte* rows_[2] = {};
  const Normalization* planes_ = nullptr;
};

class DecodedRows final : public RowSource {
 public:
  DecodedRows(JpegRows& rows, const CropBox& window, int64_t channels)
      : RowSource({window.height, window.width, channels, DType::kUint8, rows.pixel()}), rows_(rows) {}
  Result<void> rows(int64_t y, int n, const void** rows) override { return rows_.rows(y, n, rows); }

 private:
  JpegRows& rows_;
};

// Applies the operation of a link to one image.
Result<Array> applied(const ChainLink& link, const Array& to, Context& context) {
  Columns inputs;
  for (size_t i = 0; i < link.constants.size(); ++i) {
    STOKER_TRY(Array constant, constant_of(link, i, to.type()));
    inputs.push_back(Column(Arrays{std::move(constant)}));
  }
  inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(link.input), Column(Arrays{to}));
  std::vector<Failure> failed;
  OpRows rows{1, &failed, link.op->type().name};
  STOKER_TRY(const Column made, link.op->apply(inputs, rows, context));
  if (!failed.empty()) return failed[0].error;
  return made.row(0);
}

class ImagePass final : public Op {
 public:
  ImagePass(ImageSteps steps, std::vector<ChainLink> links) : steps_(std::move(steps)), links_(std::move(links)) {}

  const OpType& type() const override {
    static const OpType type{.name = "image_chain",
                             .doc = "Decode an image and apply the operations after it in one pass."};
    return type;
  }
  // Exists only inside a compiled program, whose expression contains the separate operations.
  Result<Json> params(WriteContext&) const override { return Error::internal("a fused chain cannot be saved"); }
  Result<LeafSpec> spec(std::span<const LeafSpec>) const override { return LeafSpec{}; }

  Result<Column> apply(std::span<const Column> inputs, OpRows& rows, Context& context) const override {
    Arrays results(static_cast<size_t>(rows.size));
    for (int32_t i = 0; i < rows.size; ++i) {
      if (rows.has_failed(i)) continue;
      context.set_row(i);
      Result<Array> result = one(input_row(inputs[0], i), context);
      if (result)
        results[static_cast<size_t>(i)] = *std::move(result);
      else
        rows.fail(i, std::move(result).error());
    }
    return Column(std::move(results));
  }

 private:
  std::string_view decoder() const { return links_[0].op->type().name; }

  Result<Array> one(const Array& input, Context& context) const {
    try {
      const Result<Bytes> bytes = string_of(input, "the encoded image");
      if (!bytes) return named(bytes.error(), decoder());
      Result<Array> made = format_of(*bytes) == ImageFormat::kJpeg && can_stream() ? from_jpeg(*bytes, context)
                                                                                   : from_memory(input, context);
      if (!made) return named(std::move(made).error(), decoder());
      return made;
    } catch (...) {
      return error_of_exception();
    }
  }

  // The missing pixels of a truncated file are filled only after the whole file was read.
  bool can_stream() const {
    return !steps_.decode.jpeg.try_recover_truncated && steps_.decode.jpeg.acceptable_fraction >= 1;
  }

  Result<Array> from_jpeg(Bytes bytes, Context& context) const {
    Geometry geometry;
    Array out;
    const auto choose = [&](const ImageInfo& info) -> Result<ImageRegion> {
      STOKER_TRY(geometry, geometry_of({info.height, info.width}, context));
      if (!geometry.inside) return ImageRegion{0, 0, info.height, info.width};
      return ImageRegion{geometry.read.top, geometry.read.left, geometry.read.height, geometry.read.width};
    };
    const auto use = [&](const ImageInfo& info, JpegRows& rows) -> Result<void> {
      if (geometry.inside) {
        DecodedRows source(rows, geometry.read, info.channels);
        STOKER_TRY(out, result_from(source, geometry, context));
        return {};
      }
      DecodedRows source(rows, {0, 0, info.height, info.width}, info.channels);
      STOKER_TRY(Array whole, Array::make({info.height, info.width, info.channels}, DType::kUint8));
      MemorySink sink(image_view(whole));
      STOKER_TRY(resize_rows(source, sink, {info.height, info.height}, {info.width, info.width}, kCopy));
      STOKER_TRY(out, result_from(whole, context));
      return {};
    };
    STOKER_TRY(decode_jpeg_rows(bytes, steps_.decode.jpeg, {std::ref(choose), std::ref(use)}));
    return out;
  }

  Result<Array> from_memory(const Array& input, Context& context) const {
    const std::optional<size_t> leaf = context.leaf();
    context.set_leaf(std::nullopt);
    Result<Array> whole = steps_.decode.decode(input, context);
    context.set_leaf(leaf);
    if (!whole) return std::move(whole).error();
    return whole->rank() == 3 ? result_from(*whole, context) : one_by_one(*std::move(whole), context);
  }

  // For the frames of an animation, whose windows are not known in advance.
  Result<Array> one_by_one(Array now, const Context& context) const {
    const Origins origin({context.origin()});
    Context own = context;
    own.show_row(nullptr);
    own.set_leaf(std::nullopt);
    own.set_origins(&origin);
    for (const ChainLink& link : std::span(links_).subspan(1)) {
      own.set_op(link.draws);
      Result<Array> next = applied(link, now, own);
      if (!next) return named(std::move(next).error(), link.op->type().name);
      now = *std::move(next);
    }
    return now;
  }

  // Applies the steps to an image in memory. Windows may extend beyond the image.
  Result<Array> result_from(const Array& whole, Context& context) const {
    const ImageSize size{whole.dim(0), whole.dim(1)};
    STOKER_TRY(Geometry geometry, geometry_of(size, context));
    if (geometry.inside) {
      MemoryRows source(cropped(image_view(whole), geometry.read));
      return result_from(source, geometry, context);
    }
    STOKER_TRY(Array now, cropped_by(steps_.crops_before, whole, context));
    if (steps_.resize) {
      const ResizeHow& how = steps_.resize->step.how;
      STOKER_TRY(const ImageSize to, resized_size({now.dim(0), now.dim(1)}));
      STOKER_TRY(const DType type, resized_type(now.type(), how));
      STOKER_TRY(Array resized, Array::make({to.height, to.width, now.dim(2)}, type));
      STOKER_TRY(resize_image(image_view(now), image_view(resized), how));
      STOKER_TRY(now, cropped_by(steps_.crops_after, resized, context));
    }
    geometry.read = {0, 0, now.dim(0), now.dim(1)};
    geometry.down = {now.dim(0), now.dim(0)};
    geometry.across = {now.dim(1), now.dim(1)};
    MemoryRows source(image_view(now));
    return result_from(source, geometry, context, kCopy);
  }

  static Result<Array> cropped_by(const Crops& crops, Array now, Context& context) {
    for (const auto& crop : crops) {
      STOKER_TRY(const CropBox box, box_of(crop, {now.dim(0), now.dim(1)}, context));
      STOKER_TRY(Array part, Array::make({box.height, box.width, now.dim(2)}, now.type()));
      take_window(image_view(now), box, image_view(part));
      now = std::move(part);
    }
    return now;
  }

  static Result<CropBox> box_of(const NamedStep<CropStep>& crop, ImageSize size, Context& context) {
    context.set_op(crop.draws);
    Result<CropBox> box = crop.step.box(size, context);
    if (!box) return named(std::move(box).error(), crop.op);
    return box;
  }

  Result<ImageSize> resized_size(ImageSize from) const {
    Result<ImageSize> size = steps_.resize->step.size(from);
    if (!size) return named(std::move(size).error(), steps_.resize->op);
    return size;
  }

  // Combines nested windows into one. Returns false if one of them extends beyond its image.
  static Result<bool> combine(const Crops& crops, CropBox& combined, Context& context) {
    for (const auto& crop : crops) {
      const ImageSize size{combined.height, combined.width};
      STOKER_TRY(const CropBox box, box_of(crop, size, context));
      if (!is_inside(box, size)) return false;
      combined = {combined.top + box.top, combined.left + box.left, box.height, box.width};
    }
    return true;
  }

  Result<Geometry> geometry_of(ImageSize size, Context& context) const {
    Geometry geometry;
    geometry.flipped = is_flipped(context);
    geometry.read = {0, 0, size.height, size.width};
    STOKER_TRY(geometry.inside, combine(steps_.crops_before, geometry.read, context));
    if (!geometry.inside) return geometry;
    const ImageSize from{geometry.read.height, geometry.read.width};
    ImageSize to = from;
    if (steps_.resize) {
      STOKER_TRY(to, resized_size(from));
    }
    CropBox made{0, 0, to.height, to.width};
    STOKER_TRY(geometry.inside, combine(steps_.crops_after, made, context));
    geometry.down = {from.height, to.height};
    geometry.across = {from.width, to.width};
    if (made == CropBox{0, 0, to.height, to.width}) return geometry;
    geometry.down.made_from = made.top, geometry.down.made = made.height;
    geometry.across.made_from = made.left, geometry.across.made = made.width;
    narrow(geometry.down, steps_.resize->step.how);
    narrow(geometry.across, steps_.resize->step.how);
    geometry.read = {geometry.read.top + geometry.down.read_from, geometry.read.left + geometry.across.read_from,
                     geometry.down.read, geometry.across.read};
    return geometry;
  }

  bool is_flipped(Context& context) const {
    bool flipped = false;
    for (const auto& flip : steps_.flips) {
      context.set_op(flip.draws);
      flipped = flipped != flip.step.flips(context);
    }
    return flipped;
  }

  Result<Array> result_from(RowSource& source, const Geometry& geometry, const Context& context) const {
    return result_from(source, geometry, context, steps_.resize ? steps_.resize->step.how : kCopy);
  }

  Result<Array> result_from(RowSource& source, const Geometry& geometry, const Context& context, ResizeHow how) const {
    how.mirrored = geometry.flipped;
    const ImageSize size{geometry.down.made, geometry.across.made};
    const int64_t channels = source.form().channels;
    STOKER_TRY(const DType type, resized_type(source.form().type, how));
    Normalization normalization;
    if (steps_.planes) {
      Result<Normalization> known = steps_.planes->step.normalization(type_after_rows(type), channels);
      if (!known) return named(std::move(known).error(), steps_.planes->op);
      normalization = *std::move(known);
    }
    STOKER_TRY(Array out, memory_for(size, channels, type, context));
    StepSink sink(steps_.rows, type, size, channels, out);
    if (steps_.planes) sink.end_in_planes(normalization);
    STOKER_TRY(resize_rows(source, sink, geometry.down, geometry.across, how));
    settle_rows();
    return out;
  }

  DType type_after_rows(DType type) const { return steps_.rows.empty() ? type : steps_.rows.back().to; }

  Result<Array> memory_for(ImageSize size, int64_t channels, DType type, const Context& context) const {
    if (steps_.planes) return context.result({{channels, size.height, size.width}}, DType::kFloat32);
    return context.result({{size.height, size.width, channels}}, type_after_rows(type));
  }

  const ImageSteps steps_;
  const std::vector<ChainLink> links_;
};

}  // namespace

std::shared_ptr<const Op> image_pass(ImageSteps steps, std::vector<ChainLink> links) {
  return std::make_shared<const ImagePass>(std::move(steps), std::move(links));
}

}  // namespace stoker
