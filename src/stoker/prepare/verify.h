#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/prepare/progress.h"
#include "stoker/prepare/record_place.h"

namespace stoker::prepare {

struct VerifyOptions {
  std::vector<std::string> paths;  // files, patterns, and folders, which are searched recursively
  bool images = true;              // false: check only checksums
};

// A bad or damaged record or image.
struct Finding {
  std::string path;
  std::optional<RecordPlace> place;  // nullopt: the file is an image
  std::string message;
};

struct VerifyResult {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t records = 0;
  int64_t images = 0;            // image files, and images in records
  int64_t left_out = 0;          // files of a folder that were ignored: hidden, or neither records nor images
  std::vector<Finding> bad;      // in the order of the files and records
  std::vector<Finding> damaged;  // images that were decoded with a warning
};

// Computes both checksums of every record, in plain and compressed TFRecord files, and decodes every image completely:
// image files, and images in the features of tf.train.Example records. The first records of a file determine which
// features contain images.
//
// Bad data is a finding, not an error. Returns NotFound if a path does not exist, and FailedPrecondition if there are
// neither records nor images. Returns Cancelled if the InterruptScope of the calling thread (core/interrupt.h)
// interrupts it.
//
// Any thread may call it. It works on the threads of the process's engine, and blocks until it is done.
Result<VerifyResult> verify(const VerifyOptions& options, const OnProgress& on_progress = {});

}  // namespace stoker::prepare
