// How close is the speed of a training pipeline to that of decoding alone?
//
// The photographs are in TFRecord shards (`stoker pack FOLDER OUT`, then `--records OUT`). The pipeline reads, parses
// and decodes all pixels, resizes to 224 by 224, flips at random, scales, and batches by 64. The baseline is threads
// that only decode the same JPEG bytes from memory, each into a buffer of its own, with libjpeg-turbo, accurate DCT and
// fancy upsampling, as the pipeline does. Both run in turns, on the same number of threads.
#include "bench/pipelines/photographs.h"

namespace stoker::bench {
namespace {

Dataset training_path(const std::vector<std::string>& shards, const std::string& like) {
  return Dataset::tfrecord({.filenames = shards})
      .repeat({})
      .map({.map_func =
                [like](Value record) {
                  const auto features = io::parse_single_example(
                      record, {{.key = "image", .dtype = DType::kBytes}, {.key = "label", .dtype = DType::kInt64}});
                  const Value decoded = io::decode_jpeg(
                      features["image"], {.channels = 3, .dct_method = "INTEGER_ACCURATE", .like = like});
                  const Value small = image::resize(decoded, {.height = 224, .width = 224, .like = like});
                  return tuple(cast(image::random_flip_left_right(small, {.seed = 1}), kFloat32) / 255.0f,
                               features["label"]);
                }})
      .batch({.batch_size = 64});
}

int run(Report& report) {
  const std::string folder = report.text("records", "");
  if (folder.empty()) {
    std::printf("  skipped: requires --records FOLDER, with shards that stoker pack wrote\n");
    return 0;
  }
  const std::vector<std::string> shards = shards_in(folder);
  const std::vector<std::string> images = images_in(shards);
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
    const int64_t batches = (report.quick() ? 4 : 16) * std::max(workers, 2), n = 64 * batches;
    for (const std::string like : {"", "pillow"}) {
      std::vector<double> share, cpu_share, rate;
      for (int round = 0; round < (report.quick() ? 3 : 7); ++round) {
        const Cost path = path_cost(training_path(shards, like), batches);
        const Cost bare = bare_cost(images, n, workers);
        share.push_back(bare.seconds / path.seconds);
        cpu_share.push_back(bare.cpu_seconds / path.cpu_seconds);
        rate.push_back(static_cast<double>(n) / path.seconds);
      }
      const std::string name = std::string(like.empty() ? "TensorFlow's" : "Pillow's") + " manner, " +
                               std::to_string(workers) + " workers, ";
      report.add({.name = name + "share of bare decoding", .value = median(share), .unit = "", .at_least = 0.88});
      report.add({.name = name + "the same in CPU time", .value = median(cpu_share), .unit = ""});
      report.add({.name = name + "images a second", .value = median(rate), .unit = "/s"});
    }
  }
  return report.end();
}

const Benchmark benchmark("photographs", &run);

}  // namespace
}  // namespace stoker::bench
