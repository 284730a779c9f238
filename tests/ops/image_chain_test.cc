#include "stoker/ops/image_chain.h"

#include "stoker/ops/arithmetic.h"
#include "stoker/ops/cast.h"
#include "stoker/ops/crop.h"
#include "stoker/ops/decode.h"
#include "stoker/ops/image_basics.h"
#include "stoker/ops/normalize.h"
#include "stoker/ops/resize.h"
#include "support/allocations.h"
#include "support/eval.h"
#include "support/gifs.h"
#include "support/jpegs.h"
#include "support/pngs.h"
#include "support/support.h"

namespace stoker {
namespace {

using OnImage = std::function<Value(Value)>;

struct Example {
  std::string words;  // the operations that run in one pass
  OnImage way;
};

Value constants(std::vector<float> values) { return Value(Array::from(values)); }

Value small(Value x, std::string like) { return image::resize(x, {.height = 24, .width = 31, .like = like}); }

// Windows are inside their images, and everything runs in one pass.
std::vector<Example> plain_examples() {
  const std::vector<double> mean{0.485, 0.456, 0.406}, deviation{0.229, 0.224, 0.225};
  return {
      {"resize", [=](Value x) { return small(x, ""); }},
      {"resize", [=](Value x) { return image::resize(x, {.height = 24, .width = 31, .preserve_aspect_ratio = true}); }},
      {"resize", [=](Value x) { return image::resize(x, {.height = 9, .width = 60, .method = "bicubic"}); }},
      {"resize", [=](Value x) { return image::resize(x, {.height = 9, .width = 60, .antialias = true}); }},
      {"resize", [=](Value x) { return image::resize(x, {.height = 9, .width = 60, .method = "nearest"}); }},
      {"resize, random_flip_left_right, divide",
       [=](Value x) { return image::random_flip_left_right(small(x, "")) / 255.0f; }},
      {"resize, random_flip_left_right, cast, divide",
       [=](Value x) { return cast(image::random_flip_left_right(small(x, "pillow"), {.seed = 3}), kFloat32) / 255; }},
      {"flip_left_right, flip_left_right, random_flip_left_right",
       [=](Value x) {
         return image::random_flip_left_right(image::flip_left_right(image::flip_left_right(x)), {.seed = 5});
       }},
      {"cast", [=](Value x) { return cast(x, kFloat32); }},
      {"resize, convert_image_dtype, subtract, divide, multiply, add",
       [=](Value x) {
         const Value floats = image::convert_image_dtype(small(x, "pillow"), {.dtype = DType::kFloat32});
         return 0.5f + 2 * ((floats - constants({0.485f, 0.456f, 0.406f})) / constants({0.229f, 0.224f, 0.225f}));
       }},
      {"resize, normalize",
       [=](Value x) { return image::normalize(small(x, "pillow"), {.mean = mean, .std = deviation}); }},
      {"resize, normalize",
       [=](Value x) {
         return image::normalize(small(x, "pillow"), {.mean = mean, .std = deviation, .layout = "CHW"});
       }},
      {"random_resized_crop, random_flip_left_right, normalize",
       [=](Value x) {
         const Value window = image::random_resized_crop(x, {.height = 24, .width = 20, .like = "pillow"});
         return image::normalize(image::random_flip_left_right(window),
                                 {.mean = mean, .std = deviation, .layout = "CHW"});
       }},
      {"random_resized_crop", [=](Value x) { return image::random_resized_crop(x, {.height = 24, .width = 20}); }},
      {"crop_to_bounding_box, central_crop, resize",
       [=](Value x) {
         const Value window = image::crop_to_bounding_box(
             x, {.offset_height = 2, .offset_width = 3, .target_height = 33, .target_width = 44});
         return small(image::central_crop(window, {.central_fraction = 0.7}), "pillow");
       }},
      {"resize_shorter, center_crop, cast",
       [=](Value x) {
         const Value resized = image::resize_shorter(x, {.size = 32, .like = "pillow"});
         return cast(image::center_crop(resized, {.height = 28, .width = 28}), kFloat32);
       }},
      {"resize_shorter, center_crop",
       [=](Value x) {
         return image::center_crop(image::resize_shorter(x, {.size = 20, .method = "bicubic"}),
                                   {.height = 18, .width = 5});
       }},
  };
}

std::vector<Example> examples() {
  std::vector<Example> all = plain_examples();
  const std::vector<Example> others{
      // Windows that extend beyond the image.
      {"center_crop, cast",
       [=](Value x) { return cast(image::center_crop(x, {.height = 50, .width = 40}), kFloat32); }},
      {"resize, center_crop, random_flip_left_right",
       [=](Value x) {
         return image::random_flip_left_right(image::center_crop(small(x, "pillow"), {.height = 20, .width = 40}));
       }},
      {"center_crop, resize, center_crop",
       [=](Value x) {
         return image::center_crop(small(image::center_crop(x, {.height = 60, .width = 70}), ""),
                                   {.height = 10, .width = 12});
       }},
      // Operations that end a chain.
      {"resize, cast", [=](Value x) { return cast(cast(small(x, "pillow"), kFloat32), kInt32); }},
      {"flip_left_right", [=](Value x) { return small(image::flip_left_right(x), ""); }},
      {"resize", [=](Value x) { return small(x, "pillow") / 255; }},
  };
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

Function decoding(const OnImage& way) {
  return Function([&](Value x) { return way(io::decode_jpeg(x, {.channels = 3})); });
}
// The same, but the decoded image is also used, so nothing can be joined to it.
Function step_by_step(const OnImage& way) {
  return Function([&](Value x) {
    const Value image = io::decode_jpeg(x, {.channels = 3});
    return tuple(way(image), image);
  });
}

Run results_of(const Function& function, const std::vector<std::string>& images) {
  Arrays rows;
  for (const std::string& bytes : images) rows.push_back(Array::of_bytes(bytes));
  Run run = run_of({Column(std::move(rows))});
  Context context(1, 2, nullptr);
  context.set_origins(&run.origins);
  const Result<void> done = function.apply(run, context);
  EXPECT_TRUE(done.ok()) << (done ? "" : done.error().describe());
  return run;
}

std::vector<std::string> images() {
  std::vector<std::string> made;
  for (const int down : {1, 2}) made.push_back(make_jpeg({.down = down}));
  made.push_back(make_jpeg({.height = 61, .width = 47, .restart_interval = 1}));
  made.push_back(make_jpeg({.progressive = true}));
  made.push_back(make_jpeg({.components = 4}));
  made.push_back(make_jpeg({.components = 1}));
  made.push_back(make_png({.height = 40, .width = 50, .samples = std::vector<uint16_t>(40 * 50 * 3, 77)}));
  return made;
}

TEST(ImageChain, ReturnsTheSameBitsAsSeparateOperations) {
  for (const Example& example : examples()) {
    const stoker::Run joined = results_of(decoding(example.way), images());
    const stoker::Run apart = results_of(step_by_step(example.way), images());
    ASSERT_TRUE(joined.failed.empty() && apart.failed.empty()) << example.words;
    for (int32_t i = 0; i < joined.size; ++i)
      EXPECT_EQ(joined.columns[0].row(i), apart.columns[0].row(i)) << example.words << ", image " << i;
  }
}

TEST(ImageChain, JoinsOperationsThatCanRunInOnePass) {
  for (const Example& example : examples()) {
    EXPECT_EQ(decoding(example.way).program()->chains(), std::vector<std::string>{"decode_jpeg, " + example.words});
    EXPECT_TRUE(step_by_step(example.way).program()->chains().empty());
  }
}

// Returns the number of allocations for n images, after each thread has allocated its own memory.
int64_t allocations_for(const Function& function, size_t n) {
  Run run = run_of({Column(Arrays(n, Array::of_bytes(make_jpeg({.height = 61, .restart_interval = 1}))))});
  Context context(1, 2, nullptr);
  context.set_origins(&run.origins);
  const int64_t before = allocations_so_far();
  EXPECT_TRUE(function.apply(run, context).ok());
  return allocations_so_far() - before;
}

TEST(ImageChain, AllocatesNothingAfterTheFirstRun) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer replaces operator new";
  for (const Example& example : plain_examples()) {
    const Function function = decoding(example.way);
    allocations_for(function, 40);
    EXPECT_EQ(allocations_for(function, 40), 0) << example.words;
  }
}

TEST(ImageChain, FailsLikeSeparateOperations) {
  const std::string whole = make_jpeg({});
  const std::vector<std::string> bad{whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 2), "", "<html>",
                                     whole.substr(0, 30)};
  for (const Example& example : examples()) {
    const stoker::Run joined = results_of(decoding(example.way), bad),
                      apart = results_of(step_by_step(example.way), bad);
    for (const stoker::Run* run : {&joined, &apart}) ASSERT_EQ(run->failed.size(), bad.size()) << example.words;
    for (size_t i = 0; i < bad.size(); ++i) {
      EXPECT_EQ(joined.failed[i].error.code(), apart.failed[i].error.code()) << example.words << ", image " << i;
      EXPECT_EQ(joined.failed[i].error.place().stage, "decode_jpeg");
    }
  }
}

TEST(ImageChain, DecodesDamagedImagesLikeSeparateOperations) {
  std::vector<std::string> damaged;
  for (const TestJpeg& image : {TestJpeg{}, TestJpeg{.progressive = true}, TestJpeg{.restart_interval = 1}}) {
    const std::string whole = make_jpeg(image);
    for (const size_t part : {2, 3, 4}) {
      damaged.push_back(whole);
      damaged.back().replace(whole.size() * part / 5, 20, std::string(20, '\xff'));
    }
  }
  for (const Example& example : examples()) {
    const stoker::Run joined = results_of(decoding(example.way), damaged),
                      apart = results_of(step_by_step(example.way), damaged);
    EXPECT_LT(apart.failed.size(), damaged.size());
    for (int32_t i = 0; i < apart.size; ++i) {
      ASSERT_EQ(joined.failure_of(i) == nullptr, apart.failure_of(i) == nullptr) << example.words << ", image " << i;
      if (apart.failure_of(i)) continue;
      EXPECT_EQ(joined.columns[0].row(i), apart.columns[0].row(i)) << example.words << ", image " << i;
    }
  }
}

// The frames are decoded by a chain that was planned for single images.
TEST(ImageChain, ProcessesTheFramesOfAnimations) {
  const std::string moving = make_gif({{.width = 3, .height = 2, .indices = {1, 2, 3, 4, 5, 6}}, {.indices = {7}}});
  const auto resized = [](Value x) {
    return 2 * (image::random_flip_left_right(image::resize(x, {.height = 4, .width = 5})) / 255.0f);
  };
  const Function joined([&](Value x) { return resized(io::decode_image(x, {.channels = 3})); });
  const Function apart([&](Value x) {
    const Value image = io::decode_image(x, {.channels = 3});
    return tuple(resized(image), image);
  });
  ASSERT_EQ(joined.program()->chains().size(), 1u);
  const std::vector<std::string> files{make_jpeg({}), moving, moving, moving};
  const stoker::Run a = results_of(joined, files), b = results_of(apart, files);
  ASSERT_TRUE(a.failed.empty() && b.failed.empty());
  for (int32_t i = 0; i < a.size; ++i) EXPECT_EQ(a.columns[0].row(i), b.columns[0].row(i)) << i;
  EXPECT_EQ(a.columns[0].row(1).rank(), 4);
}

TEST(ImageChain, IsNotFormedIfTheExifOrientationIsApplied) {
  const Function turned(
      [](Value x) { return image::resize(io::decode_jpeg(x, {.exif_orientation = true}), {.height = 4, .width = 5}); });
  EXPECT_TRUE(turned.program()->chains().empty());
}

TEST(ImageChain, NamesTheOperationThatFailed) {
  const stoker::Run run =
      results_of(decoding([](Value x) {
                   return image::resize(image::crop_to_bounding_box(x, {.target_height = 99, .target_width = 9}),
                                        {.height = 5, .width = 5});
                 }),
                 {make_jpeg({})});
  ASSERT_EQ(run.failed.size(), 1u);
  EXPECT_EQ(run.failed[0].error.place().stage, "crop_to_bounding_box");
  EXPECT_EQ(run.failed[0].error.message(), "a crop of 99x9 at 0, 0 does not fit an image of 37x53");
}

TEST(ImageChain, IsShownByExplain) {
  const std::vector<std::string> images{make_jpeg({}), make_jpeg({.height = 60})};
  const auto ds = Dataset::from_tensor_slices({.tensors = Element(Array::from(images))})
                      .map({[](Value x) {
                        return image::resize(io::decode_jpeg(x, {.channels = 3}), {.height = 8, .width = 9}) / 255.0f;
                      }})
                      .batch({.batch_size = 2});
  const std::string words = ds.explain().value();
  EXPECT_NE(words.find("one pass: decode_jpeg, resize, divide"), std::string::npos) << words;
}

}  // namespace
}  // namespace stoker
