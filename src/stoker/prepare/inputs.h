#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/image.h"
#include "stoker/core/result.h"
#include "stoker/io/stream.h"

// Finds the data files that index(), verify() and inspect() read, and recognizes TFRecord files and images.
namespace stoker::prepare {

struct InputFile {
  enum class Kind : uint8_t { kRecords, kImage };
  std::string path;
  int64_t bytes = 0;
  Kind kind = Kind::kRecords;
  Compression compression = Compression::kNone;  // of records
  bool framed = false;                           // the (decompressed) content starts with a record header
  std::optional<Error> unreadable = {};          // why the file could not be read
};

struct Inputs {
  std::vector<InputFile> files;  // the files of a folder are in byte order of their names
  int64_t left_out = 0;          // files of a folder that were skipped: hidden, or neither records nor images
};

// Finds the files that the paths name. A path is a file, a pattern such as
// `train-*`, or a folder, which is searched recursively. The first bytes of a
// file determine its kind; a file named directly whose first bytes are unknown
// counts as records. In folders, hidden files and files that are neither records
// nor images are skipped. Links are followed, except into a folder that is being
// searched. Does not count labels.txt next to records, which pack() wrote. Returns
// NotFound if a path does not exist, FailedPrecondition if there is no path or
// nothing was found, and Cancelled if the caller interrupts it.
Result<Inputs> find_inputs(const std::vector<std::string>& paths);

// True for .jpg, .PNG and so on.
bool named_as_image(const std::string& path);
// True if the first record's header or the file's name identifies records. False
// for a file that only counts as records because its first bytes are unknown.
bool looks_like_records(const InputFile& file);

// The lines of labels.txt in the folder of a file: the classes, by label. Empty if there is no such file.
std::vector<std::string> classes_next_to(const std::string& file);

}  // namespace stoker::prepare
