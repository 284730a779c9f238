#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/sources/picture_folder.h"

// The parts of `stoker pack`: pack_pictures.cc, pack_labels.cc, pack_idx.cc and
// pack_samples.cc find what is to be packed, pack_split.cc deals it out,
// pack_image.cc makes the pictures, pack.cc writes and pack_work.cc keeps what is
// written until all is.
namespace stoker::cli {

struct PackOptions;
class Unpacked;

struct BadFile {
  std::string path;  // below the source, where that is a folder of pictures
  std::string error;
};

// Files that cannot be packed: the first is an error, or all are listed.
class BadFiles {
 public:
  explicit BadFiles(bool skip) : skip_(skip) {}
  // Paths are below this folder from now on.
  void below(std::string folder) { folder_ = std::move(folder) + "/"; }
  Result<void> add(const std::string& path, const Error& error);
  const std::vector<BadFile>& all() const { return all_; }

 private:
  std::string folder_;
  const bool skip_;
  std::vector<BadFile> all_;
};

// A framed record in three pieces, the second of which is its picture, and what
// was done to that.
using PackedRecord = std::tuple<Array, Array, Array, int64_t>;
constexpr int64_t kResized = 1, kTurned = 2;

// What goes to the shards of one name.
struct Split {
  std::string name;
  int64_t count;
  int64_t bytes;                                // about
  Dataset records;                              // PackedRecords in the order they are written
  std::function<std::string(int64_t)> path_of;  // a record's, by its place in that order
};

struct PackInput {
  std::vector<Split> splits;
  std::vector<std::string> classes;               // by label; empty: labels are bare numbers
  int64_t left_out = 0;                           // files named as something else than pictures
  uint64_t mark = 0;                              // tells the input from another, or from its former self
  std::shared_ptr<const Unpacked> unpacked = {};  // keeps what is read
};

Result<PackInput> picture_input(const PackOptions& options, BadFiles& bad);

// The files of a tar or TFRecord source: one, those that a pattern matches, or
// those of a folder that has nothing else to pack. Empty: it is another kind.
enum class SampleKind : uint8_t { kTar, kRecords };
struct SampleFiles {
  std::vector<std::string> paths;
  SampleKind kind = SampleKind::kTar;
};
SampleFiles sample_files(const std::string& source);
Result<PackInput> sample_input(const PackOptions& options, const SampleFiles& files, BadFiles& bad);

// What goes to the shards of one name: numbers below the count, in the order
// they are written. Where each goes depends on its key and the seed alone.
struct Share {
  std::string name;
  std::vector<int64_t> order;
};
Result<std::vector<Share>> shares_of(const PackOptions& options, int64_t count,
                                     const std::function<std::string(int64_t)>& key_of);

// A picture as it is packed.
struct PackedPicture {
  std::optional<std::string> bytes = {};  // nothing: as it was
  bool resized = false;
  bool turned = false;  // as its EXIF notes said, which it has no more
};
Result<PackedPicture> packed_picture(Bytes image, const PackOptions& options);
Result<PackedRecord> packed_record(const Array& image, int64_t label, Bytes path, const PackOptions& options);

// Whether it is one file, or a folder with one of MNIST's.
bool is_idx_source(const std::string& source);
Result<PackInput> idx_input(const PackOptions& options);

using Picture = PictureFile;
using Listing = PictureListing;

// What a CSV file of path,label says of a folder.
Result<Listing> read_labels(const std::string& file, const std::string& folder);

// A tf.train.Example of a picture, framed as TFRecord has it.
PackedRecord record_of(Array image, int64_t label, Bytes path, int64_t how);

}  // namespace stoker::cli
