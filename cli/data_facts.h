#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>

#include "cli/stretches.h"
#include "stoker/codecs/example.h"

// What `stoker inspect` gathers, part by part.
namespace stoker::cli {

struct Spread {
  int64_t count = 0;
  double sum = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();

  void add(int64_t value);
  void add(const Spread& more);
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

struct PictureFacts {
  std::map<std::string, int64_t> formats;
  Spread heights;
  Spread widths;
  std::map<int64_t, int64_t> channels;
  int64_t unreadable = 0;  // headers

  void add(Bytes picture);
  void add(const PictureFacts& more);
};

// Of one feature, over the records that have it.
struct FeatureFacts {
  std::map<std::string, int64_t> kinds;  // "bytes", "float32", "int64"
  Spread values;                         // how many in a record
  Spread sizes;                          // of byte strings
  Spread numbers;                        // of int64
  std::map<int64_t, int64_t> counts;     // of int64 where a record has one, while they are few
  bool many_numbers = false;             // they are not
  PictureFacts pictures;

  void add(const Feature& feature);
  void add(const FeatureFacts& more);

 private:
  static constexpr size_t kFewNumbers = 100'000;
  void add_numbers(const Feature& feature, int64_t count);
  void check_few();
};

struct Damage {
  int64_t file = 0;
  RecordPlace place;
  std::string what;
};

struct DataFacts {
  Spread records;        // their sizes
  int64_t examples = 0;  // records that are tf.train.Example
  int64_t damaged = 0;
  std::optional<Damage> first_damage;
  std::map<std::string, FeatureFacts> features;

  void add(Bytes record);
  void add(DataFacts more);
};

DataFacts facts_of(RecordFiles& files, const Stretch& stretch);

}  // namespace stoker::cli
