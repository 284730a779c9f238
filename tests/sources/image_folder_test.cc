#include "stoker/sources/image_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/support.h"
#include "support/temp_dir.h"

namespace stoker {
namespace {

using Texts = std::vector<std::string>;

void fill(const TempDir& dir) {
  for (const char* name : {"cat/2.jpg", "cat/1.jpg", "cat/more/3.PNG", "dog/a.jpeg"}) dir.write(name, name);
  std::filesystem::create_directories(dir.at("bird"));
  for (const char* name : {"cat/.DS_Store", "cat/Thumbs.db", "dog/._a.jpeg", "__MACOSX/x.jpg", ".git/x.jpg",
                           "dog/.ipynb_checkpoints/a.jpeg", "README.md", "dog/__MACOSX/b.jpg"})
    dir.write(name, "\xff\xd8\xff");
}

// Written once: the laws build the example again while other loaders read the files.
const TempDir& example_folder() {
  static const TempDir dir;
  [[maybe_unused]] static const bool filled = (fill(dir), true);
  return dir;
}

DATASET_EXAMPLE(Dataset::image_folder({.directory = example_folder().path()}));

TEST(ImageFolder, YieldsPathsAndLabelsByClassAndSkipsFilesOfOperatingSystems) {
  const std::string root = example_folder().path();
  Texts found;
  const Dataset ds = Dataset::image_folder({.directory = root});
  for (const Element& e : elements(ds))
    found.push_back(std::string(e[0].bytes()).substr(root.size()) + " " + std::to_string(e[1].scalar<int64_t>()));
  EXPECT_EQ(found, (Texts{"/cat/1.jpg 1", "/cat/2.jpg 1", "/cat/more/3.PNG 1", "/dog/a.jpeg 2"}));
  EXPECT_EQ(ds.element_spec().describe(), "(0: string[], 1: int64[])");
  EXPECT_EQ(*ds.cardinality(), 4);
}

TEST(ImageFolder, RejectsAFolderWithoutClassesOrImages) {
  const TempDir dir;
  const std::string root = dir.path(), hint = "; expected a folder for each class, such as " + root + "/cat/1.jpg";
  const auto wrong = [&] { return error_of(Dataset::image_folder({.directory = root})); };
  EXPECT_EQ(wrong(), "image_folder: " + root + " contains no folders" + hint);
  std::filesystem::create_directories(dir.at("cat"));
  EXPECT_EQ(wrong(), "image_folder: the folders of " + root + " contain no images" + hint);
  dir.write("loose.jpg", "\xff\xd8\xff\xe0");
  EXPECT_EQ(wrong(), "image_folder: " + dir.at("loose.jpg") + " is not in a class folder" + hint);
  EXPECT_EQ(error_of(Dataset::image_folder({})), "image_folder: directory is empty, expected the path of a folder");
  EXPECT_TRUE(error_of(Dataset::image_folder({.directory = dir.at("gone")})).starts_with("image_folder: cannot list"));
}

// The error then belongs to the element that reads the link, and can be skipped.
TEST(ImageFolder, ListsABrokenLink) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path() / "cat");
  std::filesystem::create_symlink("nowhere", dir.path() / "cat" / "1.jpg");
  EXPECT_EQ(*Dataset::image_folder({.directory = dir.path().string()}).cardinality(), 1);
}

TEST(ImageFolder, FollowsLinksButNotCycles) {
  const TempDir dir;
  dir.write("cat/1.jpg", "x");
  std::filesystem::create_directory_symlink(dir.at("cat"), dir.path() / "cat" / "again");
  std::filesystem::create_directory_symlink(dir.path(), dir.path() / "cat" / "root");
  EXPECT_EQ(*Dataset::image_folder({.directory = dir.path()}).cardinality(), 1);
}

}  // namespace
}  // namespace stoker
