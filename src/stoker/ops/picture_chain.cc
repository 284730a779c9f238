#include "stoker/ops/picture_chain.h"

#include <functional>
#include <optional>
#include <vector>

#include "stoker/codecs/jpeg.h"
#include "stoker/graph/op_of.h"
#include "stoker/graph/promotion.h"
#include "stoker/image/crop.h"
#include "stoker/image/intensity.h"
#include "stoker/image/normalize.h"
#include "stoker/image/resize.h"
#include "stoker/image/row_math.h"
#include "stoker/ops/arithmetic.h"
#include "stoker/ops/cast.h"
#include "stoker/ops/crop.h"
#include "stoker/ops/decode.h"
#include "stoker/ops/draws.h"
#include "stoker/ops/normalize.h"
#include "stoker/ops/one_string.h"
#include "stoker/ops/picture.h"
#include "stoker/ops/resize.h"

namespace stoker {
namespace {

struct Size {
  int64_t height = 0;
  int64_t width = 0;
};

// ---- what the links come to

// Which window of a picture; `draws` is set for its link.
struct Window {
  const Op* link = nullptr;
  uint64_t draws = 0;
  std::function<Result<CropBox>(Size, const Context&)> box;
};

struct Resizing {
  const Op* link = nullptr;
  ResizeHow how;
  std::function<Result<Size>(Size)> size;
};

struct Mirror {
  uint64_t draws = 0;
  std::function<bool(const Context&)> wanted;
};

// A row of `width` pixels as another type, or with other values.
struct RowStep {
  DType to = DType::kFloat32;
  std::function<void(const void* row, int64_t width, int64_t channels, void* to, Wanted)> apply;
};

// What the last link does instead of a step: rows as planes of floats.
struct Planes {
  const Op* link = nullptr;
  const Normalize* params = nullptr;
};

struct Steps {
  std::vector<Window> before;
  std::optional<Resizing> resize;
  std::vector<Window> behind;
  std::vector<Mirror> mirrors;
  std::vector<RowStep> rows;
  std::optional<Planes> planes;
};

Error named(Error error, const Op& link) {
  if (error.place().stage.empty()) error.at().stage = link.type().name;
  return error;
}

// ---- one picture's way

bool lies_inside(const CropBox& box, Size size) {
  return box.height > 0 && box.width > 0 && box.top >= 0 && box.left >= 0 && box.top + box.height <= size.height &&
         box.left + box.width <= size.width;
}

// Sizes and windows of a picture on its way. A window that reaches beyond what
// it is cut from cannot be had by leaving things out: `inside` is false.
struct Way {
  bool inside = true;
  CropBox read;  // of the picture: what is resized
  ResizeAxis down, across;
  bool mirrored = false;
};

// Rows through the steps into the result.
class StepSink final : public RowSink {
 public:
  StepSink(const std::vector<RowStep>& steps, DType type, Size size, int64_t channels, Array& out)
      : steps_(steps), type_(type), size_(size), channels_(channels), out_(static_cast<std::byte*>(out.mutable_raw())) {
    out_stride_ = static_cast<size_t>(size.width * channels) * size_of(out.type());
    size_t widest = size_of(type);
    for (const RowStep& step : steps) widest = std::max(widest, size_of(step.to));
    thread_local std::vector<std::byte> memory[2];
    for (int i = 0; i < 2; ++i) {
      memory[i].resize(std::max(memory[i].size(), static_cast<size_t>(size.width * channels) * widest));
      rows_[i] = memory[i].data();
    }
  }
  // The last step, whose rows are planes, in place of `out`.
  void end_in_planes(const Normalization& how) { planes_ = &how; }

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
  const std::vector<RowStep>& steps_;
  DType type_;
  Size size_;
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

// ---- the operation

class PictureChain final : public Op {
 public:
  PictureChain(std::vector<ChainLink> links, Steps steps, JpegOptions jpeg)
      : links_(std::move(links)), steps_(std::move(steps)), jpeg_(jpeg) {}

  const OpType& type() const override {
    static const OpType type{.name = "picture_chain", .doc = "Decoding and what follows it, in one pass."};
    return type;
  }
  // It is made from operations when a program is and never leaves it.
  Result<Json> params(WriteContext&) const override { return Error::internal("a chain is not written"); }
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
  const Op& decoder() const { return *links_[0].op; }

  Result<Array> one(const Array& input, Context& context) const {
    try {
      const Result<Bytes> bytes = string_of(input, "a picture's bytes");
      if (!bytes) return named(bytes.error(), decoder());
      Result<Array> made = format_of(*bytes) == PictureFormat::kJpeg && can_stream() ? from_jpeg(*bytes, context)
                                                                                     : from_memory(input, context);
      if (!made) return named(std::move(made).error(), decoder());
      return made;
    } catch (...) {
      return error_of_exception();
    }
  }

  // What is missing of a cut file is filled when all of it has been read.
  bool can_stream() const { return !jpeg_.try_recover_truncated && jpeg_.acceptable_fraction >= 1; }

  Result<Array> from_jpeg(Bytes bytes, Context& context) const {
    Way way;
    Array out;
    const auto choose = [&](const PictureInfo& info) -> Result<PictureWindow> {
      STOKER_TRY(way, way_of({info.height, info.width}, context));
      if (!way.inside) return PictureWindow{0, 0, info.height, info.width};
      return PictureWindow{way.read.top, way.read.left, way.read.height, way.read.width};
    };
    const auto use = [&](const PictureInfo& info, JpegRows& rows) -> Result<void> {
      if (way.inside) {
        DecodedRows source(rows, way.read, info.channels);
        STOKER_TRY(out, made_of(source, way, context));
        return {};
      }
      DecodedRows source(rows, {0, 0, info.height, info.width}, info.channels);
      STOKER_TRY(Array whole, Array::make({info.height, info.width, info.channels}, DType::kUint8));
      MemorySink sink(picture_of(whole));
      STOKER_TRY(resize_rows(source, sink, {info.height, info.height}, {info.width, info.width}, kCopy));
      STOKER_TRY(out, made_of(whole, context));
      return {};
    };
    STOKER_TRY(decode_jpeg_rows(bytes, jpeg_, {std::ref(choose), std::ref(use)}));
    return out;
  }

  Result<Array> from_memory(const Array& input, Context& context) const {
    const std::optional<size_t> leaf = context.leaf();
    context.set_leaf(std::nullopt);
    Result<Array> whole = decoded(input, context);
    context.set_leaf(leaf);
    if (!whole) return std::move(whole).error();
    return whole->rank() == 3 ? made_of(*whole, context) : one_by_one(*std::move(whole), context);
  }

  // For frames of an animation, of which no window is known before.
  Result<Array> one_by_one(Array now, const Context& context) const {
    const Origins origin({context.origin()});
    Context own = context;
    own.show_row(nullptr);
    own.set_leaf(std::nullopt);
    own.set_origins(&origin);
    for (const ChainLink& link : std::span(links_).subspan(1)) {
      own.set_op(link.draws);
      Result<Array> next = applied(link, now, own);
      if (!next) return named(std::move(next).error(), *link.op);
      now = *std::move(next);
    }
    return now;
  }

  static Result<Array> applied(const ChainLink& link, const Array& to, Context& context) {
    Columns inputs;
    for (const auto& [value, plain] : link.constants) {
      STOKER_TRY(Array typed, plain ? plain_as(value, plain_type_beside(value, to.type()), link.op->type().plain)
                                    : Result<Array>(value));
      inputs.push_back(Column(Arrays{std::move(typed)}));
    }
    inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(link.input), Column(Arrays{to}));
    std::vector<Failure> failed;
    OpRows rows{1, &failed, link.op->type().name};
    STOKER_TRY(const Column made, link.op->apply(inputs, rows, context));
    if (!failed.empty()) return failed[0].error;
    return made.row(0);
  }

  Result<Array> decoded(const Array& input, Context& context) const {
    const std::span<const Array> inputs(&input, 1);
    if (const auto* op = as<DecodeJpeg>(decoder())) return op->apply(inputs, context);
    if (const auto* op = as<DecodePng>(decoder())) return op->apply(inputs, context);
    return as<DecodeImage>(decoder())->apply(inputs, context);
  }

  static constexpr ResizeHow kCopy{.manner = Manner::kPillow};

  // The steps on a picture that lies in memory, of which windows may reach
  // beyond it.
  Result<Array> made_of(const Array& whole, Context& context) const {
    const Size size{whole.dim(0), whole.dim(1)};
    STOKER_TRY(Way way, way_of(size, context));
    if (way.inside) {
      MemoryRows source(cropped(picture_of(whole), way.read));
      return made_of(source, way, context);
    }
    STOKER_TRY(Array now, with_windows(whole, steps_.before, context));
    if (steps_.resize) {
      STOKER_TRY(const Size to, resized_size({now.dim(0), now.dim(1)}));
      STOKER_TRY(const DType type, resized_type(now.type(), steps_.resize->how));
      STOKER_TRY(Array resized, Array::make({to.height, to.width, now.dim(2)}, type));
      STOKER_TRY(resize_picture(picture_of(now), picture_of(resized), steps_.resize->how));
      STOKER_TRY(now, with_windows(resized, steps_.behind, context));
    }
    way.read = {0, 0, now.dim(0), now.dim(1)};
    way.down = {now.dim(0), now.dim(0)};
    way.across = {now.dim(1), now.dim(1)};
    MemoryRows source(picture_of(now));
    return made_of(source, way, context, kCopy);
  }

  Result<Array> with_windows(Array now, const std::vector<Window>& windows, Context& context) const {
    for (const Window& window : windows) {
      STOKER_TRY(const CropBox box, box_of(window, {now.dim(0), now.dim(1)}, context));
      STOKER_TRY(Array part, Array::make({box.height, box.width, now.dim(2)}, now.type()));
      take_window(picture_of(now), box, picture_of(part));
      now = std::move(part);
    }
    return now;
  }

  Result<CropBox> box_of(const Window& window, Size size, Context& context) const {
    context.set_op(window.draws);
    Result<CropBox> box = window.box(size, context);
    if (!box) return named(std::move(box).error(), *window.link);
    return box;
  }

  Result<Size> resized_size(Size from) const {
    Result<Size> size = steps_.resize->size(from);
    if (!size) return named(std::move(size).error(), *steps_.resize->link);
    return size;
  }

  // Of several windows in one another; false where one reaches beyond.
  Result<bool> join_windows(const std::vector<Window>& windows, CropBox& joined, Context& context) const {
    for (const Window& window : windows) {
      const Size size{joined.height, joined.width};
      STOKER_TRY(const CropBox box, box_of(window, size, context));
      if (!lies_inside(box, size)) return false;
      joined = {joined.top + box.top, joined.left + box.left, box.height, box.width};
    }
    return true;
  }

  Result<Way> way_of(Size size, Context& context) const {
    Way way;
    way.mirrored = is_mirrored(context);
    way.read = {0, 0, size.height, size.width};
    STOKER_TRY(way.inside, join_windows(steps_.before, way.read, context));
    if (!way.inside) return way;
    const Size from{way.read.height, way.read.width};
    Size to = from;
    if (steps_.resize) {
      STOKER_TRY(to, resized_size(from));
    }
    CropBox made{0, 0, to.height, to.width};
    STOKER_TRY(way.inside, join_windows(steps_.behind, made, context));
    way.down = {from.height, to.height};
    way.across = {from.width, to.width};
    if (made == CropBox{0, 0, to.height, to.width}) return way;
    way.down.made_from = made.top, way.down.made = made.height;
    way.across.made_from = made.left, way.across.made = made.width;
    narrow(way.down, steps_.resize->how);
    narrow(way.across, steps_.resize->how);
    way.read = {way.read.top + way.down.read_from, way.read.left + way.across.read_from, way.down.read,
                way.across.read};
    return way;
  }

  bool is_mirrored(Context& context) const {
    bool mirrored = false;
    for (const Mirror& mirror : steps_.mirrors) {
      context.set_op(mirror.draws);
      mirrored = mirrored != mirror.wanted(context);
    }
    return mirrored;
  }

  Result<Array> made_of(RowSource& source, const Way& way, const Context& context) const {
    return made_of(source, way, context, steps_.resize ? steps_.resize->how : kCopy);
  }

  Result<Array> made_of(RowSource& source, const Way& way, const Context& context, ResizeHow how) const {
    how.mirrored = way.mirrored;
    const Size made{way.down.made, way.across.made};
    const int64_t channels = source.form().channels;
    STOKER_TRY(const DType type, resized_type(source.form().type, how));
    Normalization normal;
    if (steps_.planes) {
      Result<Normalization> known =
          steps_.planes->params->how(steps_.rows.empty() ? type : steps_.rows.back().to, channels);
      if (!known) return named(std::move(known).error(), *steps_.planes->link);
      normal = *std::move(known);
    }
    STOKER_TRY(Array out, result_of(made, channels, type, context));
    StepSink sink(steps_.rows, type, made, channels, out);
    if (steps_.planes) sink.end_in_planes(normal);
    STOKER_TRY(resize_rows(source, sink, way.down, way.across, how));
    settle_rows();
    return out;
  }

  Result<Array> result_of(Size made, int64_t channels, DType type, const Context& context) const {
    if (steps_.planes) return context.result({{channels, made.height, made.width}}, DType::kFloat32);
    return context.result({{made.height, made.width, channels}}, steps_.rows.empty() ? type : steps_.rows.back().to);
  }

  std::vector<ChainLink> links_;
  Steps steps_;
  JpegOptions jpeg_;
};

// ---- recognising

// Reads links one after the other while they fit.
class Reader {
 public:
  explicit Reader(int channels) : channels_(channels) {}

  bool take(const ChainLink& link) {
    if (steps.planes) return false;
    return take_window(link) || take_resize(link) || take_mirror(link) || take_row_step(link);
  }

  Steps steps;

 private:
  template <typename T>
  bool take_window_of(const ChainLink& link) {
    const T* op = as<T>(*link.op);
    if (!op) return false;
    const auto box = [op](Size size, const Context&) { return op->box(size.height, size.width); };
    (steps.resize ? steps.behind : steps.before).push_back({link.op.get(), link.draws, box});
    return true;
  }

  bool take_window(const ChainLink& link) {
    if (!steps.mirrors.empty() || !steps.rows.empty()) return false;
    return take_window_of<CropToBoundingBox>(link) || take_window_of<CentralCrop>(link) ||
           take_window_of<CenterCrop>(link);
  }

  bool take_resize(const ChainLink& link) {
    if (steps.resize || !steps.mirrors.empty() || !steps.rows.empty()) return false;
    if (const auto* op = as<Resize>(*link.op)) {
      return resize(link, op->how(), [op](Size size) -> Result<Size> {
        op->size_of(size.height, size.width);
        return size;
      });
    }
    if (const auto* op = as<ResizeShorter>(*link.op)) {
      return resize(link, op->how(), [op](Size size) -> Result<Size> {
        STOKER_TRY(op->size_of(size.height, size.width));
        return size;
      });
    }
    if (const auto* op = as<RandomResizedCrop>(*link.op)) {
      const Size to{op->height, op->width};
      if (!resize(link, op->how(), [to](Size) -> Result<Size> { return to; })) return false;
      steps.before.push_back({link.op.get(), link.draws, [op](Size size, const Context& context) {
                                Rng rng = draws(op->seed, context);
                                return op->box(size.height, size.width, rng);
                              }});
      return true;
    }
    return false;
  }

  // Parameters that do not fit are for the operation itself to complain about.
  bool resize(const ChainLink& link, const Result<ResizeHow>& how, std::function<Result<Size>(Size)> size) {
    if (!how) return false;
    const Result<DType> type = resized_type(type_, *how);
    if (!type) return false;
    type_ = *type;
    steps.resize = Resizing{link.op.get(), *how, std::move(size)};
    return true;
  }

  bool take_mirror(const ChainLink& link) {
    if (as<FlipLeftRight>(*link.op)) {
      steps.mirrors.push_back({link.draws, [](const Context&) { return true; }});
      return true;
    }
    const auto* op = as<RandomFlipLeftRight>(*link.op);
    if (!op) return false;
    steps.mirrors.push_back({link.draws, [op](const Context& context) { return op->turns(context); }});
    return true;
  }

  bool take_row_step(const ChainLink& link) {
    if (const auto* op = as<Cast>(*link.op)) return op->dtype == DType::kFloat32 && to_float();
    if (const auto* op = as<ConvertImageDtype>(*link.op)) return op->dtype == DType::kFloat32 && to_intensity();
    if (const auto* op = as<Normalize>(*link.op)) return normalize(link, *op);
    if (as<Add>(*link.op)) return arithmetic(link, RowMath::kAdd);
    if (as<Multiply>(*link.op)) return arithmetic(link, RowMath::kMultiply);
    if (as<Subtract>(*link.op)) return link.input == 0 && arithmetic(link, RowMath::kSubtract);
    if (as<Divide>(*link.op)) return link.input == 0 && arithmetic(link, RowMath::kDivide);
    return false;
  }

  bool to_float() {
    if (type_ == DType::kFloat32) return true;
    add([](const void* row, int64_t width, int64_t channels, void* to, Wanted) {
      widen_row(static_cast<const uint8_t*>(row), width * channels, static_cast<float*>(to));
    });
    return true;
  }

  bool to_intensity() {
    if (type_ == DType::kFloat32) return true;
    add([](const void* row, int64_t width, int64_t channels, void* to, Wanted) {
      convert_intensity(row, DType::kUint8, to, DType::kFloat32, false, width * channels);
    });
    return true;
  }

  bool normalize(const ChainLink& link, const Normalize& op) {
    const Result<Layout> layout = op.order();
    if (!layout || channels_ == 0) return false;
    Result<Normalization> how = op.how(type_, channels_);
    if (!how) return false;
    if (*layout == Layout::kPlanes) {
      steps.planes = Planes{link.op.get(), &op};
      return true;
    }
    add([type = type_, how = *std::move(how)](const void* row, int64_t width, int64_t channels, void* to, Wanted) {
      normalize_row(row, type, width, how, {static_cast<float*>(to), channels, 1});
    });
    return true;
  }

  // With one number, or one for each channel.
  bool arithmetic(const ChainLink& link, RowMath math) {
    if (type_ != DType::kFloat32 || link.constants.size() != 1) return false;
    const auto& [value, plain] = link.constants[0];
    const Result<Array> typed =
        plain ? plain_as(value, plain_type_beside(value, type_), link.op->type().plain) : Result<Array>(value);
    if (!typed || typed->type() != DType::kFloat32) return false;
    if (typed->rank() == 0) {
      add([math, by = typed->scalar<float>()](const void* row, int64_t width, int64_t channels, void* to,
                                              Wanted wanted) {
        row_math(math, static_cast<const float*>(row), by, width * channels, static_cast<float*>(to), wanted);
      });
      return true;
    }
    if (typed->rank() != 1 || channels_ == 0 || typed->dim(0) != channels_) return false;
    const auto values = typed->values<float>();
    add([math, by = std::vector<float>(values.begin(), values.end())](const void* row, int64_t width, int64_t channels,
                                                                      void* to, Wanted wanted) {
      thread_local std::vector<float> all;
      all.clear();
      for (int64_t x = 0; x < width; ++x) all.insert(all.end(), by.begin(), by.end());
      row_math(math, static_cast<const float*>(row), all.data(), width * channels, static_cast<float*>(to), wanted);
    });
    return true;
  }

  template <typename Apply>
  void add(Apply apply) {
    steps.rows.push_back({DType::kFloat32, std::move(apply)});
    type_ = DType::kFloat32;
  }

  const int channels_;  // 0: not known before
  DType type_ = DType::kUint8;
};

struct Decoding {
  JpegOptions jpeg;
  DType dtype = DType::kUint8;
  int channels = 0;
};

template <typename T>
std::optional<Decoding> decoding_of(const Op& op) {
  const T* known = as<T>(op);
  if (!known) return std::nullopt;
  const Result<JpegOptions> jpeg = known->jpeg();
  if (!jpeg || known->exif_orientation) return std::nullopt;
  Decoding decoding{*jpeg, DType::kUint8, known->channels};
  if constexpr (requires { known->dtype; }) decoding.dtype = known->dtype;
  return decoding;
}

}  // namespace

Chain picture_chain(std::span<const ChainLink> links) {
  std::optional<Decoding> decoding = decoding_of<DecodeJpeg>(*links[0].op);
  if (!decoding) decoding = decoding_of<DecodePng>(*links[0].op);
  if (!decoding) decoding = decoding_of<DecodeImage>(*links[0].op);
  if (!decoding || decoding->dtype != DType::kUint8) return {};
  Reader reader(decoding->channels);
  size_t length = 1;
  while (length < links.size() && reader.take(links[length])) ++length;
  if (length == 1) return {};
  return {std::make_shared<PictureChain>(std::vector<ChainLink>(links.begin(), links.begin() + length),
                                         std::move(reader.steps), decoding->jpeg),
          length};
}

}  // namespace stoker
