// How many times as fast as decoding whole images is a training pipeline that uses random crops of them?
//
// The photographs are in TFRecord shards: once with their original bytes (`stoker pack --keep-bytes`,
// `--records FOLDER`) and once with restart markers (`stoker pack`, `--packed FOLDER`). Training: read, shuffle, parse,
// resize a random crop to 224 by 224, flip at random, normalize to float32 in CHW layout, batch by 64. Evaluation:
// resize the shorter side to 256, normalize the center 224 by 224. All steps return Pillow's pixels. The baseline is
// threads that decode every pixel of the original images (photographs.h).
#include "bench/pipelines/photographs.h"

namespace stoker::bench {
namespace {

Dataset evaluation_path(const std::vector<std::string>& shards) {
  return Dataset::tfrecord({.filenames = shards})
      .repeat({})
      .map({.map_func =
                [](Value record) {
                  const Value resized =
                      image::resize_shorter(decoded(image_of(record)), {.size = 256, .like = "pillow"});
                  return normalized(image::center_crop(resized, {.height = 224, .width = 224}));
                }})
      .batch({.batch_size = 64});
}

struct Path {
  std::string name;
  Dataset dataset;
  double at_least;
};

void measure(Report& report, const Path& path, const std::vector<std::string>& images, int workers) {
  const int64_t batches = (report.quick() ? 4 : 16) * std::max(workers, 2), n = 64 * batches;
  std::vector<double> share, rate;
  for (int round = 0; round < (report.quick() ? 3 : 7); ++round) {
    const Cost cost = path_cost(path.dataset, batches);
    share.push_back(bare_cost(images, n, workers).seconds / cost.seconds);
    rate.push_back(static_cast<double>(n) / cost.seconds);
  }
  const std::string name = path.name + ", " + std::to_string(workers) + " workers, ";
  report.add({.name = name + "times bare decoding", .value = median(share), .unit = "", .at_least = path.at_least});
  report.add({.name = name + "images a second", .value = median(rate), .unit = "/s"});
}

int run(Report& report) {
  const std::string found = report.text("records", ""), packed = report.text("packed", "");
  if (found.empty() || packed.empty()) {
    std::printf("  skipped: requires --records FOLDER (stoker pack --keep-bytes) and --packed FOLDER (stoker pack)\n");
    return 0;
  }
  const std::vector<std::string> images = images_in(shards_in(found));
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
    for (const Path& path : {Path{"training, with restart markers", training_path(shards_in(packed)), 1.45},
                             Path{"training, as found", training_path(shards_in(found)), 1.15},
                             Path{"evaluation, with restart markers", evaluation_path(shards_in(packed)), 1.1},
                             Path{"evaluation, as found", evaluation_path(shards_in(found)), 0.95}})
      measure(report, path, images, workers);
  }
  return report.end();
}

const Benchmark benchmark("crops", &run);

}  // namespace
}  // namespace stoker::bench
