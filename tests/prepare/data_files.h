#pragma once

#include <span>
#include <string>

#include "stoker/codecs/example.h"
#include "stoker/codecs/tfrecord.h"
#include "support/jpegs.h"
#include "support/temp_dir.h"

// Data files for the tests of pack(), index(), verify() and inspect().
namespace stoker::prepare {

inline std::string small_jpeg() { return make_jpeg({.height = 24, .width = 32}); }

// Two classes, "cat" with two images and "dog" with one.
inline void write_photos(const TempDir& folder) {
  for (const char* name : {"photos/cat/1.jpg", "photos/cat/2.jpg", "photos/dog/3.jpg"})
    folder.write(name, small_jpeg());
}

// A framed tf.train.Example.
inline std::string record(std::string_view image, int64_t label) {
  ExampleWriter example;
  example.set("image", image);
  example.set("label", std::span<const int64_t>(&label, 1));
  std::string framed;
  append_record(framed, example.serialized());
  return framed;
}

// MNIST's files for training, with `count` black images. They are sparse, so large counts need no disk space.
inline void write_mnist(const TempDir& folder, uint32_t count) {
  const auto number = [](uint32_t n) {
    return std::string{static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                       static_cast<char>(n)};
  };
  using namespace std::string_literals;
  const std::string images = "\0\0\x08\x03"s + number(count) + number(28) + number(28);
  const std::string labels = "\0\0\x08\x01"s + number(count);
  std::filesystem::resize_file(folder.write("mnist/train-images-idx3-ubyte", images), images.size() + count * 28 * 28);
  std::filesystem::resize_file(folder.write("mnist/train-labels-idx1-ubyte", labels), labels.size() + count);
}

}  // namespace stoker::prepare
