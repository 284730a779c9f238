// What `stoker pack` finds in a folder of pictures.
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/pack.h"
#include "stoker/core/hash.h"
#include "stoker/ops/read_file.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

// A tf.train.Example cannot be larger than 2 GB; no picture comes near this.
constexpr int64_t kMostBytes = int64_t{1} << 30;

Result<Array> contents_of(const std::string& path) {
  Context context;
  const Array name = Array::of_bytes(path);
  return ReadFile{}.apply(std::span(&name, 1), context);
}

using PictureAt = std::function<const Picture&(int64_t)>;

// Where pictures stay as they are, reading is all there is to do: handing each on
// to another thread would take longer.
Dataset kept_records(const PackOptions& options, int64_t count, const PictureAt& picture_at) {
  return Dataset::range({.stop = count}).map({.map_func = [options, picture_at](int64_t i) -> Result<PackedRecord> {
    const Picture& picture = picture_at(i);
    STOKER_TRY(const Array image, contents_of(options.source + "/" + picture.path));
    return packed_record(image, picture.label, picture.path, options);
  }});
}

// Files are read ahead by the engine's waiting threads, the rest is done by its workers.
Dataset made_records(const PackOptions& options, int64_t count, const PictureAt& picture_at) {
  return Dataset::range({.stop = count})
      .map({.map_func = [folder = options.source,
                         picture_at](int64_t i) { return std::tuple(i, folder + "/" + picture_at(i).path); }})
      .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
      .map({.map_func = [picture_at, options](int64_t i, const Array& image) {
        const Picture& picture = picture_at(i);
        return packed_record(image, picture.label, picture.path, options);
      }});
}

Split split_of(const PackOptions& options, Share share, std::shared_ptr<const std::vector<Picture>> pictures) {
  const auto count = static_cast<int64_t>(share.order.size());
  const auto order = std::make_shared<const std::vector<int64_t>>(std::move(share.order));
  const auto picture_at = [pictures, order](int64_t i) -> const Picture& {
    return (*pictures)[static_cast<size_t>((*order)[static_cast<size_t>(i)])];
  };
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += picture_at(i).bytes;
  Dataset records = (options.keep_bytes ? kept_records : made_records)(options, count, picture_at);
  return {share.name, count, bytes, std::move(records), [picture_at](int64_t i) { return picture_at(i).path; }};
}

// Names, sizes and times; contents are not read for it.
uint64_t mark_of(const std::string& folder, const std::vector<Picture>& pictures) {
  uint64_t mark = 0;
  for (const Picture& picture : pictures) {
    struct stat found{};
    (void)stat((folder + "/" + picture.path).c_str(), &found);
    const int64_t numbers[] = {picture.label, picture.bytes, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
    mark = hash_of(picture.path, mark);
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
  if (lies_in(options.target, options.source))
    return Error::precondition(options.target, " lies in ", options.source,
                               ", and would be packed itself the next time; choose a folder outside");
  const auto add_bad = [&](const std::string& path, const Error& why) -> Result<bool> {
    STOKER_TRY(bad.add(path, why));
    return false;
  };
  Result<Listing> found = list_picture_folder(options.source, add_bad, [] { return interrupted(); });
  if (!found && found.error().code() == Code::kDataLoss)
    return Error::corrupt(found.error().message(), ", or the labels in a CSV file by --labels");
  return found;
}

Result<std::vector<Picture>> without_giants(std::vector<Picture> pictures, BadFiles& bad) {
  for (const Picture& picture : pictures)
    if (picture.bytes > kMostBytes)
      STOKER_TRY(bad.add(picture.path,
                         Error::exhausted("it has ", picture.bytes, " bytes, and a picture at most ", kMostBytes)));
  std::erase_if(pictures, [](const Picture& picture) { return picture.bytes > kMostBytes; });
  return pictures;
}

}  // namespace

Result<PackInput> picture_input(const PackOptions& options, BadFiles& bad) {
  STOKER_TRY(Listing found,
             options.labels.empty() ? list_folders(options, bad) : read_labels(options.labels, options.source));
  STOKER_TRY(std::vector<Picture> pictures, without_giants(std::move(found.pictures), bad));
  PackInput input{{}, std::move(found.classes), found.left_out, mark_of(options.source, pictures)};
  const auto list = std::make_shared<const std::vector<Picture>>(std::move(pictures));
  const auto path_of = [&](int64_t i) { return (*list)[static_cast<size_t>(i)].path; };
  STOKER_TRY(std::vector<Share> shares, shares_of(options, static_cast<int64_t>(list->size()), path_of));
  for (Share& share : shares) input.splits.push_back(split_of(options, std::move(share), list));
  return input;
}

}  // namespace stoker::cli
