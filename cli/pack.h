#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/sources/picture_folder.h"

// The parts of `stoker pack`: pack_pictures.cc, pack_labels.cc and pack_idx.cc
// find what is to be packed, pack.cc writes it.
namespace stoker::cli {

struct PackOptions;

struct BadFile {
  std::string path;  // below the source
  std::string error;
};

// Files that cannot be packed: the first is an error, or all are listed.
class BadFiles {
 public:
  BadFiles(std::string folder, bool skip) : folder_(std::move(folder)), skip_(skip) {}
  Result<void> add(const std::string& path, const Error& error);
  const std::vector<BadFile>& all() const { return all_; }

 private:
  const std::string folder_;
  const bool skip_;
  std::vector<BadFile> all_;
};

// What goes to the shards of one name.
struct Split {
  std::string name;
  int64_t count;
  int64_t bytes;                                // about
  Dataset records;                              // framed, in the order they are written
  std::function<std::string(int64_t)> path_of;  // a record's, by its place in that order
};

struct PackInput {
  std::vector<Split> splits;
  std::vector<std::string> classes;  // by label; empty: labels are bare numbers
  int64_t left_out = 0;              // files named as something else than pictures
};

Result<PackInput> picture_input(const PackOptions& options, BadFiles& bad);

// Whether it is one file, or a folder with one of MNIST's.
bool is_idx_source(const std::string& source);
Result<PackInput> idx_input(const PackOptions& options);

using Picture = PictureFile;
using Listing = PictureListing;

// What a CSV file of path,label says of a folder.
Result<Listing> read_labels(const std::string& file, const std::string& folder);

// A tf.train.Example of a picture, framed as TFRecord has it.
std::string record_of(Bytes image, int64_t label, Bytes path);

}  // namespace stoker::cli
