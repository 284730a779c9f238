#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "stoker/core/dtype.h"
#include "stoker/core/recycled.h"
#include "stoker/core/result.h"

namespace stoker {

// tf.train.Example as it is serialized: named lists of int64, float32 or byte
// strings. A SequenceExample has such features as its context, and besides named
// lists of features, one feature for each step. Reading allocates nothing; what
// is read are views of the bytes.

// One named list. An empty message, which some writers leave for "no value", is
// like a feature that is not there.
struct Feature {
  enum class Kind : uint8_t { kMissing, kBytes, kFloat32, kInt64 };
  Kind kind = Kind::kMissing;
  Bytes list = {};  // encoded
};

// The maps of names, by the number of their field.
enum class ExamplePart : uint8_t {
  kFeatures = 1,  // of an Example; of a SequenceExample, its context
  kLists = 2,     // of a SequenceExample: the lists of features
};

// Goes over the names in the order they are written. The bytes of what is passed
// over are not looked into.
class FeatureWalk {
 public:
  explicit FeatureWalk(Bytes example, ExamplePart part = ExamplePart::kFeatures)
      : begin_(example.data()), part_(part), example_(example) {}

  // False at the end. An error, which names the byte, is the end, too.
  Result<bool> next();
  Bytes name() const { return name_; }
  Bytes message() const { return message_; }  // the feature, or the list of features, encoded
  Result<Feature> feature() const;

 private:
  friend class FeatureNames;
  // What is wrong, or null; `found` is false at the end, `at` the byte it had come to.
  const char* advance(bool& found, const char*& at);
  Error damaged(const char* what, const char* at) const;

  const char* begin_;
  ExamplePart part_;
  Bytes example_;   // what is left of it
  Bytes features_;  // what is left of the part of it that is open
  Bytes name_;
  Bytes message_;
};

// The features of a list of them, one for each step, in order.
class StepWalk {
 public:
  explicit StepWalk(Bytes list) : list_(list) {}
  Result<bool> next();                        // false at the end
  Bytes message() const { return message_; }  // the feature, encoded

 private:
  Bytes list_;  // what is left of it
  Bytes message_;
};

// Names that are looked for in many examples: all of them in one walk.
class FeatureNames {
 public:
  // They must outlive it.
  explicit FeatureNames(std::span<const std::string> names);
  size_t size() const { return names_.size(); }

  // The encoded message of each name, the last one if there are several; of one
  // that is not there, a view of nothing, without data().
  Result<void> find(Bytes example, ExamplePart part, std::span<Bytes> messages) const;

 private:
  struct Name {
    Bytes text;
    size_t place;  // in the order given
  };
  const Name* known(Bytes name, size_t& guess) const;

  RecycledVector<Name> names_;  // sorted
};

// What an encoded feature holds.
Result<Feature> feature_in(Bytes message);
// The feature of that name, the last one if there are several.
Result<Feature> find_feature(Bytes example, Bytes name);

// How many steps a list of features has.
Result<int64_t> count_steps(Bytes list);
// How many values the list has.
Result<int64_t> count_values(const Feature& feature);

// The values of a list of this kind, which must be as many as `out` has room for.
Result<void> read_values(const Feature& feature, std::span<int64_t> out);
Result<void> read_values(const Feature& feature, std::span<float> out);
Result<void> read_values(const Feature& feature, std::span<Bytes> out);

// The same in one go for an encoded feature that is short, of this kind, and
// written as usual: in one piece. False for any other, also a wrong one; `out` may
// then hold anything.
bool read_if_plain(Bytes message, std::span<int64_t> out);
bool read_if_plain(Bytes message, std::span<float> out);
bool read_if_plain(Bytes message, Bytes& out);

// Serializes an example. The same features give the same bytes, whatever the
// order they are set in: names are written sorted.
class ExampleWriter {
 public:
  void set(std::string name, std::span<const int64_t> values);
  void set(std::string name, std::span<const float> values);
  void set(std::string name, std::span<const Bytes> values);
  void set(std::string name, Bytes value) { set(std::move(name), std::span<const Bytes>(&value, 1)); }

  std::string serialized() const;

  // The same with one more feature, a single string: what stands before and
  // behind that, which may be large and need not be copied.
  struct Around {
    std::string before, behind;
  };
  Around serialized_around(Bytes name, size_t bytes) const;

 private:
  friend class SequenceExampleWriter;
  std::map<std::string, std::string, std::less<>> features_;  // encoded
};

// Serializes a SequenceExample: its context, and lists to which steps are added.
class SequenceExampleWriter {
 public:
  ExampleWriter context;

  void add_step(const std::string& name, std::span<const int64_t> values);
  void add_step(const std::string& name, std::span<const float> values);
  void add_step(const std::string& name, std::span<const Bytes> values);
  // A list of no steps, if there is none of that name.
  void add_list(const std::string& name) { lists_[name]; }

  std::string serialized() const;

 private:
  std::map<std::string, std::string, std::less<>> lists_;  // encoded
};

}  // namespace stoker
