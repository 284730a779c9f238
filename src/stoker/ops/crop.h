#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/graph/expr.h"
#include "stoker/graph/op.h"

namespace stoker {

struct CropBox;
struct ResizeHow;

// Windows of pictures, [height, width, channels], or of each of a batch.

struct CropToBoundingBox {
  static constexpr std::string_view kName = "crop_to_bounding_box";
  static constexpr std::string_view kDoc = "A window of a picture.";
  static constexpr int kInputs = 1;

  int64_t offset_height = 0;
  int64_t offset_width = 0;
  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("offset_height", offset_height, "rows above the window");
    f.required("offset_width", offset_width, "columns left of it");
    f.required("target_height", target_height, "its rows");
    f.required("target_width", target_width, "its columns");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // The window of a picture of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

struct PadToBoundingBox {
  static constexpr std::string_view kName = "pad_to_bounding_box";
  static constexpr std::string_view kDoc = "A larger picture that holds the given one; the rest is 0.";
  static constexpr int kInputs = 1;

  int64_t offset_height = 0;
  int64_t offset_width = 0;
  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("offset_height", offset_height, "rows to add above");
    f.required("offset_width", offset_width, "columns to add on the left");
    f.required("target_height", target_height, "rows to give");
    f.required("target_width", target_width, "columns to give");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // The window of a picture of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

struct CentralCrop {
  static constexpr std::string_view kName = "central_crop";
  static constexpr std::string_view kDoc = "The middle of a picture: a share of its rows and of its columns.";
  static constexpr int kInputs = 1;

  double central_fraction = 1;

  void describe(Fields& f) { f.required("central_fraction", central_fraction, "the share, above 0 and at most 1"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // The window of a picture of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

struct CenterCrop {
  static constexpr std::string_view kName = "center_crop";
  static constexpr std::string_view kDoc =
      "A window in the middle of a picture, as torchvision cuts it; a smaller picture gets a black margin.";
  static constexpr int kInputs = 1;

  int64_t height = 0;
  int64_t width = 0;

  void describe(Fields& f) { f.required("size", height, width, "height and width to give"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // The window of a picture of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

struct ResizeWithCropOrPad {
  static constexpr std::string_view kName = "resize_with_crop_or_pad";
  static constexpr std::string_view kDoc = "A picture cut on all sides, or with a margin of 0, to a size.";
  static constexpr int kInputs = 1;

  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("target_height", target_height, "rows to give");
    f.required("target_width", target_width, "columns to give");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // The window of a picture of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

// Of numbers of any rank, as in TensorFlow.
struct RandomCrop {
  static constexpr std::string_view kName = "random_crop";
  static constexpr std::string_view kDoc = "A part of an array, of a given shape, from where chance has it.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::vector<int64_t> size;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("size", size, "the shape to give, channels included");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomResizedCrop {
  static constexpr std::string_view kName = "random_resized_crop";
  static constexpr std::string_view kDoc =
      "A window of chance's place, size and shape, drawn as torchvision does, in a given size.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  int64_t height = 0;
  int64_t width = 0;
  std::vector<double> scale = {0.08, 1.0};
  std::vector<double> ratio = {3.0 / 4.0, 4.0 / 3.0};
  std::string method = "bilinear";
  bool antialias = false;
  std::string like;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("size", height, width, "height and width to give");
    f("scale", scale, "least and greatest share of the picture's area");
    f("ratio", ratio, "least and greatest width divided by height, their logarithm being even");
    f("method", method, "as of resize");
    f("antialias", antialias, "as of resize");
    f("like", like, "as of resize");
    f("seed", seed, "null: the data set's");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Result<CropBox> box(int64_t rows, int64_t columns, Rng& rng) const;
  Result<ResizeHow> how() const;
};

struct ResizeShorter {
  static constexpr std::string_view kName = "resize_shorter";
  static constexpr std::string_view kDoc =
      "A picture whose shorter side has a given size, in its proportions, as torchvision's Resize of one number.";
  static constexpr int kInputs = 1;

  int64_t size = 0;
  std::string method = "bilinear";
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("size", size, "of the shorter side; the longer one is rounded down");
    f("method", method, "as of resize");
    f("antialias", antialias, "as of resize");
    f("like", like, "as of resize");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Result<ResizeHow> how() const;
  // Of a picture of this size, the size to come.
  Result<void> size_of(int64_t& rows, int64_t& columns) const;
};

namespace image {

Value crop_to_bounding_box(Value picture, CropToBoundingBox params);
Value pad_to_bounding_box(Value picture, PadToBoundingBox params);
Value central_crop(Value picture, CentralCrop params);
Value center_crop(Value picture, CenterCrop params);
Value resize_with_crop_or_pad(Value picture, ResizeWithCropOrPad params);
Value random_crop(Value values, RandomCrop params);
Value random_resized_crop(Value picture, RandomResizedCrop params);
Value resize_shorter(Value picture, ResizeShorter params);

}  // namespace image
}  // namespace stoker
