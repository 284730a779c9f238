// What `stoker pack` finds in a folder of pictures.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/pack.h"
#include "stoker/codecs/jpeg.h"
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

constexpr const char* kExpected =
    "; a folder for each class is expected, as SRC/cat/1.jpg, or the labels in a CSV file by --labels";

constexpr std::array kOtherKinds = {".txt", ".csv",  ".tsv",  ".json", ".jsonl", ".xml", ".yaml", ".yml", ".md",
                                    ".rst", ".html", ".htm",  ".pdf",  ".doc",   ".py",  ".sh",   ".log", ".ini",
                                    ".cfg", ".db",   ".lmdb", ".npy",  ".npz",   ".mat", ".pkl",  ".pt",  ".h5",
                                    ".zip", ".tar",  ".gz",   ".tgz",  ".xz",    ".bz2", ".7z",   ".rar", ".tfrecord",
                                    ".mp4", ".avi",  ".mov",  ".wav",  ".mp3",   ".lst", ".idx",  ".rec", ".parquet"};

bool is_hidden(const std::string& name) { return name.starts_with('.'); }

bool is_other_kind(const std::string& path) {
  std::string kind = fs::path(path).extension().string();
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kOtherKinds, kind) != kOtherKinds.end();
}

// In byte order.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed))
    names.push_back(at->path().filename().string());
  if (failed) return Error::from_errno(failed.value(), "cannot list the folder " + folder);
  std::ranges::sort(names);
  return names;
}

// Goes through a folder of classes. Links are followed, but not back to a
// folder that is being gone through.
class FolderWalk {
 public:
  FolderWalk(const std::string& root, BadFiles& bad) : root_(root), bad_(bad) {}

  Result<Listing> listing() {
    STOKER_TRY(find_classes());
    for (size_t label = 0; label < found_.classes.size(); ++label)
      STOKER_TRY(visit(found_.classes[label], static_cast<int64_t>(label)));
    if (found_.pictures.empty()) return Error::corrupt("the folders of ", root_, " hold no pictures", kExpected);
    return std::move(found_);
  }

 private:
  using Id = std::pair<dev_t, ino_t>;

  Result<void> find_classes() {
    STOKER_TRY(const std::vector<std::string> names, names_in(root_));
    struct stat status{};
    if (stat(root_.c_str(), &status) == 0) open_.emplace_back(status.st_dev, status.st_ino);
    for (const std::string& name : names) {
      const bool known = !is_hidden(name) && stat(below_root(name).c_str(), &status) == 0;
      if (known && S_ISDIR(status.st_mode))
        found_.classes.push_back(name);
      else if (known && S_ISREG(status.st_mode) && is_loose_picture(name))
        return Error::corrupt(below_root(name), " lies in no class folder", kExpected);
      else
        ++found_.left_out;
    }
    if (found_.classes.empty()) return Error::corrupt(root_, " has no folders", kExpected);
    return {};
  }

  std::string below_root(const std::string& path) const { return root_ + "/" + path; }

  bool is_loose_picture(const std::string& name) const {
    if (is_other_kind(name)) return false;
    Result<File> file = File::open(below_root(name));
    char front[16];
    const Result<size_t> count = file ? file->read(front) : Result<size_t>(0);
    return count && format_of({front, *count}) != PictureFormat::kUnknown;
  }

  Result<void> visit(const std::string& path, int64_t label) {
    if (interrupted()) return Error::cancelled();
    struct stat status{};
    if (stat(below_root(path).c_str(), &status) != 0) {
      const Error why = Error::io("cannot look at ", below_root(path));
      return is_other_kind(path) ? left_out() : bad_.add(path, why);
    }
    if (S_ISDIR(status.st_mode)) return enter(path, {status.st_dev, status.st_ino}, label);
    if (!S_ISREG(status.st_mode) || is_other_kind(path)) return left_out();
    found_.pictures.push_back({path, label, status.st_size});
    return {};
  }

  Result<void> enter(const std::string& folder, Id id, int64_t label) {
    if (std::ranges::find(open_, id) != open_.end()) return left_out();
    const Result<std::vector<std::string>> names = names_in(below_root(folder));
    if (!names) return bad_.add(folder, names.error());
    open_.push_back(id);
    for (const std::string& name : *names)
      STOKER_TRY(is_hidden(name) ? left_out() : visit((fs::path(folder) / name).string(), label));
    open_.pop_back();
    return {};
  }

  Result<void> left_out() {
    ++found_.left_out;
    return {};
  }

  const std::string& root_;
  BadFiles& bad_;
  Listing found_;
  std::vector<Id> open_;  // from the root to where it stands
};

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

Result<Array> record_of(const Picture& picture, const Array& image) {
  STOKER_TRY(check_picture(image.bytes()));
  return Array::of_bytes(cli::record_of(image.bytes(), picture.label, picture.path));
}

std::vector<Picture> shuffled(std::vector<Picture> pictures, int64_t seed) {
  const Permutation order(static_cast<uint64_t>(seed), static_cast<int64_t>(pictures.size()));
  std::vector<Picture> result;
  for (int64_t i = 0; i < order.size(); ++i) result.push_back(std::move(pictures[static_cast<size_t>(order(i))]));
  return result;
}

// Files are read ahead by the engine's waiting threads, the rest is done by its workers.
Split split_of(const std::string& folder, std::string name, std::vector<Picture> list) {
  const auto pictures = std::make_shared<const std::vector<Picture>>(std::move(list));
  const auto count = static_cast<int64_t>(pictures->size());
  int64_t bytes = 0;
  for (const Picture& picture : *pictures) bytes += picture.bytes;
  const auto path_of = [pictures](int64_t i) { return (*pictures)[static_cast<size_t>(i)].path; };
  Dataset records =
      Dataset::range({.stop = count})
          .map({.map_func = [folder, path_of](int64_t i) { return std::tuple(i, folder + "/" + path_of(i)); }})
          .map({.map_func = [](Value i, Value file) { return tuple(i, io::read_file(file)); }})
          .map({.map_func = [pictures](int64_t i, const Array& image) {
            return record_of((*pictures)[static_cast<size_t>(i)], image);
          }});
  return {std::move(name), count, bytes, std::move(records), path_of};
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
  return FolderWalk(options.source, bad).listing();
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
  input.splits.push_back(split_of(options.source, options.name, shuffled(std::move(pictures), options.seed)));
  return input;
}

}  // namespace stoker::cli
