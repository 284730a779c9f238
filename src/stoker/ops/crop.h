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

// Crops of images, [height, width, channels], or of each image of a batch.

struct CropToBoundingBox {
  static constexpr std::string_view kName = "crop_to_bounding_box";
  static constexpr std::string_view kDoc = "Crop a window out of an image.";
  static constexpr int kInputs = 1;

  int64_t offset_height = 0;
  int64_t offset_width = 0;
  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("offset_height", offset_height, "top row of the window");
    f.required("offset_width", offset_width, "leftmost column of the window");
    f.required("target_height", target_height, "height of the window in pixels");
    f.required("target_width", target_width, "width of the window in pixels");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // Returns the window for an image of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
  Contribution contribution() const;
};

struct PadToBoundingBox {
  static constexpr std::string_view kName = "pad_to_bounding_box";
  static constexpr std::string_view kDoc = "Place an image inside a larger image of zeros.";
  static constexpr int kInputs = 1;

  int64_t offset_height = 0;
  int64_t offset_width = 0;
  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("offset_height", offset_height, "rows of zeros above the image");
    f.required("offset_width", offset_width, "columns of zeros to the left of the image");
    f.required("target_height", target_height, "height of the result in pixels");
    f.required("target_width", target_width, "width of the result in pixels");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // Returns the window for an image of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

struct CentralCrop {
  static constexpr std::string_view kName = "central_crop";
  static constexpr std::string_view kDoc = "Crop the center of an image to a fraction of its height and width.";
  static constexpr int kInputs = 1;

  double central_fraction = 1;

  void describe(Fields& f) { f.required("central_fraction", central_fraction, "fraction, above 0 and at most 1"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // Returns the window for an image of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
  Contribution contribution() const;
};

struct CenterCrop {
  static constexpr std::string_view kName = "center_crop";
  static constexpr std::string_view kDoc =
      "Crop a window out of the center of an image, as torchvision does; smaller images are padded with zeros.";
  static constexpr int kInputs = 1;

  int64_t height = 0;
  int64_t width = 0;

  void describe(Fields& f) { f.required("size", height, width, "height and width of the result in pixels"); }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // Returns the window for an image of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
  Contribution contribution() const;
};

struct ResizeWithCropOrPad {
  static constexpr std::string_view kName = "resize_with_crop_or_pad";
  static constexpr std::string_view kDoc = "Crop an image at its center, or pad it with zeros, to a size.";
  static constexpr int kInputs = 1;

  int64_t target_height = 0;
  int64_t target_width = 0;

  void describe(Fields& f) {
    f.required("target_height", target_height, "height of the result in pixels");
    f.required("target_width", target_width, "width of the result in pixels");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  // Returns the window for an image of this size.
  Result<CropBox> box(int64_t rows, int64_t columns) const;
};

// Accepts arrays of numbers of any rank, as in TensorFlow.
struct RandomCrop {
  static constexpr std::string_view kName = "random_crop";
  static constexpr std::string_view kDoc = "Crop a part of a given shape out of an array, at a random position.";
  static constexpr int kInputs = 1;
  static constexpr bool kRandom = true;

  std::vector<int64_t> size;
  std::optional<int64_t> seed;

  void describe(Fields& f) {
    f.required("size", size, "shape of the result, including the channels");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
};

struct RandomResizedCrop {
  static constexpr std::string_view kName = "random_resized_crop";
  static constexpr std::string_view kDoc =
      "Crop a random window of random size and aspect ratio, as torchvision does, and resize it.";
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
    f.required("size", height, width, "height and width of the result in pixels");
    f("scale", scale, "minimum and maximum fraction of the image's area");
    f("ratio", ratio, "minimum and maximum of width divided by height, whose logarithm is drawn uniformly");
    f("method", method, "as in resize");
    f("antialias", antialias, "as in resize");
    f("like", like, "as in resize");
    f("seed", seed, "seed of the random numbers; null: the dataset's seed");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Result<CropBox> box(int64_t rows, int64_t columns, Rng& rng) const;
  Result<ResizeHow> how() const;
  Contribution contribution() const;
};

struct ResizeShorter {
  static constexpr std::string_view kName = "resize_shorter";
  static constexpr std::string_view kDoc =
      "Resize an image so that its shorter side has a given size, as torchvision's Resize with one number does.";
  static constexpr int kInputs = 1;

  int64_t size = 0;
  std::string method = "bilinear";
  bool antialias = false;
  std::string like;

  void describe(Fields& f) {
    f.required("size", size, "size of the shorter side in pixels; the longer side is rounded down");
    f("method", method, "as in resize");
    f("antialias", antialias, "as in resize");
    f("like", like, "as in resize");
  }
  Result<LeafSpec> spec(std::span<const LeafSpec> inputs) const;
  Result<Array> apply(std::span<const Array> inputs, Context& context) const;
  Result<ResizeHow> how() const;
  // Replaces the size of an image by the size of the result.
  Result<void> size_of(int64_t& rows, int64_t& columns) const;
  Contribution contribution() const;
};

namespace image {

Value crop_to_bounding_box(Value image, CropToBoundingBox params);
Value pad_to_bounding_box(Value image, PadToBoundingBox params);
Value central_crop(Value image, CentralCrop params);
Value center_crop(Value image, CenterCrop params);
Value resize_with_crop_or_pad(Value image, ResizeWithCropOrPad params);
Value random_crop(Value values, RandomCrop params);
Value random_resized_crop(Value image, RandomResizedCrop params);
Value resize_shorter(Value image, ResizeShorter params);

}  // namespace image
}  // namespace stoker
