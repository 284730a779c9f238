#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "stoker/core/dtype.h"
#include "stoker/core/result.h"

namespace stoker {

// tf.train.Example as it is serialized: named lists of int64, float32 or byte
// strings. Reading allocates nothing; what is read are views of the bytes.

// One named list. An empty message, which some writers leave for "no value", is
// like a feature that is not there.
struct Feature {
  enum class Kind : uint8_t { kMissing, kBytes, kFloat32, kInt64 };
  Kind kind = Kind::kMissing;
  Bytes list = {};  // encoded
};

// Goes over the features in the order they are written. The bytes of features
// that are passed over are not looked into.
class FeatureWalk {
 public:
  explicit FeatureWalk(Bytes example) : begin_(example.data()), example_(example) {}

  // False at the end. An error, which names the byte, is the end, too.
  Result<bool> next();
  Bytes name() const { return name_; }
  Result<Feature> feature() const;

 private:
  Error damaged(const char* what, const char* at) const;

  const char* begin_;
  Bytes example_;   // what is left of it
  Bytes features_;  // what is left of the part of it that is open
  Bytes name_;
  Bytes feature_;
};

// The feature of that name, the last one if there are several.
Result<Feature> find_feature(Bytes example, Bytes name);

// How many values the list has.
Result<int64_t> count_values(const Feature& feature);

// The values of a list of this kind, which must be as many as `out` has room for.
Result<void> read_values(const Feature& feature, std::span<int64_t> out);
Result<void> read_values(const Feature& feature, std::span<float> out);
Result<void> read_values(const Feature& feature, std::span<Bytes> out);

// Serializes an example. The same features give the same bytes, whatever the
// order they are set in: names are written sorted.
class ExampleWriter {
 public:
  void set(std::string name, std::span<const int64_t> values);
  void set(std::string name, std::span<const float> values);
  void set(std::string name, std::span<const Bytes> values);
  void set(std::string name, Bytes value) { set(std::move(name), std::span<const Bytes>(&value, 1)); }

  std::string serialized() const;

 private:
  std::map<std::string, std::string, std::less<>> features_;  // encoded
};

}  // namespace stoker
