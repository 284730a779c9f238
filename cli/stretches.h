#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cli/inputs.h"
#include "stoker/graph/stage.h"
#include "stoker/io/file.h"

// TFRecord files in parts that workers go through at the same time.
namespace stoker::cli {

// A part of a file that begins and ends with a record, or a whole compressed one.
struct Stretch {
  int64_t file = 0;    // among the inputs
  int64_t begin = 0;   // in bytes
  int64_t end = 0;     // negative: the file is compressed, and all of it
  int64_t record = 0;  // the number of the first one in its file
};

// The files, mapped while somebody uses them.
class RecordFiles {
 public:
  explicit RecordFiles(std::vector<InputFile> files) : files_(std::move(files)), open_(files_.size()) {}

  const std::vector<InputFile>& all() const { return files_; }
  const InputFile& at(int64_t file) const { return files_[static_cast<size_t>(file)]; }
  Result<std::shared_ptr<const MappedFile>> open(int64_t file);

 private:
  const std::vector<InputFile> files_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::weak_ptr<const MappedFile>> open_;
};

// A source of the stretches of plain files, and of compressed files as they are.
// Hops from header to header: payloads are left to the workers. A file that
// cannot be opened is a stretch, too: visit() tells why.
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

struct RecordPlace {
  int64_t record = 0;  // its number in the file; of what is damaged and cannot be counted, that of the next
  int64_t offset = 0;  // of its frame, in what is uncompressed
};
struct RecordVisitor {
  std::function<void(const RecordPlace&, Bytes payload)> record;
  std::function<void(const RecordPlace&, const Error&)> damage;
};
// Goes through a stretch with both checksums of every record checked.
void visit(RecordFiles& files, const Stretch& stretch, const RecordVisitor& visitor);

}  // namespace stoker::cli
