#pragma once

#include <functional>
#include <memory>

#include "stoker/graph/stage.h"

namespace stoker {

// The files below a folder of classes with the number of their class: a list of
// (path, label). Classes are its folders in byte order, empty ones too; pictures
// lie in them at any depth.
struct PictureFolder {
  static constexpr std::string_view kName = "picture_folder";
  static constexpr std::string_view kDoc = "Paths and labels of the pictures in a folder of classes.";

  std::string directory;

  void describe(Fields& f) { f.required("directory", directory, "a folder with a folder for each class"); }

  // Lists the folder: once, where the data set is made.
  Result<void> check() const;
  Result<Spec> spec(std::span<const Spec>) const;
  Result<int64_t> length(Context&) const;
  Result<Element> at(int64_t i, Context&) const;
  Result<std::string> fingerprint() const;

  struct Listing;
  std::shared_ptr<Listing> listing = new_listing();  // shared by copies; no parameter

 private:
  static std::shared_ptr<Listing> new_listing();
};

struct PictureFile {
  std::string path;  // below the folder
  int64_t label = 0;
  int64_t bytes = 0;
};

struct PictureListing {
  std::vector<PictureFile> pictures;  // class by class, in byte order
  std::vector<std::string> classes;   // by label
  int64_t left_out = 0;               // files that are no pictures by their names, and hidden ones
};

// What is to be done about a file or folder that cannot be looked at: an error
// ends the listing; true lists it all the same, for whoever reads it to find
// out. A folder cannot be listed so, and ends it then.
using OnUnreadable = std::function<Result<bool>(const std::string& path, const Error& why)>;

// Goes through a folder of classes. Hidden files, what systems leave behind
// (Thumbs.db, __MACOSX) and files of other kinds are left out. Links are
// followed, but not back to a folder that is being gone through. DataLoss when
// there are no classes or no pictures, or a picture lies in no class.
// `stopped` is asked now and then; true is Cancelled.
Result<PictureListing> list_picture_folder(const std::string& directory, const OnUnreadable& on_unreadable,
                                           const std::function<bool()>& stopped);

}  // namespace stoker
