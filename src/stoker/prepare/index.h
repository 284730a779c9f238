#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/prepare/progress.h"

namespace stoker::prepare {

struct IndexOptions {
  std::vector<std::string> paths;  // TFRecord files, patterns, and folders, which are searched recursively
  std::string label;               // the int64 feature of each record to store; empty: none
};

// The result for one file.
struct IndexedFile {
  std::string path;
  int64_t bytes = 0;
  int64_t records = 0;
  std::string index;         // path of the index
  bool next_to_data = true;  // false: the index is in the cache folder, because the data folder cannot be written
  bool created = false;      // by this call; false: the index existed and matches the file
  std::optional<std::map<int64_t, int64_t>> labels = {};  // records per label, if the index stores labels
  std::optional<Error> error = {};                        // why the file could not be indexed
};

struct IndexResult {
  std::vector<IndexedFile> files;  // the files of a folder are in byte order of their names
};

// Stores where the records of TFRecord files start (docs/formats/record_index.md). With an index, a dataset of these
// files starts without reading all of them.
//
// A file that cannot be indexed, such as a compressed one, has an `error` in the result, and the other files are
// indexed. Returns NotFound if a path does not exist, and FailedPrecondition if there are neither TFRecord files nor
// images. Returns Cancelled if the InterruptScope of the calling thread (core/interrupt.h) interrupts it; indexes that
// are complete by then stay.
//
// Any thread may call it. It works on the threads of the process's engine, and blocks until it is done.
Result<IndexResult> index(const IndexOptions& options, const OnProgress& on_progress = {});

}  // namespace stoker::prepare
