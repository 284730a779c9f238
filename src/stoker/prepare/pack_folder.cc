// Reads a folder of images for pack().
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/ops/read_file.h"
#include "stoker/prepare/pack_input.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::prepare {
namespace {

namespace fs = std::filesystem;

// A tf.train.Example cannot be larger than 2 GB; images are far smaller than this.
constexpr int64_t kMostBytes = int64_t{1} << 30;

Result<Array> contents_of(const std::string& path) {
  Context context;
  const Array name = Array::of_bytes(path);
  return ReadFile{}.apply(std::span(&name, 1), context);
}

using ImageAt = std::function<const Image&(int64_t)>;

// With keep_bytes, images are only read. One map is then faster: passing each
// image on to another thread would take longer than reading it.
Dataset kept_records(const PackOptions& options, int64_t count, const ImageAt& image_at) {
  return Dataset::range({.stop = count}).map({.map_func = [options, image_at](int64_t i) -> Result<PackedRecord> {
    const Image& image = image_at(i);
    STOKER_TRY(const Array contents, contents_of(options.source + "/" + image.path));
    return packed_record(contents, image.label, image.path, options);
  }});
}

// The engine's waiting threads prefetch the files; its workers do the rest.
Dataset made_records(const PackOptions& options, int64_t count, const ImageAt& image_at) {
  return Dataset::range({.stop = count})
      .map({.map_func = [folder = options.source,
                         image_at](int64_t i) { return std::tuple(i, folder + "/" + image_at(i).path); }})
      .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
      .map({.map_func = [image_at, options](int64_t i, const Array& contents) {
        const Image& image = image_at(i);
        return packed_record(contents, image.label, image.path, options);
      }});
}

Split split_of(const PackOptions& options, Share share, std::shared_ptr<const std::vector<Image>> images) {
  const auto count = static_cast<int64_t>(share.order.size());
  const auto order = std::make_shared<const std::vector<int64_t>>(std::move(share.order));
  const auto image_at = [images, order](int64_t i) -> const Image& {
    return (*images)[static_cast<size_t>((*order)[static_cast<size_t>(i)])];
  };
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += image_at(i).bytes;
  Dataset records = (options.keep_bytes ? kept_records : made_records)(options, count, image_at);
  return {share.name, count, bytes, std::move(records), [image_at](int64_t i) { return image_at(i).path; }};
}

// Hashes paths, labels, sizes and modification times, without reading the files.
uint64_t mark_of(const std::string& folder, const std::vector<Image>& images) {
  uint64_t mark = 0;
  for (const Image& image : images) {
    stop_if_interrupted();
    struct stat found{};
    (void)stat((folder + "/" + image.path).c_str(), &found);
    const int64_t numbers[] = {image.label, image.bytes, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
    mark = hash_of(image.path, mark);
    mark = hash_of({reinterpret_cast<const char*>(numbers), sizeof(numbers)}, mark);
  }
  return mark;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code unknown;
  const fs::path below = fs::weakly_canonical(path, unknown), above = fs::weakly_canonical(folder, unknown);
  return std::ranges::mismatch(above, below).in1 == above.end();
}

Result<Listing> list_folders(const PackOptions& options, BadFiles& bad) {
  if (lies_in(options.destination, options.source))
    return Error::precondition(options.destination, " is inside ", options.source,
                               ", so the next run would pack its output; choose a folder outside");
  const auto add_bad = [&](const std::string& path, const Error& why) -> Result<bool> {
    STOKER_TRY(bad.add(path, why));
    return false;
  };
  Result<Listing> found = list_image_folder(options.source, add_bad, &is_interrupted);
  if (!found && found.error().code() == Code::kDataLoss)
    return Error::corrupt(found.error().message(), ", or pass a CSV file of labels with ",
                          option_name(options.option_names, "labels"));
  return found;
}

Result<std::vector<Image>> without_giants(std::vector<Image> images, BadFiles& bad) {
  for (const Image& image : images)
    if (image.bytes > kMostBytes)
      STOKER_TRY(bad.add(image.path, Error::exhausted("the file has ", image.bytes,
                                                      " bytes, expected an image of at most ", kMostBytes, " bytes")));
  std::erase_if(images, [](const Image& image) { return image.bytes > kMostBytes; });
  return images;
}

}  // namespace

Result<PackInput> image_input(const PackOptions& options, BadFiles& bad) {
  STOKER_TRY(Listing found,
             options.labels.empty() ? list_folders(options, bad) : read_labels(options.labels, options.source));
  STOKER_TRY(std::vector<Image> images, without_giants(std::move(found.images), bad));
  PackInput input{{}, std::move(found.classes), found.left_out, mark_of(options.source, images)};
  const auto list = std::make_shared<const std::vector<Image>>(std::move(images));
  const auto path_of = [&](int64_t i) { return (*list)[static_cast<size_t>(i)].path; };
  STOKER_TRY(std::vector<Share> shares, shares_of(options, static_cast<int64_t>(list->size()), path_of));
  for (Share& share : shares) input.splits.push_back(split_of(options, std::move(share), list));
  return input;
}

}  // namespace stoker::prepare
