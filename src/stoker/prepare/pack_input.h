#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "stoker/api/dataset.h"
#include "stoker/prepare/pack.h"
#include "stoker/sources/image_folder.h"

// The parts of pack(). pack_folder.cc, pack_labels.cc, pack_idx.cc and pack_samples.cc find the records,
// pack_split.cc splits and orders them, pack_image.cc resizes and rewrites images, pack_shards.cc writes the shards,
// and pack_work.cc keeps complete shards until all of them are complete.
namespace stoker::prepare {

class Unpacked;

constexpr int64_t kMostShards = 99999;  // five digits

// Files that cannot be packed. With OnError::kRaise, add() returns the first as an error; with kSkip, it collects
// them. Not thread-safe.
class BadFiles {
 public:
  explicit BadFiles(const PackOptions& options) : on_error_(options.on_error), names_(options.option_names) {}
  // Paths passed to later calls of add() are relative to this folder.
  void below(std::string folder) { folder_ = std::move(folder) + "/"; }
  Result<void> add(const std::string& path, const Error& error);
  const std::vector<SkippedFile>& all() const { return all_; }

 private:
  std::string folder_;
  const OnError on_error_;
  const OptionNames names_;
  std::vector<SkippedFile> all_;
};

// A framed record in three pieces, the second of which is the image, and flags
// for what was done to the image.
using PackedRecord = std::tuple<Array, Array, Array, int64_t>;
constexpr int64_t kResized = 1, kTurned = 2;

// The records of the shards of one name.
struct Split {
  std::string name;
  int64_t count;
  int64_t bytes;                                // estimate
  Dataset records;                              // PackedRecords in the order in which they are written
  std::function<std::string(int64_t)> path_of;  // the path of a record, by its position in that order
};

// What to pack: the records of all splits.
struct PackInput {
  std::vector<Split> splits;
  std::vector<std::string> classes;               // by label; empty: labels are numbers without names
  int64_t left_out = 0;                           // skipped files: hidden, or with other extensions than images
  uint64_t mark = 0;                              // hash that changes if the input changes
  std::shared_ptr<const Unpacked> unpacked = {};  // keeps decompressed files while they are read
};

// Finds what to pack. Returns the errors of pack().
Result<PackInput> find_pack_input(const PackOptions& options, BadFiles& bad, const OnProgress& on_progress);

// The kinds of input. sample_input() reads tar and TFRecord files.
Result<PackInput> image_input(const PackOptions& options, BadFiles& bad);

// The files of a tar or TFRecord source: one file, the matches of a pattern, or
// the files of a folder that has nothing else to pack. Empty for other sources.
enum class SampleKind : uint8_t { kTar, kRecords };
struct SampleFiles {
  std::vector<std::string> paths;
  SampleKind kind = SampleKind::kTar;
};
SampleFiles sample_files(const std::string& source);
Result<PackInput> sample_input(const PackOptions& options, const SampleFiles& files, BadFiles& bad,
                               const OnProgress& on_progress);

// The records of the shards of one name: numbers below the count, in the order in
// which they are written. The share of a record depends only on its key and the
// seed.
struct Share {
  std::string name;
  std::vector<int64_t> order;
};
Result<std::vector<Share>> shares_of(const PackOptions& options, int64_t count,
                                     const std::function<std::string(int64_t)>& key_of);

// The result of resizing and rewriting an image.
struct PackedImage {
  std::optional<std::string> bytes = {};  // nullopt: unchanged
  bool resized = false;
  bool turned = false;  // its EXIF orientation was applied and removed
};
// Returns an error if the bytes are not a complete image.
Result<PackedImage> packed_image(Bytes image, const PackOptions& options);
Result<PackedRecord> packed_record(const Array& image, int64_t label, Bytes path, const PackOptions& options);

// True for one file, and for a folder with one of MNIST's files.
bool is_idx_source(const std::string& source);
Result<PackInput> idx_input(const PackOptions& options);

using Image = ImageFile;
using Listing = ImageListing;

// Reads a CSV file of lines path,label for the images of a folder. Errors name
// the line.
Result<Listing> read_labels(const std::string& file, const std::string& folder);

// Builds a tf.train.Example with the image, framed as a TFRecord.
PackedRecord record_of(Array image, int64_t label, Bytes path, int64_t how);

}  // namespace stoker::prepare
