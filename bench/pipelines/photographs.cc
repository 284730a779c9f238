// How near does the training path come to bare decoding?
//
// Photographs in TFRecord shards (`stoker pack FOLDER OUT`, then `--records OUT`): read, parsed, decoded with all
// their pixels, resized to 224 by 224, flipped at random, scaled and batched by 64. The yardstick are threads that
// take the same JPEG bytes from memory and do nothing but decode them, each into a buffer of its own: libjpeg-turbo,
// accurate DCT, fancy upsampling, as the path decodes them. Both run in turns, on as many threads.
#include "bench/pipelines/photographs.h"

namespace stoker::bench {
namespace {

Dataset training_path(const std::vector<std::string>& shards, const std::string& like) {
  return Dataset::tfrecord({.filenames = shards})
      .repeat({})
      .map({.map_func =
                [like](Value record) {
                  const auto features = parse_single_example(
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
    std::printf("  left out: --records FOLDER says where the shards are that stoker pack made\n");
    return 0;
  }
  const std::vector<std::string> shards = shards_in(folder);
  const std::vector<std::string> pictures = pictures_in(shards);
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
    const int64_t batches = (report.quick() ? 4 : 16) * std::max(workers, 2), n = 64 * batches;
    for (const std::string like : {"", "pillow"}) {
      std::vector<double> share, cpu_share, rate;
      for (int round = 0; round < (report.quick() ? 3 : 7); ++round) {
        const Cost path = path_cost(training_path(shards, like), batches);
        const Cost bare = bare_cost(pictures, n, workers);
        share.push_back(bare.seconds / path.seconds);
        cpu_share.push_back(bare.cpu_seconds / path.cpu_seconds);
        rate.push_back(static_cast<double>(n) / path.seconds);
      }
      const std::string name = std::string(like.empty() ? "TensorFlow's" : "Pillow's") + " manner, " +
                               std::to_string(workers) + " workers, ";
      report.add({.name = name + "share of bare decoding", .value = median(share), .unit = "", .at_least = 0.88});
      report.add({.name = name + "the same in CPU time", .value = median(cpu_share), .unit = ""});
      report.add({.name = name + "pictures a second", .value = median(rate), .unit = "/s"});
    }
  }
  return report.end();
}

const Benchmark benchmark("photographs", &run);

}  // namespace
}  // namespace stoker::bench
