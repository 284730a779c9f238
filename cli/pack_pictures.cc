// What `stoker pack` finds in a folder of pictures.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/pack.h"
#include "stoker/codecs/jpeg.h"
#include "stoker/codecs/jpeg_rewrite.h"
#include "stoker/codecs/png.h"
#include "stoker/core/permutation.h"
#include "stoker/io/file.h"
#include "stoker/ops/read_file.h"
#include "stoker/sources/range.h"
#include "stoker/transforms/map.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

// A tf.train.Example cannot be larger than 2 GB; no picture comes near this.
constexpr int64_t kMostBytes = int64_t{1} << 30;

// The size of the smallest header, for the formats that have no reader here.
size_t least_bytes(PictureFormat format) {
  switch (format) {
    case PictureFormat::kGif: return 13;
    case PictureFormat::kBmp: return 26;
    case PictureFormat::kWebp: return 20;
    default: return 0;
  }
}

std::string first_bytes(Bytes bytes) {
  std::string words;
  for (const char byte : bytes.substr(0, 4)) words += fmt::format(" {:02x}", static_cast<unsigned char>(byte));
  return words;
}

Result<void> check_picture(Bytes bytes) {
  if (bytes.empty()) return Error::corrupt("the file is empty, a picture was expected");
  const PictureFormat format = format_of(bytes);
  if (format == PictureFormat::kUnknown)
    return Error::corrupt("it is no picture: it begins with the bytes", first_bytes(bytes),
                          ", as none of JPEG, PNG, GIF, BMP and WebP does");
  if (bytes.size() < least_bytes(format))
    return Error::corrupt(name_of(format), " data ends inside its header: it has ", bytes.size(), " bytes");
  if (format == PictureFormat::kJpeg) STOKER_TRY(jpeg_info(bytes));
  if (format == PictureFormat::kPng) STOKER_TRY(png_info(bytes));
  return {};
}

Result<Array> record_of(const Picture& picture, const Array& image, bool keep_bytes) {
  STOKER_TRY(check_picture(image.bytes()));
  const std::optional<std::string> rewritten = keep_bytes || format_of(image.bytes()) != PictureFormat::kJpeg
                                                   ? std::nullopt
                                                   : with_restart_markers(image.bytes());
  return Array::of_bytes(cli::record_of(rewritten ? Bytes(*rewritten) : image.bytes(), picture.label, picture.path));
}

std::vector<Picture> shuffled(std::vector<Picture> pictures, int64_t seed) {
  const Permutation order(static_cast<uint64_t>(seed), static_cast<int64_t>(pictures.size()));
  std::vector<Picture> result;
  for (int64_t i = 0; i < order.size(); ++i) result.push_back(std::move(pictures[static_cast<size_t>(order(i))]));
  return result;
}

// Files are read ahead by the engine's waiting threads, the rest is done by its workers.
Split split_of(const PackOptions& options, std::vector<Picture> list) {
  const auto pictures = std::make_shared<const std::vector<Picture>>(std::move(list));
  const auto count = static_cast<int64_t>(pictures->size());
  int64_t bytes = 0;
  for (const Picture& picture : *pictures) bytes += picture.bytes;
  const auto path_of = [pictures](int64_t i) { return (*pictures)[static_cast<size_t>(i)].path; };
  Dataset records = Dataset::range({.stop = count})
                        .map({.map_func = [folder = options.source,
                                           path_of](int64_t i) { return std::tuple(i, folder + "/" + path_of(i)); }})
                        .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
                        .map({.map_func = [pictures, keep_bytes = options.keep_bytes](int64_t i, const Array& image) {
                          return record_of((*pictures)[static_cast<size_t>(i)], image, keep_bytes);
                        }});
  return {options.name, count, bytes, std::move(records), path_of};
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
  const auto add_bad = [&](const std::string& path, const Error& why) { return bad.add(path, why); };
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
  PackInput input{{}, std::move(found.classes), found.left_out};
  input.splits.push_back(split_of(options, shuffled(std::move(pictures), options.seed)));
  return input;
}

}  // namespace stoker::cli
