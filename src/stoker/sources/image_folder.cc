#include "stoker/sources/image_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>

#include "stoker/codecs/image.h"
#include "stoker/core/hash.h"
#include "stoker/core/interrupt.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOtherKinds = {".txt", ".csv",  ".tsv",  ".json", ".jsonl", ".xml", ".yaml", ".yml", ".md",
                                    ".rst", ".html", ".htm",  ".pdf",  ".doc",   ".py",  ".sh",   ".log", ".ini",
                                    ".cfg", ".db",   ".lmdb", ".npy",  ".npz",   ".mat", ".pkl",  ".pt",  ".h5",
                                    ".zip", ".tar",  ".gz",   ".tgz",  ".xz",    ".bz2", ".7z",   ".rar", ".tfrecord",
                                    ".mp4", ".avi",  ".mov",  ".wav",  ".mp3",   ".lst", ".idx",  ".rec", ".parquet"};

// Names that start with a dot, such as .DS_Store, ._x.jpg and .ipynb_checkpoints.
bool is_hidden(const std::string& name) { return name.starts_with('.') || name == "__MACOSX"; }

bool is_other_kind(const std::string& path) {
  std::string kind = fs::path(path).extension().string();
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kOtherKinds, kind) != kOtherKinds.end();
}

// Returns the names in byte order.
Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator(); at.increment(failed)) {
    stop_if_interrupted();
    names.push_back(at->path().filename().string());
  }
  if (failed) return Error::from_errno(failed.value(), "cannot list the folder " + folder).set_path(folder);
  std::ranges::sort(names);
  return names;
}

class FolderWalk {
 public:
  FolderWalk(const std::string& root, const OnUnreadable& on_unreadable, const std::function<bool()>& stopped)
      : root_(root), on_unreadable_(on_unreadable), stopped_(stopped) {}

  Result<ImageListing> listing() {
    STOKER_TRY(find_classes());
    for (size_t label = 0; label < found_.classes.size(); ++label)
      STOKER_TRY(visit(found_.classes[label], static_cast<int64_t>(label)));
    if (found_.images.empty()) return Error::corrupt("the folders of ", root_, " contain no images", expected());
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
      else if (known && S_ISREG(status.st_mode) && is_loose_image(name))
        return Error::corrupt(below_root(name), " is not in a class folder", expected());
      else
        ++found_.left_out;
    }
    if (found_.classes.empty()) return Error::corrupt(root_, " contains no folders", expected());
    return {};
  }

  std::string expected() const { return "; expected a folder for each class, such as " + below_root("cat/1.jpg"); }
  std::string below_root(const std::string& path) const { return root_ + "/" + path; }

  bool is_loose_image(const std::string& name) const {
    if (is_other_kind(name)) return false;
    Result<File> file = File::open_regular(below_root(name));
    char front[16];
    const Result<size_t> count = file ? file->read(front) : Result<size_t>(0);
    return count && format_of({front, *count}) != ImageFormat::kUnknown;
  }

  Result<void> visit(const std::string& path, int64_t label) {
    if (stopped_()) return Error::cancelled();
    stop_if_interrupted();
    struct stat status{};
    if (stat(below_root(path).c_str(), &status) != 0) {
      const Error why = Error::io("cannot access ", below_root(path));
      if (is_other_kind(path)) return left_out();
      STOKER_TRY(const bool listed, on_unreadable_(path, why));
      if (listed) found_.images.push_back({path, label, 0});
      return {};
    }
    if (S_ISDIR(status.st_mode)) return enter(path, {status.st_dev, status.st_ino}, label);
    if (!S_ISREG(status.st_mode) || is_other_kind(path)) return left_out();
    found_.images.push_back({path, label, status.st_size});
    return {};
  }

  Result<void> enter(const std::string& folder, Id id, int64_t label) {
    if (std::ranges::find(open_, id) != open_.end()) return left_out();
    const Result<std::vector<std::string>> names = names_in(below_root(folder));
    if (!names) {
      STOKER_TRY(const bool listed, on_unreadable_(folder, names.error()));
      return listed ? Result<void>(names.error()) : left_out();
    }
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
  const OnUnreadable& on_unreadable_;
  const std::function<bool()>& stopped_;
  ImageListing found_;
  std::vector<Id> open_;  // the folders from the root to the current one
};

}  // namespace

Result<ImageListing> list_image_folder(const std::string& directory, const OnUnreadable& on_unreadable,
                                       const std::function<bool()>& stopped) {
  return FolderWalk(directory, on_unreadable, stopped).listing();
}

struct ImageFolder::Listing {
  std::once_flag once;
  Result<ImageListing> found = Error::internal("the folder was not listed");

  const Result<ImageListing>& of(const std::string& directory) {
    const auto list = [](const std::string&, const Error&) -> Result<bool> { return true; };
    std::call_once(once, [&] { found = list_image_folder(directory, list, [] { return false; }); });
    return found;
  }
};

std::shared_ptr<ImageFolder::Listing> ImageFolder::new_listing() { return std::make_shared<Listing>(); }

Result<void> ImageFolder::check() const {
  if (directory.empty()) return Error::invalid("directory is empty, expected the path of a folder");
  const auto& found = listing->of(directory);
  if (!found) return found.error();
  return {};
}

Result<Spec> ImageFolder::spec(std::span<const Spec>) const {
  const std::vector<int64_t> scalar;
  return Spec{Nest::tuple_of_leaves(2), {{DType::kBytes, scalar}, {DType::kInt64, scalar}}};
}

Result<int64_t> ImageFolder::length(Context&) const {
  const auto& found = listing->of(directory);
  if (!found) return found.error();
  return static_cast<int64_t>(found->images.size());
}

Result<Element> ImageFolder::at(int64_t i, Context&) const {
  static const Nest* const pair = Nest::tuple_of_leaves(2);
  const auto& found = listing->of(directory);
  if (!found) return found.error();
  const ImageFile& image = found->images[static_cast<size_t>(i)];
  InlineVector<Array, 2> leaves;
  leaves.emplace_back(Array::of_bytes(directory + "/" + image.path));
  leaves.emplace_back(Array::of(image.label));
  return Element(pair, std::move(leaves));
}

Result<std::string> ImageFolder::fingerprint() const {
  const auto& found = listing->of(directory);
  if (!found) return found.error();
  uint64_t hash = 0;
  for (const ImageFile& image : found->images) hash = hash_of(image.path, hash + static_cast<uint64_t>(image.bytes));
  return std::to_string(found->images.size()) + " images, names and sizes " + hex_of(hash);
}

}  // namespace stoker
