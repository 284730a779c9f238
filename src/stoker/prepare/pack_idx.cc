// Reads idx files for pack(), such as those of MNIST and Fashion-MNIST.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "stoker/codecs/png.h"
#include "stoker/core/hash.h"
#include "stoker/core/permutation.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/sources/idx.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

struct Kind {
  std::string_view name;    // prefix of the shards' names
  std::string_view images;  // file name
  std::string_view labels;  // file name
};
constexpr std::array kMnist = {
    Kind{"train", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
    Kind{"test", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
};

// Fashion-MNIST takes 3.0 s of CPU time and 43.7 MB with level 1, and 3.4 s and
// 42.3 MB with level 6.
constexpr int kPngLevel = 1;

bool is_file(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode);
}

// The file of that name, plain or with .gz.
std::optional<std::string> find_in(const std::string& folder, std::string_view name) {
  for (const char* ending : {"", ".gz"})
    if (std::string path = fmt::format("{}/{}{}", folder, name, ending); is_file(path)) return path;
  return std::nullopt;
}

std::string name_without_gz(const std::string& path) {
  const fs::path name = fs::path(path).filename();
  return (name.extension() == ".gz" ? name.stem() : name).string();
}

// Reads uint8 of the given rank; `expected` describes it for the error. A file that is not an idx file is DataLoss, as
// any file that cannot be packed.
Result<Array> read(const std::string& path, int rank, const char* expected) {
  Result<Array> array = read_idx(path);
  if (!array && array.error().code() == Code::kInvalidArgument) return Error::corrupt(array.error().message());
  if (!array) return array;
  if (array->type() != DType::kUint8 || array->rank() != rank)
    return Error::corrupt(path, " contains ", name_of(array->type()), " of shape ", shape_text(array->shape()),
                          ", expected ", expected);
  return array;
}

Result<void> check_counts(const Array& images, const Array& labels, const std::string& path,
                          const std::string& labels_path) {
  if (images.dim(0) == 0) return Error::corrupt(path, " contains no images");
  if (images.dim(0) == labels.dim(0)) return {};
  return Error::corrupt(path, " has ", images.dim(0), " images and ", labels_path, " has ", labels.dim(0),
                        " labels; expected as many labels as images: the files do not match, or one is truncated");
}

struct IdxImages {
  std::string file;  // name without .gz
  Array images;
  Array labels;
  Permutation order;

  std::string path_of(int64_t i) const { return fmt::format("{}/{:05}", file, order(i)); }

  Result<PackedRecord> record(int64_t i) const {
    const int64_t entry = order(i), height = images.dim(1), width = images.dim(2);
    const auto* pixels = static_cast<const std::byte*>(images.raw()) + entry * height * width;
    STOKER_TRY(const std::string png, encode_png({height, width, /*channels=*/1}, pixels, kPngLevel));
    const int64_t label = labels.values<uint8_t>()[static_cast<size_t>(entry)];
    return record_of(Array::of_bytes(png), label, path_of(i), 0);
  }
};

Result<IdxImages> read_images(const std::string& path, const std::string& labels_path, int64_t seed) {
  STOKER_TRY(Array images, read(path, 3, "grayscale images: uint8 of shape [count, height, width]"));
  STOKER_TRY(Array labels, read(labels_path, 1, "labels: uint8 of shape [count]"));
  STOKER_TRY(check_counts(images, labels, path, labels_path));
  const Permutation order(static_cast<uint64_t>(seed), images.dim(0));
  return IdxImages{name_without_gz(path), std::move(images), std::move(labels), order};
}

// Hashes everything that the records are made of. The values are in memory; a mark of the files would miss a change
// that keeps their sizes and modification times.
uint64_t mark_of(const IdxImages& images) {
  uint64_t mark = hash_of(images.file);
  for (const Array* array : {&images.images, &images.labels}) {
    const Dims shape = array->shape();
    mark = hash_of({reinterpret_cast<const char*>(shape.data()), shape.size_bytes()}, mark);
    mark = hash_of({static_cast<const char*>(array->raw()), static_cast<size_t>(array->byte_size())}, mark);
  }
  return mark;
}

Split split_of(std::string name, const IdxImages& images) {
  const int64_t count = images.order.size(), bytes = images.images.byte_size();
  Dataset records = Dataset::range({.stop = count}).map({.map_func = [images](int64_t i) { return images.record(i); }});
  return {std::move(name), count, bytes, std::move(records), [images](int64_t i) { return images.path_of(i); }};
}

struct Pair {
  std::string name;
  std::string images;
  std::string labels;
};

Result<Pair> single_pair(const PackOptions& options) {
  if (options.labels.empty())
    return Error::precondition(options.source,
                               " is a file, expected a folder of images; for a file of idx images, pass the idx file "
                               "of their labels with ",
                               option_name(options.option_names, "labels"));
  const std::string file = name_without_gz(options.source);
  const auto known = std::ranges::find(kMnist, file, &Kind::images);
  const std::string own = known == kMnist.end() ? file : std::string(known->name);
  return Pair{options.name.empty() ? own : options.name, options.source, options.labels};
}

Result<std::vector<Pair>> pairs_in(const PackOptions& options) {
  if (!options.labels.empty())
    return Error::precondition(options.source, " has MNIST's files, which include the labels; remove ",
                               option_name(options.option_names, "labels"));
  std::vector<Pair> pairs;
  for (const Kind& kind : kMnist) {
    const auto images = find_in(options.source, kind.images), labels = find_in(options.source, kind.labels);
    if (!images && !labels) continue;
    if (!images || !labels)
      return Error::not_found(options.source, " has ", images ? kind.images : kind.labels, " and no ",
                              images ? kind.labels : kind.images, ", plain or .gz; both are required");
    const std::string prefix = options.name.empty() ? "" : options.name + "-";
    pairs.push_back({prefix + std::string(kind.name), *images, *labels});
  }
  return pairs;
}

}  // namespace

bool is_idx_source(const std::string& source) {
  if (is_file(source)) return true;
  return std::ranges::any_of(
      kMnist, [&](const Kind& kind) { return find_in(source, kind.images) || find_in(source, kind.labels); });
}

Result<PackInput> idx_input(const PackOptions& options) {
  if (!options.split.empty() || options.resize)
    return Error::precondition(option_name(options.option_names, "split"), " and ",
                               option_name(options.option_names, "resize"), " are not supported for idx files such as ",
                               options.source);
  std::vector<Pair> pairs;
  if (is_file(options.source)) {
    STOKER_TRY(Pair pair, single_pair(options));
    pairs.push_back(std::move(pair));
  } else {
    STOKER_TRY(pairs, pairs_in(options));
  }
  PackInput input;
  size_t classes = 0;
  for (const Pair& pair : pairs) {
    STOKER_TRY(const IdxImages images, read_images(pair.images, pair.labels, options.seed));
    const auto labels = images.labels.values<uint8_t>();
    classes = std::max(classes, size_t{*std::ranges::max_element(labels)} + 1);
    const uint64_t marks[] = {input.mark, mark_of(images)};
    input.mark = hash_of({reinterpret_cast<const char*>(marks), sizeof(marks)});
    input.splits.push_back(split_of(pair.name, images));
  }
  for (size_t label = 0; label < classes; ++label) input.classes.push_back(std::to_string(label));
  return input;
}

}  // namespace stoker::prepare
