// How near does the training path come to bare decoding?
//
// Photographs in TFRecord shards (`stoker pack FOLDER OUT`, then `--records OUT`): read, parsed, decoded with all
// their pixels, resized to 224 by 224, flipped at random, scaled and batched by 64. The yardstick are threads that
// take the same JPEG bytes from memory and do nothing but decode them, each into a buffer of its own: libjpeg-turbo,
// accurate DCT, fancy upsampling, as the path decodes them. Both run in turns, on as many threads.
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <filesystem>

#include "bench/pipelines/report.h"

namespace stoker::bench {
namespace {

std::vector<std::string> shards_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tfrecord") paths.push_back(entry.path());
  std::ranges::sort(paths);
  if (paths.empty()) fail(folder + " has no .tfrecord files; make them with stoker pack FOLDER " + folder);
  return paths;
}

Value image_of(Value record) {
  return parse_single_example(record, {{.key = "image", .dtype = DType::kBytes}})["image"];
}

std::vector<std::string> pictures_in(const std::vector<std::string>& shards) {
  std::vector<std::string> pictures;
  Loader loader(Dataset::tfrecord({.filenames = shards}).map({.map_func = image_of}));
  for (const Element& e : loader) pictures.emplace_back(e.leaves[0].bytes());
  return pictures;
}

// Decodes into the same rows again and again.
class BareDecoder {
 public:
  BareDecoder() {
    info_.err = jpeg_std_error(&errors_);
    jpeg_create_decompress(&info_);
  }
  ~BareDecoder() { jpeg_destroy_decompress(&info_); }
  BareDecoder(const BareDecoder&) = delete;
  BareDecoder& operator=(const BareDecoder&) = delete;

  void decode(const std::string& jpeg) {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    info_.do_fancy_upsampling = TRUE;
    jpeg_start_decompress(&info_);
    const size_t row = size_t{info_.output_width} * 3;
    pixels_.resize(std::max(pixels_.size(), row * info_.output_height));
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW to = pixels_.data() + row * info_.output_scanline;
      jpeg_read_scanlines(&info_, &to, 1);
    }
    jpeg_finish_decompress(&info_);
  }

 private:
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<unsigned char> pixels_;
};

double bare_seconds(const std::vector<std::string>& pictures, int64_t n, int threads) {
  return bare_threads(threads, n, [&](int64_t i) {
    thread_local BareDecoder decoder;
    decoder.decode(pictures[static_cast<size_t>(i) % pictures.size()]);
    return i;
  });
}

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

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
};

// Once it runs. The loader is gone afterwards, so that nothing is made ahead while the yardstick runs.
Cost path_cost(const Dataset& dataset, int64_t batches) {
  Loader loader(dataset);
  for (int64_t i = 0; i < 8; ++i) next_of(loader);
  const double cpu = cpu_now();
  const double seconds = seconds_of([&] {
    for (int64_t i = 0; i < batches; ++i) next_of(loader);
  });
  return {seconds, cpu_now() - cpu};
}

Cost bare_cost(const std::vector<std::string>& pictures, int64_t n, int threads) {
  const double cpu = cpu_now();
  const double seconds = bare_seconds(pictures, n, threads);
  return {seconds, cpu_now() - cpu};
}

int run(Report& report) {
  const std::string folder = report.text("records", "");
  if (folder.empty()) {
    std::printf("  left out: --records FOLDER says where the shards are that stoker pack made\n");
    return 0;
  }
  const std::vector<std::string> shards = shards_in(folder);
  const std::vector<std::string> pictures = pictures_in(shards);
  const int64_t batches = report.quick() ? 8 : 32, n = 64 * batches;
  for (const int workers : report.numbers("workers", {cores()})) {
    configure({.workers = workers});
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
