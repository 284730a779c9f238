#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stoker/core/result.h"
#include "stoker/prepare/data_facts.h"
#include "stoker/prepare/option_names.h"
#include "stoker/prepare/progress.h"
#include "stoker/prepare/record_place.h"

namespace stoker::prepare {

struct InspectOptions {
  std::vector<std::string> paths;  // files, patterns, and folders, which are searched recursively
  std::string sheet;               // .png or .html file for a contact sheet; empty: none
  int64_t limit = 64;              // images on the sheet, 1 to 10000
  OptionNames option_names = OptionNames::kFields;
};

struct LabelCount {
  int64_t label = 0;
  std::string class_name;  // from labels.txt, or the number as text
  int64_t records = 0;
};

// The feature with the class of a record, such as "label" or "image/class/label".
struct LabelFacts {
  std::string feature;
  bool named = false;  // labels.txt names the classes
  std::vector<LabelCount> counts;
};

// The first damaged record.
struct DamagedPlace {
  std::string path;
  RecordPlace place;
  std::string message;
};

struct InspectResult {
  int64_t bytes = 0;
  int64_t left_out = 0;  // files of a folder that were ignored: hidden, or neither records nor images
  // Of TFRecord files.
  int64_t record_files = 0;
  DataFacts data;
  std::optional<LabelFacts> labels;
  std::optional<DamagedPlace> first_damage;
  // Of image files.
  int64_t image_files = 0;
  ImageFacts images;
  std::map<std::string, int64_t> folders;  // number of image files per folder
};

// Counts and measures records, their features, and images, without decoding pixels. Writes a contact sheet if the
// options name one: thumbnails that are sampled evenly from the data.
//
// Damaged records are counted, and are no error. Returns NotFound if a path does not exist, and FailedPrecondition if
// there are neither records nor images, or if the name of the sheet ends with neither .png nor .html. Returns DataLoss
// if there are no images for the sheet, and Cancelled if the InterruptScope of the calling thread (core/interrupt.h)
// interrupts it. Other codes report that the sheet could not be written; an existing file is then unchanged.
//
// Any thread may call it. It works on the threads of the process's engine, and blocks until it is done.
Result<InspectResult> inspect(const InspectOptions& options, const OnProgress& on_progress = {});

}  // namespace stoker::prepare
