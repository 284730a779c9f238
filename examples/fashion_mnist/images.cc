#include "examples/fashion_mnist/images.h"

#include "stoker/io/glob.h"
#include "stoker/stoker.h"

namespace fashion_mnist {

using namespace stoker;

Dataset records(const std::string& folder, const std::string& name) {
  Result<std::vector<std::string>> shards = list_files({folder + "/" + name + "-*-of-*.tfrecord"});
  if (!shards) return shards.error();
  return Dataset::tfrecord({.filenames = *shards});
}

Dataset decoded(const Dataset& records) {
  return records.map({.map_func = [](Value record) {
    const Value example = io::parse_single_example(
        record, {{.key = "image", .dtype = DType::kBytes}, {.key = "label", .dtype = DType::kInt64}});
    const Value image = reshape(io::decode_png(example["image"], {.channels = 1}), {.shape = {1, 28, 28}});
    return tuple(cast(image, kFloat32) / 255.0f, example["label"]);
  }});
}

}  // namespace fashion_mnist
