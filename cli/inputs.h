#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stoker/codecs/picture.h"
#include "stoker/core/result.h"
#include "stoker/graph/json.h"
#include "stoker/io/stream.h"

// The data files that `index`, `verify` and `inspect` are given.
namespace stoker::cli {

struct InputFile {
  enum class Kind : uint8_t { kRecords, kPicture };
  std::string path;
  int64_t bytes = 0;
  Kind kind = Kind::kRecords;
  Compression compression = Compression::kNone;  // of records
  bool framed = false;                           // what is in it begins with a record's header
  std::optional<Error> unreadable = {};          // why nothing is known of it
};

struct Inputs {
  std::vector<InputFile> files;  // those of a folder in byte order
  int64_t left_out = 0;          // files of a folder that are neither records nor pictures, and hidden ones
};

// Files are taken for what their first bytes say, and for records where these
// say nothing; patterns as `train-*` give the files they match; of a folder, at
// any depth, what is hidden or is neither records nor a picture is left out, and
// links are followed, but not round in a loop. What does not exist, or holds
// neither, is FailedPrecondition.
Result<Inputs> find_inputs(const std::vector<std::string>& paths);

// .jpg, .PNG and so on.
bool named_as_picture(const std::string& path);
// By its first record's header, or by its name: not only because nothing speaks against it.
bool looks_like_records(const InputFile& file);

// A text for JSON; {"base64": …} where it is not UTF-8.
Json json_text(const std::string& text);

// Tells the error and gives the exit code that it means.
int refuse(const Error& error);

}  // namespace stoker::cli
