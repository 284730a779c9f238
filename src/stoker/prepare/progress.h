#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

// How pack(), index(), verify() and inspect() report their progress.
namespace stoker::prepare {

enum class Phase : uint8_t {
  kFind,        // finds the input files; `total` is unknown
  kDecompress,  // decompresses input files into the destination
  kRead,        // reads the data
  kWrite,       // writes files
};
enum class Unit : uint8_t { kFiles, kImages, kRecords, kBytes };

// Return "find", "decompress", …, and "files", "images", ….
std::string_view name_of(Phase phase);
std::string_view name_of(Unit unit);

struct Progress {
  Phase phase = Phase::kFind;
  Unit unit = Unit::kFiles;  // of `done` and `total`
  int64_t done = 0;
  int64_t total = 0;              // 0: unknown
  Unit item_unit = Unit::kFiles;  // of `items`; never kBytes
  int64_t items = 0;              // done in this phase, for a rate in items per second
  int64_t bytes = 0;              // done in this phase, for a rate in bytes per second
};

// Receives progress on the thread that called the function: at the start and at the end of each phase, and about 20
// times per second in between. An exception that it throws ends the call and reaches the caller.
using OnProgress = std::function<void(const Progress&)>;

// Counts the work of one phase and sends the updates. Not thread-safe. `on_progress` may be empty, and must outlive
// the object.
class Reporter {
 public:
  // Sends the first update.
  Reporter(const OnProgress& on_progress, const Progress& start);

  // Sends an update if the last one is old enough.
  void advance(int64_t items, int64_t bytes);
  // Sends the last update.
  void finish() const;

 private:
  void send() const;

  const OnProgress& on_progress_;
  Progress now_;
  int64_t next_ns_ = 0;
};

}  // namespace stoker::prepare
