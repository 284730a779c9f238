#pragma once

#include <limits>
#include <map>
#include <string>

#include "stoker/codecs/example.h"

// The statistics that inspect() collects. Workers collect them for parts
// of the data; add() merges two parts.
namespace stoker::prepare {

// The count, sum, minimum and maximum of some numbers. Without numbers, `least` is greater than `most`.
struct Spread {
  int64_t count = 0;
  double sum = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = std::numeric_limits<int64_t>::min();

  void add(int64_t value);
  void add(const Spread& more);
  double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

// Statistics of images, from their headers.
struct ImageFacts {
  std::map<std::string, int64_t> formats;
  Spread heights;
  Spread widths;
  std::map<int64_t, int64_t> channels;
  int64_t unreadable = 0;  // images whose header could not be read

  void add(Bytes image);
  void add(const ImageFacts& more);
};

// Statistics of one feature, over the records that have it.
struct FeatureFacts {
  std::map<std::string, int64_t> kinds;  // "bytes", "float32", "int64"
  Spread values;                         // number of values per record
  Spread sizes;                          // bytes of a byte string
  Spread numbers;                        // int64 values
  std::map<int64_t, int64_t> counts;     // occurrences of each int64, if a record has exactly one
  bool many_numbers = false;             // more than kFewNumbers distinct values: counts is empty
  ImageFacts images;

  void add(const Feature& feature);
  void add(const FeatureFacts& more);

 private:
  static constexpr size_t kFewNumbers = 100'000;
  void add_numbers(const Feature& feature, int64_t count);
  void check_few();
};

// Statistics of TFRecord files.
struct DataFacts {
  Spread records;        // bytes of a record
  int64_t examples = 0;  // records that are tf.train.Example
  int64_t damaged = 0;   // damaged places
  std::map<std::string, FeatureFacts> features;

  void add(Bytes record);
  void add(const DataFacts& more);
};

}  // namespace stoker::prepare
