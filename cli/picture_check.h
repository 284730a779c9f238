#pragma once

#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

// Pictures, loose or in the features of records.
namespace stoker::cli {

// What a decoder remarked about a picture that it could decode; mostly nothing.
using PictureNote = std::string;

// Decodes all of it.
Result<PictureNote> decode_to_the_end(Bytes picture);

// Names of the features of tf.train.Examples that hold pictures, learned from
// the first records of a file.
class PictureFeatures {
 public:
  // Records that are no examples, or have no pictures, teach nothing.
  void learn(Bytes record);
  bool wants_more() const { return seen_ < kLearnedFrom; }

  bool empty() const { return names_.empty(); }
  bool has(Bytes name) const;

 private:
  static constexpr int kLearnedFrom = 16;
  std::vector<std::string> names_;
  int seen_ = 0;
};

// The values of a feature of bytes.
Result<std::vector<Bytes>> strings_in(const Feature& feature);

// The one value of an int64 feature of a tf.train.Example.
Result<int64_t> label_in(Bytes record, const std::string& name);

// By their first bytes; two letters, which BMP has, are no proof.
bool looks_like_picture(Bytes bytes);

}  // namespace stoker::cli
