#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "stoker/core/mutex.h"
#include "stoker/graph/stage.h"
#include "stoker/io/file.h"
#include "stoker/prepare/inputs.h"
#include "stoker/prepare/record_place.h"

// Divides TFRecord files into parts (stretches) that workers check in parallel.
namespace stoker::prepare {

// A part of a plain file that starts and ends at record boundaries, or a complete
// compressed file.
struct Stretch {
  int64_t file = 0;    // index in the inputs
  int64_t begin = 0;   // in bytes
  int64_t end = 0;     // in bytes; negative: a complete compressed file
  int64_t record = 0;  // the position of the first record in its file
};

// The files. A file stays mapped while a caller holds the result of open(). Safe
// from several threads.
class RecordFiles {
 public:
  explicit RecordFiles(std::vector<InputFile> files) : files_(std::move(files)), open_(files_.size()) {}

  const std::vector<InputFile>& all() const { return files_; }
  const InputFile& at(int64_t file) const { return files_[static_cast<size_t>(file)]; }
  Result<std::shared_ptr<const MappedFile>> open(int64_t file) STOKER_EXCLUDES(mutex_);

 private:
  const std::vector<InputFile> files_;
  Mutex mutex_;
  std::vector<std::weak_ptr<const MappedFile>> open_ STOKER_GUARDED_BY(mutex_);
};

// A source whose elements are stretches. It reads only the headers of records;
// the workers read the payloads. A file that cannot be opened is one stretch, for
// which visit() reports the error.
struct RecordStretches {
  static constexpr std::string_view kName = "record_stretches";
  static constexpr std::string_view kDoc = "Parts of TFRecord files.";

  std::shared_ptr<RecordFiles> files;

  struct State {
    int64_t file = 0;
    int64_t offset = 0;
    int64_t record = 0;
    std::shared_ptr<const MappedFile> mapped;
    void describe(Fields& f) {
      f("file", file);
      f("offset", offset);
      f("record", record);
    }
  };

  void describe(Fields&) {}
  Result<Spec> spec(std::span<const Spec>) const;
  Result<std::optional<Element>> next(State& state, Context&) const;

 private:
  static constexpr int64_t kBytes = int64_t{8} << 20;
};

struct RecordVisitor {
  std::function<void(const RecordPlace&, Bytes payload)> record;
  std::function<void(const RecordPlace&, const Error&)> damage;
};
// Calls the visitor for each record of a stretch, and for each damaged place. Both
// checksums of every record are checked. Stops early if the thread is interrupted.
void visit(RecordFiles& files, const Stretch& stretch, const RecordVisitor& visitor);

}  // namespace stoker::prepare
