// How much slower is training on single image files than on packed records?
//
// Reads a folder with one folder per class (`--photos FOLDER`), once file by file and once from TFRecord shards with
// the same bytes (`stoker pack --keep-bytes`, `--records FOLDER`): shuffle, read, resize a random crop to 224 by 224,
// flip at random, normalize to float32 in CHW layout, batch by 64. Both are in the page cache and run in turns.
#include "bench/pipelines/photographs.h"

namespace stoker::bench {
namespace {

Dataset path_from_files(const std::string& folder) {
  return Dataset::image_folder({.directory = folder})
      .shuffle({.buffer_size = 100, .seed = 1})
      .repeat({})
      .map({.map_func = [](Value file) { return training_image(io::read_file(file[0])); }})
      .batch({.batch_size = 64});
}

int run(Report& report) {
  const std::string folder = report.text("photos", ""), records = report.text("records", "");
  if (folder.empty() || records.empty()) {
    std::printf(
        "  skipped: requires --photos FOLDER, with one folder of images per class, and --records FOLDER, which\n"
        "  stoker pack --keep-bytes wrote from it\n");
    return 0;
  }
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
    const int64_t batches = (report.quick() ? 4 : 16) * std::max(workers, 2);
    std::vector<double> share, cpu_share, rate;
    for (int round = 0; round < (report.quick() ? 3 : 7); ++round) {
      const Cost files = path_cost(path_from_files(folder), batches);
      const Cost packed = path_cost(training_path(shards_in(records)), batches);
      share.push_back(packed.seconds / files.seconds);
      cpu_share.push_back(packed.cpu_seconds / files.cpu_seconds);
      rate.push_back(static_cast<double>(64 * batches) / files.seconds);
    }
    const std::string name = std::to_string(workers) + " workers, ";
    report.add({.name = name + "share of packed", .value = median(share), .unit = "", .at_least = 0.95});
    report.add({.name = name + "the same in CPU time", .value = median(cpu_share), .unit = ""});
    report.add({.name = name + "images a second", .value = median(rate), .unit = "/s"});
  }
  return report.end();
}

const Benchmark benchmark("loose_files", &run);

}  // namespace
}  // namespace stoker::bench
