// A running pipeline from files to batches allocates almost no memory. Allocations
// that depend on time (the log for checkpoints, the monitor) are not counted.
#include <gtest/gtest.h>

#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "stoker/runtime/line.h"
#include "support/allocations.h"
#include "support/jpegs.h"
#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

constexpr int kBatch = 16;

std::string images(int n) {
  ExampleWriter writer;
  writer.set("image", make_jpeg({.height = 61, .restart_interval = 1}));
  std::string file;
  for (int i = 0; i < n; ++i) append_record(file, writer.serialized());
  return file;
}

Value training_image(Value record) {
  const Value jpeg = io::parse_single_example(std::move(record), {{.key = "image", .dtype = DType::kBytes}})["image"];
  const Value window = image::random_resized_crop(io::decode_jpeg(jpeg, {.channels = 3}), {.height = 24, .width = 24});
  return image::normalize(image::random_flip_left_right(window), {.mean = {0.5}, .std = {0.2}, .layout = "CHW"});
}

TEST(Allocations, AnImagePipelineAllocatesLessThanOncePerTwoImages) {
  if (!allocations_are_counted()) GTEST_SKIP() << "a sanitizer has operator new";
  const WithResources alone({.workers = 0, .memory_bytes = int64_t{1} << 28});
  set_log_pace({.pulls = int64_t{1} << 40});
  const TempDir dir;
  Loader loader(Dataset::tfrecord({.filenames = {dir.write("images", images(100 * kBatch))}})
                    .shuffle({.buffer_size = 20, .seed = 1})
                    .map({.map_func = &training_image})
                    .batch({.batch_size = kBatch}));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(loader.next().ok());
  const int64_t before = allocations_so_far();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(loader.next().ok());
  EXPECT_LT(allocations_so_far() - before, 40 * kBatch / 2);
  set_log_pace({});
}

}  // namespace
}  // namespace stoker
