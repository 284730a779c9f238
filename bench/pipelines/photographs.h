// Shared by the image benchmarks: pipelines over photographs in TFRecord shards, and threads that only decode them.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include <filesystem>

#include "bench/pipelines/report.h"

namespace stoker::bench {

inline std::vector<std::string> shards_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".tfrecord") paths.push_back(entry.path());
  std::ranges::sort(paths);
  if (paths.empty()) fail(folder + " has no .tfrecord files; write them with stoker pack FOLDER " + folder);
  return paths;
}

inline Value image_of(Value record) {
  return io::parse_single_example(record, {{.key = "image", .dtype = DType::kBytes}})["image"];
}

inline Value decoded(Value jpeg) { return io::decode_jpeg(std::move(jpeg), {.channels = 3, .like = "pillow"}); }

inline Value normalized(Value image) {
  return image::normalize(std::move(image),
                          {.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}, .layout = "CHW"});
}

// A random crop, as used in training, with Pillow's pixels.
inline Value training_image(Value jpeg) {
  const Value window =
      image::random_resized_crop(decoded(std::move(jpeg)), {.height = 224, .width = 224, .like = "pillow", .seed = 1});
  return normalized(image::random_flip_left_right(window, {.seed = 2}));
}

inline Dataset training_path(const std::vector<std::string>& shards) {
  return Dataset::tfrecord({.filenames = shards})
      .shuffle({.buffer_size = 100, .seed = 1})
      .repeat({})
      .map({.map_func = [](Value record) { return training_image(image_of(std::move(record))); }})
      .batch({.batch_size = 64});
}

inline std::vector<std::string> images_in(const std::vector<std::string>& shards) {
  std::vector<std::string> images;
  Loader loader(Dataset::tfrecord({.filenames = shards}).map({.map_func = image_of}));
  for (const Element& e : loader) images.emplace_back(e.leaves[0].bytes());
  return images;
}

// Decodes every image into the same buffer.
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

inline double bare_seconds(const std::vector<std::string>& images, int64_t n, int threads) {
  return bare_threads(threads, n, [&](int64_t i) {
    thread_local BareDecoder decoder;
    decoder.decode(images[static_cast<size_t>(i) % images.size()]);
    return i;
  });
}

struct Cost {
  double seconds = 0;
  double cpu_seconds = 0;
};

// Measures after a warm-up. Drops the loader at the end, so that nothing is prefetched while the baseline runs.
inline Cost path_cost(const Dataset& dataset, int64_t batches) {
  Loader loader(dataset);
  for (int64_t i = 0; i < 8; ++i) next_of(loader);
  const double cpu = cpu_now();
  const double seconds = seconds_of([&] {
    for (int64_t i = 0; i < batches; ++i) next_of(loader);
  });
  return {seconds, cpu_now() - cpu};
}

inline Cost bare_cost(const std::vector<std::string>& images, int64_t n, int threads) {
  const double cpu = cpu_now();
  const double seconds = bare_seconds(images, n, threads);
  return {seconds, cpu_now() - cpu};
}

}  // namespace stoker::bench
