#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/api/loader.h"
#include "stoker/core/result.h"
#include "stoker/prepare/option_names.h"
#include "stoker/prepare/progress.h"

namespace stoker::prepare {

constexpr int kPackQuality = 95;

struct PackOptions {
  std::string source;                  // folder of images or idx files, idx file, tar or TFRecord files, or a pattern
  std::string destination;             // folder for the shards; created if it does not exist
  std::string labels;                  // CSV file of lines path,label, or the idx file of the labels; empty: none
  std::string name;                    // prefix of the shards' names; empty: the name of the source
  std::optional<int64_t> shards;       // 1 to 99999; nullopt: about 128 MB per shard
  int64_t seed = 0;                    // determines the order of the records
  std::string split;                   // "train=0.9,validation=0.1"; empty: no split
  std::optional<int64_t> resize;       // maximum length of the short side, in pixels, 1 to 65500
  std::optional<int> quality;          // JPEG quality of resized images, 1 to 100; nullopt: kPackQuality
  std::string image_feature;           // of TFRecord sources; empty: detected
  std::string label_feature;           // of TFRecord sources; empty: detected
  bool keep_bytes = false;             // do not add restart markers to JPEG images
  OnError on_error = OnError::kRaise;  // what happens if a file cannot be packed
  bool overwrite = false;              // replace existing shards of that name, and labels.txt
  OptionNames option_names = OptionNames::kFields;
};

struct SkippedFile {
  std::string path;  // relative to the source if that is a folder of images
  std::string error;
};

struct PackResult {
  int64_t records = 0;
  int64_t bytes = 0;
  std::vector<std::string> shards;   // paths
  std::vector<std::string> classes;  // by label; empty: labels are numbers without names
  std::vector<SkippedFile> skipped;  // files that could not be packed, with OnError::kSkip
  int64_t left_out = 0;              // files that were ignored: hidden, or with other extensions than images
  int64_t resized = 0;               // images
  int64_t turned = 0;                // images whose EXIF orientation was applied and removed
  int64_t continued = 0;             // shards that an earlier call wrote
};

// What a call that failed or was cancelled keeps for a later one.
struct UnfinishedPack {
  std::string folder;
  int64_t shards = 0;  // complete ones
};

// Writes images and labels to TFRecord shards in the destination. The guide, docs/guide/command.md, describes the
// sources, the records and their order. The same source, seed and options produce the same bytes with any number of
// workers.
//
// Files in the destination change only when all shards are complete. A call that fails or is cancelled keeps complete
// shards in a hidden folder there, and reports them in `unfinished` if that is not null. The same call continues from
// there; a call with another source or other options starts again.
//
// Returns NotFound if the source does not exist. Returns FailedPrecondition if the options contradict each other or the
// source, if the destination already has shards of that name, or if another thread or process is packing into it.
// Returns DataLoss if a file cannot be packed, or if all of them were skipped. Returns Cancelled if the InterruptScope
// of the calling thread (core/interrupt.h) interrupts it. Other codes report errors of the file system.
//
// Any thread may call it. It works on the threads of the process's engine, and blocks until it is done.
Result<PackResult> pack(const PackOptions& options, const OnProgress& on_progress = {},
                        UnfinishedPack* unfinished = nullptr);

}  // namespace stoker::prepare
