// How many times faster than decoding whole pictures is training on random windows of them?
//
// Photographs in TFRecord shards, once as they were found (`stoker pack --keep-bytes`, `--records FOLDER`) and once
// with restart markers (`stoker pack`, `--packed FOLDER`). Training: read, shuffled, parsed, a random window resized to
// 224 by 224, flipped at random, normalised to float32 in planes, batched by 64. Evaluation: the shorter side resized
// to 256, the middle 224 by 224 normalised. All in Pillow's manner. The yardstick are threads that decode every pixel
// of the pictures as they were found (photographs.h).
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

void measure(Report& report, const Path& path, const std::vector<std::string>& pictures, int workers) {
  const int64_t batches = (report.quick() ? 4 : 16) * std::max(workers, 2), n = 64 * batches;
  std::vector<double> share, rate;
  for (int round = 0; round < (report.quick() ? 3 : 7); ++round) {
    const Cost cost = path_cost(path.dataset, batches);
    share.push_back(bare_cost(pictures, n, workers).seconds / cost.seconds);
    rate.push_back(static_cast<double>(n) / cost.seconds);
  }
  const std::string name = path.name + ", " + std::to_string(workers) + " workers, ";
  report.add({.name = name + "times bare decoding", .value = median(share), .unit = "", .at_least = path.at_least});
  report.add({.name = name + "pictures a second", .value = median(rate), .unit = "/s"});
}

int run(Report& report) {
  const std::string found = report.text("records", ""), packed = report.text("packed", "");
  if (found.empty() || packed.empty()) {
    std::printf(
        "  left out: --records FOLDER has shards of stoker pack --keep-bytes, --packed FOLDER those of stoker pack\n");
    return 0;
  }
  const std::vector<std::string> pictures = pictures_in(shards_in(found));
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
    for (const Path& path : {Path{"training, with restart markers", training_path(shards_in(packed)), 1.45},
                             Path{"training, as found", training_path(shards_in(found)), 1.15},
                             Path{"evaluation, with restart markers", evaluation_path(shards_in(packed)), 1.1},
                             Path{"evaluation, as found", evaluation_path(shards_in(found)), 0.95}})
      measure(report, path, pictures, workers);
  }
  return report.end();
}

const Benchmark benchmark("crops", &run);

}  // namespace
}  // namespace stoker::bench
