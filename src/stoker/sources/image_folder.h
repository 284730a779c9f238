#pragma once

#include <functional>
#include <memory>

#include "stoker/graph/stage.h"

namespace stoker {

// Yields the images below a folder of classes with the number of their class: a list of (path, label). Classes are the
// subfolders in byte order, including empty ones. Images may be at any depth below them.
struct ImageFolder {
  static constexpr std::string_view kName = "image_folder";
  static constexpr std::string_view kDoc = "Yield the path and the int64 label of each image in a folder of classes.";

  std::string directory;

  void describe(Fields& f) {
    f.required_data("directory", directory, "path of a folder that contains one folder for each class");
  }

  // Lists the folder, once, when the dataset is built.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const;

  struct Listing;
  std::shared_ptr<Listing> listing = new_listing();  // shared by copies; not a parameter

 private:
  static std::shared_ptr<Listing> new_listing();
};

struct ImageFile {
  std::string path;  // relative to the folder
  int64_t label = 0;
  int64_t bytes = 0;
};

struct ImageListing {
  std::vector<ImageFile> images;     // class by class, in byte order
  std::vector<std::string> classes;  // by label
  int64_t left_out = 0;  // number of skipped files: hidden ones, and ones whose names are not those of images
};

// Decides what happens to a file or folder that cannot be accessed. An error ends the listing. True lists the file
// anyway, so that the code that reads it reports the problem; a folder cannot be listed, and its error ends the
// listing. False skips it.
using OnUnreadable = std::function<Result<bool>(const std::string& path, const Error& why)>;

// Lists a folder of classes. Skips hidden files, files that operating systems create (Thumbs.db, __MACOSX) and files of
// other kinds. Follows links, except to a folder that is being listed. Returns DataLoss if there are no classes or no
// images, or if an image is not in a class. Calls `stopped` regularly, and returns Cancelled when it returns true.
Result<ImageListing> list_image_folder(const std::string& directory, const OnUnreadable& on_unreadable,
                                       const std::function<bool()>& stopped);

}  // namespace stoker
