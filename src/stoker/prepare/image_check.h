#pragma once

#include <string>
#include <vector>

#include "stoker/codecs/example.h"
#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

// Checks images, in files or in the features of records.
namespace stoker::prepare {

// The warning of a decoder about an image that it could decode; usually empty.
using ImageNote = std::string;

// Decodes all pixels and all frames.
Result<ImageNote> decode_to_the_end(Bytes image);

// The names of features that contain images, learned from the first records of a
// file of tf.train.Examples.
class ImageFeatures {
 public:
  // Records that are not examples, or have no images, add no names.
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

// The only value of an int64 feature of a tf.train.Example. Returns DataLoss if
// the feature is missing, has another type, or has another number of values.
Result<int64_t> label_in(Bytes record, const std::string& name);

// Recognizes images by their first bytes. For BMP, whose signature is only two
// letters, it also checks the reserved bytes.
bool looks_like_image(Bytes bytes);

}  // namespace stoker::prepare
